/** Commands on services and their connections. No answer ever holds a token. */
import * as z from "zod";
import { jsonObjectSchema, nameSchema, pageSchema, slugSchema } from "../schemas/common.ts";
import { diagnosticSchema } from "../schemas/diagnostic.ts";
import {
  connectionStatusSchema,
  connectProgressSchema,
  connectStartedSchema,
  serviceInfoSchema,
} from "../schemas/server.ts";
import { serviceSpecSchema } from "../schemas/service.ts";
import type { ServiceCommands } from "./names.ts";
import type { ErrorCode } from "./problem.ts";
import { type CommandTable, commandTable, get, nothing, pageArgs, post, remove } from "./table.ts";

const slug = slugSchema;
const connectId = z.string().min(1).max(64);
const oneConnect = { slug: slug.exactOptional(), connectId };
const SECRET_ERRORS: readonly ErrorCode[] = ["not_found", "credential_store_unavailable"];

/** An OAuth client; write-only. */
const client = z.strictObject({
  client_id: z.string().min(1).max(1_024),
  client_secret: z.string().min(1).max(4_096).exactOptional(),
});

/** Commands on services and their connections; tokens never leave through them. */
export const serviceCommands: CommandTable<ServiceCommands> = commandTable<ServiceCommands>({
  list_services: {
    summary: "List services with the state of their connections",
    args: z.strictObject(pageArgs),
    result: pageSchema(serviceInfoSchema),
    effect: "read",
    idempotency: "none",
    errors: ["bad_cursor"],
    http: get("/api/services"),
  },
  get_service: {
    summary: "Show a service with the state of its connections",
    args: z.strictObject({ slug: nameSchema }),
    result: serviceInfoSchema,
    effect: "read",
    idempotency: "none",
    errors: ["not_found"],
    http: get("/api/services/:slug"),
  },
  connect_service: {
    summary: "Begin the consent of a service",
    args: z
      .strictObject({
        slug,
        service: nameSchema.exactOptional(),
        scopes: z.array(z.string().min(1).max(256)).max(100).exactOptional(),
        receiver: z.enum(["server", "caller"]).default("server"),
        redirectUri: z
          .string()
          .max(2_048)
          .regex(
            /^http:\/\/127\.0\.0\.1:[1-9]\d{0,4}\/[^\s#]*$/,
            "must be http://127.0.0.1:<port>/…",
          )
          .refine((uri) => URL.canParse(uri), "must have a port up to 65535")
          .exactOptional(),
        port: z.int().min(0).max(65_535).exactOptional(),
        client: client.exactOptional(),
      })
      .refine((args) => (args.receiver === "caller") === (args.redirectUri !== undefined), {
        path: ["redirectUri"],
        message: 'goes with receiver "caller", and always',
      }),
    result: connectStartedSchema,
    effect: "admin",
    idempotency: "none",
    errors: [...SECRET_ERRORS, "in_use", "state_conflict", "too_many_requests"],
    http: post("/api/connections/:slug/connect", 202),
  },
  get_connect_status: {
    summary: "Show how a consent stands",
    args: z.strictObject(oneConnect),
    result: connectProgressSchema,
    effect: "read",
    idempotency: "none",
    errors: ["not_found"],
    http: get("/api/connections/:slug/connect/:connectId"),
  },
  complete_connect: {
    summary: "Hand over the code that the caller received",
    args: z.strictObject({
      ...oneConnect,
      code: z.string().min(1).max(4_096),
      state: z.string().min(1).max(256),
    }),
    result: connectionStatusSchema,
    effect: "admin",
    idempotency: "none",
    errors: [
      ...SECRET_ERRORS,
      "state_conflict",
      "reconnect_service",
      "upstream_failed",
      "upstream_timeout",
    ],
    http: post("/api/connections/:slug/connect/:connectId", 200),
  },
  cancel_connect: {
    summary: "Give up a consent and free its port",
    args: z.strictObject(oneConnect),
    result: nothing,
    effect: "admin",
    idempotency: "natural",
    errors: ["not_found"],
    http: remove("/api/connections/:slug/connect/:connectId"),
  },
  set_service_secret: {
    summary: "Store a credential or an OAuth client; it is never shown again",
    args: z.strictObject({
      slug,
      service: nameSchema,
      value: z.union([z.string().min(1).max(16_384), client]),
    }),
    result: connectionStatusSchema,
    effect: "admin",
    idempotency: "natural",
    errors: SECRET_ERRORS,
    http: { method: "PUT", path: "/api/connections/:slug/secret", status: 200, body: "rest" },
  },
  disconnect_service: {
    summary: "Revoke and delete a connection",
    args: z.strictObject({ slug }),
    result: nothing,
    effect: "admin",
    idempotency: "natural",
    errors: SECRET_ERRORS,
    http: remove("/api/connections/:slug"),
  },
  import_service: {
    summary: "Turn an OpenAPI document into a service; nothing is saved or fetched",
    args: z.strictObject({
      document: jsonObjectSchema,
      baseUrl: z.string().min(1).max(2_048).exactOptional(),
      slug: nameSchema.exactOptional(),
    }),
    result: z.strictObject({
      entry: serviceSpecSchema.nullable(),
      diagnostics: z.array(diagnosticSchema),
    }),
    effect: "admin",
    idempotency: "natural",
    errors: [],
    http: post("/api/services/import", 200),
  },
});
