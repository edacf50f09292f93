/** Webhooks: public triggers of one template each. */
export { createHook } from "./hook.ts";
export { forgetSecret, keepSecret } from "./secret.ts";
export { hashToken, newToken, readWebhook, toBody } from "./stored-webhook.ts";
