/** Commands of webhooks. A token is in one answer alone: that of its creation. */
import type { FlowGraph, NewWebhook, ParsedArgs } from "@millrace/contracts";
import { inTurn, keyed, wire } from "../dispatch/index.ts";
import { known, notFound, ProblemError } from "../errors.ts";
import { newId } from "../http/index.ts";
import type { HandlerList, ServerHost } from "../ports.ts";
import {
  forgetSecret,
  hashToken,
  keepSecret,
  listWebhooks,
  newToken,
  readWebhook,
  toBody,
} from "./stored-webhook.ts";

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

/** Throws `not_found` for its template, `input_invalid`, `credential_store_unavailable`. */
function createWebhook(host: ServerHost, args: ParsedArgs<"create_webhook">): Promise<NewWebhook> {
  const { templates, webhooks } = host.store;
  // A template that is found here is not deleted before the webhook names it.
  return inTurn(templates, async () => {
    checkInput(known(await templates.get(args.template), "template").graph, args.input);
    const id = newId("whk", host);
    const token = newToken((bytes) => host.random(bytes));
    const row = { id, tokenHash: hashToken(token), body: toBody(args) };
    if (args.secret !== undefined) await keepSecret(host, id, args.secret);
    await webhooks.put(row);
    return { ...readWebhook(row), token };
  });
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
