/** Commands on services and their connections. No answer ever holds a token. */
import * as z from "zod";
import { jsonObjectSchema, nameSchema, pageSchema, slugSchema } from "../schemas/common.ts";
import {
  connectArgsSchema,
  connectionStatusSchema,
  connectProgressSchema,
  connectStartedSchema,
  importedServiceSchema,
  serviceInfoSchema,
  serviceSecretSchema,
} from "../schemas/connection.ts";
import type { ErrorCode } from "./problem.ts";
import { change, commandTable, get, nothing, pageArgs, post, remove } from "./table.ts";

const slug = slugSchema;
const connectId = z.string().min(1).max(64);
/** `slug` is optional where `connectId` alone is enough; a route always gives it. */
const oneConnect = { slug: slug.exactOptional(), connectId };
const SECRET_ERRORS: readonly ErrorCode[] = ["not_found", "credential_store_unavailable"];

/** Commands on services and their connections; tokens never leave through them. */
export const serviceCommands = commandTable({
  list_services: {
    summary: "List services with the state of their connections",
    args: z.strictObject(pageArgs),
    result: pageSchema(serviceInfoSchema),
    http: get("/api/services"),
  },
  get_service: {
    summary: "Show a service with the state of its connections",
    args: z.strictObject({ slug: nameSchema }),
    result: serviceInfoSchema,
    http: get("/api/services/:slug"),
  },
  connect_service: {
    summary: "Begin the consent of a service",
    args: connectArgsSchema,
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
    http: remove("/api/connections/:slug/connect/:connectId"),
  },
  set_service_secret: {
    summary: "Store a credential or an OAuth client; it is never shown again",
    args: z.strictObject({
      slug,
      service: nameSchema,
      value: serviceSecretSchema,
    }),
    result: connectionStatusSchema,
    effect: "admin",
    errors: SECRET_ERRORS,
    http: change("PUT", "/api/connections/:slug/secret"),
  },
  disconnect_service: {
    summary: "Revoke and delete a connection",
    args: z.strictObject({ slug }),
    result: nothing,
    effect: "admin",
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
    result: importedServiceSchema,
    effect: "admin",
    http: post("/api/services/import", 200),
  },
});
