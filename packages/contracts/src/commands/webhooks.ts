/** Commands on webhooks. The hook itself is `POST /hooks/:token`, which is no command. */
import * as z from "zod";
import { pageSchema } from "../schemas/common.ts";
import {
  newWebhookSchema,
  webhookAnswerSchema,
  webhookArgsSchema,
  webhookChangeShape,
  webhookSchema,
} from "../schemas/schedule.ts";
import { change, commandTable, get, nothing, pageArgs, post, remove } from "./table.ts";

const webhookId = z.string().min(1).max(64);

/** Commands on webhooks. */
export const webhookCommands = commandTable({
  list_webhooks: {
    summary: "List webhooks; their tokens are not shown",
    args: z.strictObject(pageArgs),
    result: pageSchema(webhookSchema),
    http: get("/api/webhooks"),
  },
  create_webhook: {
    summary: "Let an HTTP call start a template; the token is shown once",
    args: webhookArgsSchema,
    result: newWebhookSchema,
    effect: "admin",
    idempotency: "key",
    errors: ["not_found", "already_exists", "input_invalid", "credential_store_unavailable"],
    http: post("/api/webhooks", 201),
  },
  update_webhook: {
    summary: "Change the key of a webhook, its answers, or whether it is on",
    args: z.strictObject({ webhookId, ...webhookChangeShape }),
    result: webhookSchema,
    effect: "admin",
    errors: ["credential_store_unavailable"],
    http: change("PATCH", "/api/webhooks/:webhookId"),
  },
  test_webhook: {
    summary: "Call a webhook as its sender does, and show what it answers",
    args: z.strictObject({
      webhookId,
      body: z.string().max(262_144).default("{}"),
      headers: z
        .record(z.string().regex(/^[a-z0-9-]{1,128}$/), z.string().regex(/^[\x20-\x7e]{0,1024}$/))
        .describe("By name in lower case; absent `content-type`: `application/json`.")
        .default({}),
      query: z.string().max(2_048).describe("Without its question mark.").default(""),
    }),
    result: webhookAnswerSchema,
    effect: "admin",
    errors: ["credential_store_unavailable"],
    http: post("/api/webhooks/:webhookId/test", 200),
  },
  delete_webhook: {
    summary: "Delete a webhook",
    args: z.strictObject({ webhookId }),
    result: nothing,
    effect: "admin",
    http: remove("/api/webhooks/:webhookId"),
  },
});
