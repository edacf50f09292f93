/** Commands of webhooks. A token is in one answer alone: that of its creation. */
import {
  type FlowGraph,
  type NewWebhook,
  type ParsedArgs,
  problemDocument,
  type Webhook,
  type WebhookAnswer,
} from "@millrace/contracts";
import type { WebhookRow } from "@millrace/store";
import { inTurn, keyed, wire } from "../dispatch/index.ts";
import { invalidArg, known, notFound, ProblemError } from "../errors.ts";
import { newId } from "../http/index.ts";
import type { CommandCall, HandlerList, ServerHost } from "../ports.ts";
import { answerCall } from "./answer-call.ts";
import { isKeyOf, SCHEMES, sentAs } from "./schemes.ts";
import {
  forgetSecret,
  hashToken,
  keepEarlierSecret,
  keepSecret,
  listWebhooks,
  newToken,
  readSecrets,
  readWebhook,
  toBody,
  verifyTokenOf,
} from "./stored-webhook.ts";

/** Handlers of the commands that keep webhooks. */
export const webhookHandlers: HandlerList = [
  wire("list_webhooks", (page, { host }) => listWebhooks(host.store, page)),
  wire("create_webhook", async (args, call) => {
    let created: NewWebhook | undefined;
    const { secret: _secret, ...shown } = args;
    const { value } = await keyed(call, "create_webhook", shown, async () => {
      created = await createWebhook(call.host, args);
      return { webhookId: created.id };
    });
    if (created !== undefined) return created;
    // Answers of keys are kept in the database, where no token may lie.
    throw new ProblemError("already_exists", {
      detail: "The webhook was created, and its token told; delete it and create another",
      members: { resource: "webhook", webhookId: value.webhookId },
    });
  }),
  wire("update_webhook", (args, { host }) => updateWebhook(host, args)),
  wire("test_webhook", testWebhook),
  wire("delete_webhook", async ({ webhookId }, { host }) => {
    const isDeleted = await host.store.webhooks.delete(webhookId);
    if (!isDeleted) throw notFound("webhook");
    await forgetSecret(host, webhookId).catch((error: unknown) => {
      // A key without its webhook opens nothing.
      host.log.warn({ webhookId, err: error }, "webhook.secret_left");
    });
    return null;
  }),
];

/** Throws `not_found` for its template, `invalid_args`, `input_invalid`, `credential_store_unavailable`. */
function createWebhook(host: ServerHost, args: ParsedArgs<"create_webhook">): Promise<NewWebhook> {
  const { templates, webhooks } = host.store;
  const { scheme, secret } = args;
  checkKey(scheme, secret);
  // A template that is found here is not deleted before the webhook names it.
  return inTurn(templates, async () => {
    checkInput(known(await templates.get(args.template), "template").graph, args.input);
    const id = newId("whk", host);
    const token = newToken((bytes) => host.random(bytes));
    const row = { id, tokenHash: hashToken(token), body: toBody(args) };
    if (secret !== undefined) await keepSecret(host, id, secret);
    await webhooks.put(row);
    return { ...withVerifyToken(readWebhook(row), secret), token };
  });
}

/** The webhook with what follows from its new key, which is shown this once. */
function withVerifyToken(webhook: Webhook, secret: string | undefined): Webhook {
  if (webhook.scheme !== "meta" || secret === undefined) return webhook;
  return { ...webhook, verifyToken: verifyTokenOf(webhook, secret) };
}

/** A sender that signs has a key, which is written as that sender does. */
function checkKey(scheme: Webhook["scheme"] = "millrace", secret: string | undefined): void {
  if (secret === undefined && scheme !== "millrace") {
    throw invalidArg("/secret", `calls of ${scheme} are checked with a key, so it must be given`);
  }
  if (secret !== undefined && !isKeyOf(SCHEMES[scheme], secret)) {
    throw invalidArg("/secret", "the key must be in base64, after whsec_");
  }
}

