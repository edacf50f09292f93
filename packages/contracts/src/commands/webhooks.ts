/** Commands on webhooks. The hook itself is `POST /hooks/:token`, which is no command. */
import * as z from "zod";
import { pageSchema, slugSchema } from "../schemas/common.ts";
import { newWebhookSchema, webhookSchema } from "../schemas/server.ts";
import type { WebhookCommands } from "./names.ts";
import {
  type CommandTable,
  commandTable,
  get,
  KEY_ERRORS,
  nothing,
  pageArgs,
  post,
  remove,
} from "./table.ts";

// A hook hands headers to a flow: those that carry credentials never get there.
const header = z
  .string()
  .max(128)
  .regex(/^[a-z0-9-]+$/, "must be a header name in lower case")
  .refine(
    (name) => !["authorization", "cookie", "millrace-signature"].includes(name),
    "this header is never passed on",
  );

/** Commands on webhooks. */
export const webhookCommands: CommandTable<WebhookCommands> = commandTable<WebhookCommands>({
  list_webhooks: {
    summary: "List webhooks; their tokens are not shown",
    args: z.strictObject(pageArgs),
    result: pageSchema(webhookSchema),
    effect: "read",
    idempotency: "none",
    errors: ["bad_cursor"],
    http: get("/api/webhooks"),
  },
  create_webhook: {
    summary: "Let an HTTP call start a template; the token is shown once",
    args: z.strictObject({
      template: slugSchema,
      input: z.string().min(1).max(128),
      secret: z.string().min(16).max(256).exactOptional(),
      headers: z.array(header).max(16).default([]),
      enabled: z.boolean().default(true),
    }),
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
    idempotency: "natural",
    errors: ["not_found"],
    http: remove("/api/webhooks/:webhookId"),
  },
});
