/** Webhooks: public triggers of one template each. */
export { createHook } from "./hook.ts";
export { forgetSecret, keepSecret, type SecretStore } from "./secret.ts";
export { hashToken, newToken, readWebhook, toBody } from "./stored-webhook.ts";