/** Throws `not_found`, `invalid_args`, `credential_store_unavailable`. */
function updateWebhook(
  host: ServerHost,
  { webhookId, secret, keepSecretMs, ...change }: ParsedArgs<"update_webhook">,
): Promise<Webhook> {
  const { webhooks } = host.store;
  return inTurn(webhooks, async () => {
    const row = known(await webhooks.get(webhookId), "webhook");
    const { id: _, earlierSecretUntil, ...current } = readWebhook(row);
    const next: Omit<Webhook, "id"> = { ...current, ...change };
    if (secret === undefined) {
      const body = { ...next, ...(earlierSecretUntil !== undefined && { earlierSecretUntil }) };
      return put({ ...row, body });
    }
    checkKey(current.scheme, secret);
    const keeps = current.secret === true && keepSecretMs > 0;
    const [before = null] = keeps ? await readSecrets(host, { id: webhookId }) : [];
    await keepEarlierSecret(host, webhookId, before);
    const until = keeps && {
      earlierSecretUntil: new Date(host.now() + keepSecretMs).toISOString(),
    };
    // The key comes last: whatever fails before, or is called meanwhile, that of today is valid.
    const webhook = await put({ ...row, body: { ...next, secret: true, ...until } });
    await keepSecret(host, webhookId, secret);
    return withVerifyToken(webhook, secret);
  });

  async function put(row: WebhookRow): Promise<Webhook> {
    await webhooks.put(row);
    return readWebhook(row);
  }
}

/** Headers of a call that names no others. */
const SENT: { readonly [name: string]: string } = {
  "content-type": "application/json",
  "user-agent": "millrace-webhooks-test",
};

/** Calls it as its sender does. Throws `not_found`, `credential_store_unavailable`; what the webhook refuses is an answer. */
async function testWebhook(
  { webhookId, body: text, headers, query }: ParsedArgs<"test_webhook">,
  { host, app, caller, signal }: CommandCall,
): Promise<WebhookAnswer> {
  const webhook = readWebhook(known(await host.store.webhooks.get(webhookId), "webhook"));
  const [key] = webhook.secret === true ? await readSecrets(host, webhook) : [];
  const sent = { headers: { ...SENT, ...headers }, body: Buffer.from(text) };
  const { headers: all, body: bytes } =
    key === undefined
      ? sent
      : sentAs(SCHEMES[webhook.scheme ?? "millrace"], sent, {
          key,
          id: newId("msg", host),
          time: Math.floor(host.now() / 1_000),
        });
  try {
    if (!app.webhooks || !webhook.enabled) throw notFound("webhook");
    const { status, body, runId } = await answerCall(host, webhook, {
      requestId: caller.requestId,
      method: "POST",
      query,
      header: (name) => (Object.hasOwn(all, name) ? all[name] : undefined),
      body: bytes,
      traceparent: caller.traceparent,
      signal,
    });
    return { status, body, ...(runId !== undefined && { runId }) };
  } catch (error) {
    if (!ProblemError.isInstance(error) || error.code === "credential_store_unavailable")
      throw error;
    const { code, status, options } = error;
    const { detail, errors, members = {} } = options;
    const problem = problemDocument(code, {
      ...members,
      requestId: caller.requestId,
      ...(detail !== undefined && { detail }),
      ...(errors !== undefined && { errors }),
    });
    const { runId } = members;
    return {
      status,
      body: JSON.stringify(problem),
      ...(typeof runId === "string" && { runId }),
    };
  }
}

/** The flow must have the input, and need no other. */
function checkInput({ inputs }: FlowGraph, name: string): void {
  const missing = inputs.find((input) => input.name !== name && input.default === undefined);
  if (inputs.some((input) => input.name === name) && missing === undefined) return;
  const message =
    missing === undefined
      ? "the flow has no such input"
      : `the flow needs the input ${missing.name} as well, which a webhook cannot give`;
  throw new ProblemError("input_invalid", {
    errors: [{ pointer: "/input", code: "input_invalid", message }],
  });
}
