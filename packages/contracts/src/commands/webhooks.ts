/** Commands on webhooks. The hook itself is `POST /hooks/:token`, which is no command. */
import * as z from "zod";
import { pageSchema } from "../schemas/common.ts";
import { newWebhookSchema, webhookArgsSchema, webhookSchema } from "../schemas/schedule.ts";
import { commandTable, get, KEY_ERRORS, nothing, pageArgs, post, remove } from "./table.ts";

/** Commands on webhooks. */
export const webhookCommands = commandTable({
  list_webhooks: {
    summary: "List webhooks; their tokens are not shown",
    args: z.strictObject(pageArgs),
    result: pageSchema(webhookSchema),
    effect: "read",
    errors: ["bad_cursor"],
    http: get("/api/webhooks"),
  },
  create_webhook: {
    summary: "Let an HTTP call start a template; the token is shown once",
    args: webhookArgsSchema,
    result: newWebhookSchema,
    effect: "admin",
    idempotency: "key",
    errors: [
      ...KEY_ERRORS,
      "not_found",
      "already_exists",
      "input_invalid",
      "credential_store_unavailable",
    ],
    http: post("/api/webhooks", 201),
  },
  delete_webhook: {
    summary: "Delete a webhook",
    args: z.strictObject({ webhookId: z.string().min(1).max(64) }),
    result: nothing,
    effect: "admin",
    errors: ["not_found"],
    http: remove("/api/webhooks/:webhookId"),
  },
});
