/** Hubs, schedules, webhooks, connections and meta. */
import * as z from "zod";
import type {
  ConnectionStatus,
  ConnectProgress,
  ConnectStarted,
  ServiceInfo,
} from "../commands/records/connection.ts";
import type {
  CommandInfo,
  Hub,
  HubIndex,
  HubItem,
  HubProvides,
  Meta,
  NewWebhook,
  ProposedSchedule,
  Schedule,
  SchedulePage,
  Webhook,
} from "../commands/records/server.ts";
import {
  digestSchema,
  jsonObjectSchema,
  jsonRecordSchema,
  slugSchema,
  tagsSchema,
  timeSchema,
  zonedTimeSchema,
} from "./common.ts";
import { flowScheduleSchema } from "./graph.ts";
import { authSchemeSchema } from "./service.ts";

/** Schema of `HubProvides`. */
export const hubProvidesSchema: z.ZodType<HubProvides> = z.enum(["templates", "nodes", "models"]);

/** Schema of `Hub`. */
export const hubSchema: z.ZodType<Hub> = z.strictObject({
  id: slugSchema,
  name: z.string(),
  kind: z.enum(["https", "dir"]),
  url: z.string(),
  provides: z.array(hubProvidesSchema),
  enabled: z.boolean(),
  publicKey: z.string().exactOptional(),
  syncedAt: timeSchema.exactOptional(),
  serial: z.int().min(0).exactOptional(),
});

/** Schema of `HubItem`. */
export const hubItemSchema: z.ZodType<HubItem> = z.strictObject({
  id: z.string(),
  kind: z.enum(["template", "nodes", "model"]),
  version: z.string(),
  digest: digestSchema,
  bytes: z.int().min(0),
  path: z.string(),
  title: z.string(),
});

const HUB_ITEMS = 10_000; // what 4 MiB of index can hold
/** Names and slashes; no name begins with a dot, so no path leads out of the hub. */
const HUB_PATH = /^[\w@+-][\w.@+-]*(?:\/[\w@+-][\w.@+-]*)*$/;

/** Schema of `HubIndex`: strict in what it knows of an item, and what else an item says is left out. */
export const hubIndexSchema: z.ZodType<HubIndex> = z.object({
  millraceHub: z.literal(1),
  name: z.string().min(1).max(200),
  serial: z.int().min(0),
  items: z
    .array(z.unknown())
    .max(HUB_ITEMS) // counted first: a million items that are none are millions of problems
    .pipe(
      z.array(
        z.object({
          id: z
            .string()
            .regex(/^[A-Za-z0-9][\w.-]{0,127}$/, "must be 1 to 128 of A-Z a-z 0-9 _ . -"),
          kind: z.enum(["template", "nodes", "model"]),
          version: z.string().min(1).max(64),
          digest: digestSchema,
          bytes: z.int().min(0),
          path: z.string().max(512).regex(HUB_PATH, "must be a path below the hub"),
          title: z.string().min(1).max(200),
        }),
      ),
    )
    .refine((items) => new Set(items.map(({ id }) => id)).size === items.length, "an id is twice"),
});

/** When a schedule fires and with what; `overlap` and `catchUp` as the server page says. */
const schedule = {
  template: slugSchema,
  name: z.string().min(1).max(200).exactOptional(),
  version: z.int().min(1).exactOptional(),
  cron: z.string().min(1).max(200).exactOptional(),
  everyMs: z.int().min(1_000).exactOptional(),
  at: zonedTimeSchema.exactOptional(),
  inputs: jsonRecordSchema.exactOptional(),
  tags: tagsSchema.exactOptional(),
  timezone: z.string().min(1).max(64),
  enabled: z.boolean(),
  overlap: z.enum(["skip", "queue", "allow"]),
  catchUp: z.enum(["skip", "one", "all"]),
};

/** Schema of `Schedule`. */
export const scheduleSchema: z.ZodType<Schedule> = z.strictObject({
  ...schedule,
  id: z.string(),
  nextAt: timeSchema.nullable(),
  lastFire: timeSchema.exactOptional(),
  lastError: z.string().exactOptional(),
});

/** Schema of `ProposedSchedule`. */
const proposedScheduleSchema: z.ZodType<ProposedSchedule> = z.strictObject({
  template: slugSchema,
  schedule: flowScheduleSchema,
});

/** Schema of `SchedulePage`. */
export const schedulePageSchema: z.ZodType<SchedulePage> = z.strictObject({
  items: z.array(scheduleSchema),
  nextCursor: z.string().nullable(),
  proposed: z.array(proposedScheduleSchema).exactOptional(),
});

const webhook = {
  id: z.string(),
  template: slugSchema,
  input: z.string(),
  secret: z.literal(true).exactOptional(),
  headers: z.array(z.string()),
  enabled: z.boolean(),
};

/** Schema of `Webhook`. */
export const webhookSchema: z.ZodType<Webhook> = z.strictObject(webhook);
/** Schema of `NewWebhook`. */
export const newWebhookSchema: z.ZodType<NewWebhook> = z.strictObject({
  ...webhook,
  token: z.string(),
});

/** Schema of `ConnectionStatus`. */
export const connectionStatusSchema: z.ZodType<ConnectionStatus> = z.strictObject({
  slug: slugSchema,
  service: z.string(),
  scheme: authSchemeSchema,
  status: z.enum(["connected", "reconnect_required", "not_connected", "unavailable"]),
  scopes: z.array(z.string()),
  expires_at: timeSchema.exactOptional(),
  refreshable: z.boolean(),
  connectedAt: timeSchema.exactOptional(),
  store: z.string().exactOptional(),
  lastError: z.strictObject({ code: z.string(), at: timeSchema }).exactOptional(),
});

/** Schema of `ServiceInfo`. */
export const serviceInfoSchema: z.ZodType<ServiceInfo> = z.strictObject({
  slug: z.string(),
  title: z.string(),
  scheme: authSchemeSchema,
  operations: z.array(z.string()),
  connections: z.array(connectionStatusSchema),
});

/** Schema of `ConnectStarted`. */
export const connectStartedSchema: z.ZodType<ConnectStarted> = z.strictObject({
  connectId: z.string(),
  authorizeUrl: z.string(),
  redirectUri: z.string(),
  expiresAt: timeSchema,
});

/** Schema of `ConnectProgress`. */
export const connectProgressSchema: z.ZodType<ConnectProgress> = z.strictObject({
  state: z.enum(["waiting", "connected", "failed", "expired", "cancelled", "superseded"]),
  error: z.strictObject({ code: z.string(), reason: z.string().exactOptional() }).exactOptional(),
});

/** Schema of `Meta`. */
export const metaSchema: z.ZodType<Meta> = z.strictObject({
  name: z.literal("millrace"),
  version: z.string(),
  apiVersion: z.literal(1),
  eventVersion: z.literal(1),
  dslVersion: z.literal(1),
  node: z.string(),
  limits: z.record(z.string(), z.number()),
  features: z.strictObject({
    webhooks: z.boolean(),
    models: z.boolean(),
    credentialStore: z.string().nullable(),
    executor: z.enum(["memory", "sqlite", "restate"]),
  }),
  commands: z.strictObject({ wired: z.array(z.string()), unwired: z.array(z.string()) }),
});

/** Schema of `CommandInfo`. */
export const commandInfoSchema: z.ZodType<CommandInfo> = z.strictObject({
  name: z.string(),
  wired: z.boolean(),
  effect: z.enum(["read", "run", "write", "admin"]),
  argsSchema: jsonObjectSchema,
  resultSchema: jsonObjectSchema,
});
