/** Schedules and webhooks: what starts runs of templates. */
import * as z from "zod";
import {
  type Infer,
  type InferArgs,
  jsonRecordSchema,
  slugSchema,
  tagsSchema,
  timeSchema,
  zonedTimeSchema,
} from "./common.ts";
import { flowScheduleSchema } from "./graph.ts";

/** Times of a schedule; exactly one of `cron`, `everyMs` and `at`. */
const times = {
  template: slugSchema,
  name: z
    .string()
    .min(1)
    .max(200)
    .describe("Name of the schedule in the flow that proposes it; absent: no flow proposes it.")
    .exactOptional(),
  version: z.int().min(1).exactOptional(),
  cron: z.string().min(1).max(200).describe("Five or six fields.").exactOptional(),
  everyMs: z.int().min(1_000).describe("Anchored at creation.").exactOptional(),
  at: zonedTimeSchema.describe("Fires once.").exactOptional(),
  inputs: jsonRecordSchema.exactOptional(),
  tags: tagsSchema.exactOptional(),
};
const timezone = z.string().min(1).max(64).describe("IANA name.");
const enabled = z.boolean();
const overlap = z.enum(["skip", "queue", "allow"]);
const catchUp = z.enum(["skip", "one", "all"]);

/** Members of what `create_schedule` and `update_schedule` take. */
export const scheduleShape = {
  template: times.template,
  name: times.name,
  version: times.version,
  cron: times.cron,
  everyMs: times.everyMs,
  at: times.at,
  timezone: timezone.default("UTC"),
  inputs: times.inputs,
  tags: times.tags,
  enabled: enabled.default(true),
  overlap: overlap.default("skip"),
  catchUp: catchUp.default("skip"),
};

/** Arguments of `create_schedule` and `update_schedule`: exactly one of `cron`, `everyMs` and `at`. */
export type ScheduleArgs = InferArgs<z.ZodObject<typeof scheduleShape>>;

/** Schema of `Schedule`. */
export const scheduleSchema = z.strictObject({
  ...times,
  timezone,
  enabled,
  overlap,
  catchUp,
  id: z.string(),
  nextAt: timeSchema.nullable(),
  lastFire: timeSchema.exactOptional(),
  lastError: z.string().exactOptional(),
});

/** A stored schedule with its next and last fire time. */
export type Schedule = Infer<typeof scheduleSchema>;

const proposedScheduleSchema = z.strictObject({
  template: slugSchema,
  schedule: flowScheduleSchema,
});

/** A schedule that the flow of a template declares and that does not fire: no stored schedule has its name and its times. */
export type ProposedSchedule = Infer<typeof proposedScheduleSchema>;

/** Schema of `SchedulePage`. */
export const schedulePageSchema = z.strictObject({
  items: z.array(scheduleSchema),
  nextCursor: z.string().nullable(),
  proposed: z
    .array(proposedScheduleSchema)
    .describe("On the first page: those that templates propose, by template.")
    .exactOptional(),
});

/** The answer of `list_schedules`. */
export type SchedulePage = Infer<typeof schedulePageSchema>;

/** Who calls a webhook, which says how its calls are signed and which challenges it answers. */
const scheme = z
  .enum(["millrace", "github", "stripe", "slack", "standard", "meta", "dropbox", "microsoft-graph"])
  .describe("Who calls: how calls are signed, and which challenges are answered.");
const respond = z
  .enum(["run", "output"])
  .describe(
    "What a call is answered: `run` (default), the id of the run at once; `output`, the outputs of the flow, when it has ended.",
  );
const respondWithinMs = z
  .int()
  .min(100)
  .max(60_000)
  .describe("How long an answer waits for the outputs; after that it has the id of the run.");

const webhook = {
  id: z.string(),
  template: slugSchema,
  input: z.string(),
  secret: z.literal(true).describe("Present when a signature is checked.").exactOptional(),
  scheme: scheme.exactOptional(),
  earlierSecretUntil: timeSchema
    .describe("Until then calls may be signed with the key before the present one, too.")
    .exactOptional(),
  headers: z.array(z.string()),
  respond: respond.exactOptional(),
  respondWithinMs: respondWithinMs.exactOptional(),
  enabled: z.boolean(),
  verifyToken: z
    .string()
    .describe("What the scheme `meta` wants to be told as its verify token; where a key was given.")
    .exactOptional(),
};

/** Schema of `Webhook`. */
export const webhookSchema = z.strictObject(webhook);

/** A public trigger of one template; its token is shown once, on creation. */
export type Webhook = Infer<typeof webhookSchema>;

/** Schema of `NewWebhook`. */
export const newWebhookSchema = z.strictObject({
  ...webhook,
  token: z.string(),
});

/** The answer of `create_webhook`, the only one that shows the token of `/hooks/<token>`. */
export type NewWebhook = Infer<typeof newWebhookSchema>;

// A hook hands headers to a flow: those that carry credentials never get there.
const header = z
  .string()
  .max(128)
  .regex(/^[a-z0-9-]+$/, "must be a header name in lower case")
  .refine(
    (name) => !["authorization", "cookie", "millrace-signature"].includes(name),
    "this header is never passed on",
  );

const secret = z
  .string()
  .min(15) // as long as the keys that Dropbox gives
  .max(256)
  .describe("Key of the signatures, as the sender shows it or takes it; write-only.");
const headers = z.array(header).max(16);

/** Schema of `WebhookArgs`. */
export const webhookArgsSchema = z.strictObject({
  template: slugSchema,
  input: z
    .string()
    .min(1)
    .max(128)
    .describe("The input of the flow that gets `{method, query, headers, body}`."),
  scheme: scheme.exactOptional(),
  secret: secret.exactOptional(),
  headers: headers.default([]).describe("Further headers to pass on."),
  respond: respond.exactOptional(),
  respondWithinMs: respondWithinMs.exactOptional(),
  enabled: z.boolean().default(true),
});

/** Members that `update_webhook` can change; absent ones stay. */
export const webhookChangeShape = {
  secret: secret.exactOptional(),
  keepSecretMs: z
    .int()
    .min(0)
    .max(30 * 86_400_000)
    .default(86_400_000)
    .describe("How long the key that `secret` replaces is still taken."),
  headers: headers.describe("Further headers to pass on.").exactOptional(),
  respond: respond.exactOptional(),
  respondWithinMs: respondWithinMs.exactOptional(),
  enabled: z.boolean().exactOptional(),
};

/** Schema of `WebhookAnswer`. */
export const webhookAnswerSchema = z.strictObject({
  status: z.int(),
  body: z.string(),
  runId: z.string().describe("The run that the call has started, or has found.").exactOptional(),
});

/** Response of a webhook to a call of `test_webhook`. */
export type WebhookAnswer = Infer<typeof webhookAnswerSchema>;

/** Who calls a webhook. */
export type WebhookScheme = Infer<typeof scheme>;

/** Arguments of `create_webhook`. */
export type WebhookArgs = InferArgs<typeof webhookArgsSchema>;
