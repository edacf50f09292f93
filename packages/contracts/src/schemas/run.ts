/** Runs, confirmations, and what of the event stream travels inside other answers. */
import * as z from "zod";
import type {
  Confirmation,
  Run,
  RunBlob,
  RunRef,
  RunRequest,
  RunSummary,
} from "../commands/records/run.ts";
import { EVENT_KINDS } from "../events/kinds.ts";
import type {
  AnyEvent,
  Counts,
  ErrorInfo,
  Kind,
  SummaryPayload,
  SummaryUsage,
  Trigger,
  ValueRef,
} from "../events/types.ts";
import type { NodeState, RunState } from "../events/view.ts";
import {
  digestSchema,
  jsonObjectSchema,
  jsonRecordSchema,
  jsonValueSchema,
  runIdSchema,
  slugSchema,
  tagsSchema,
  timeSchema,
} from "./common.ts";
import { diagnosticSchema } from "./diagnostic.ts";
import { flowGraphSchema } from "./graph.ts";

const count = z.int().min(0);

/** Schema of `RunState`. */
export const runStateSchema: z.ZodType<RunState> = z.enum([
  "pending",
  "running",
  "paused",
  "cancelling",
  "succeeded",
  "failed",
  "cancelled",
]);

const nodeState: z.ZodType<NodeState> = z.enum([
  "pending",
  "running",
  "retrying",
  "waiting",
  "succeeded",
  "failed",
  "skipped",
  "cancelled",
]);

/** Schema of `Trigger`. */
export const triggerSchema: z.ZodType<Trigger> = z.enum([
  "cli",
  "api",
  "schedule",
  "webhook",
  "desktop",
  "embed",
]);

/** A kind of this version; a filter with another one is refused. */
export const kindSchema: z.ZodType<Kind> = z.enum(EVENT_KINDS);

/** Any event, of this version or a newer one: the envelope is checked, members beyond it pass. */
export const eventSchema: z.ZodType<AnyEvent> = z.looseObject({
  v: z.literal(1),
  kind: z
    .string()
    .regex(/^[a-z]+(\.[a-z]+)?$/)
    .max(40),
  runId: z.string().min(1),
  seq: z.int().min(1),
  ts: z.int().min(0),
  node: z.string().exactOptional(),
  attempt: z.int().min(1).exactOptional(),
});

const errorInfo = {
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  status: z.int().exactOptional(),
  cause: z.string().exactOptional(),
};

/** Schema of `ErrorInfo`. */
export const errorInfoSchema: z.ZodType<ErrorInfo> = z.strictObject(errorInfo);

/** Schema of `ValueRef`. */
export const valueRefSchema: z.ZodType<ValueRef> = z.strictObject({
  ref: digestSchema,
  bytes: count,
  mediaType: z.string(),
  preview: z.string().exactOptional(),
});

const counts: z.ZodType<Counts> = z.strictObject({
  succeeded: count,
  failed: count,
  skipped: count,
  cancelled: count,
});

const usage: z.ZodType<SummaryUsage> = z.strictObject({
  calls: count,
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
});

/** What the last event of a run says. */
export const summaryPayloadSchema: z.ZodType<SummaryPayload> = z.strictObject({
  status: z.enum(["succeeded", "failed", "cancelled", "invalid"]),
  outputs: jsonRecordSchema,
  outputRefs: z.record(z.string(), valueRefSchema).exactOptional(),
  counts,
  bodyCounts: counts.exactOptional(),
  usage,
  costUsd: z.number().min(0).nullable(),
  durationMs: z.number().min(0),
  error: z.strictObject({ ...errorInfo, node: z.string().exactOptional() }).exactOptional(),
  diagnostics: z.array(diagnosticSchema).exactOptional(),
  exitCode: z.int().min(0).max(255),
});

/** Members of a run request; a command may add its own. */
export const runRequestShape: {
  graph: z.ZodExactOptional<typeof flowGraphSchema>;
  template: z.ZodExactOptional<typeof slugSchema>;
  version: z.ZodExactOptional<z.ZodInt>;
  dsl: z.ZodExactOptional<z.ZodString>;
  inputs: z.ZodExactOptional<typeof jsonRecordSchema>;
  options: z.ZodExactOptional<z.ZodType<NonNullable<RunRequest["options"]>>>;
} = {
  graph: flowGraphSchema.exactOptional(),
  template: slugSchema.exactOptional(),
  version: z.int().min(1).exactOptional(),
  dsl: z.string().exactOptional(),
  inputs: jsonRecordSchema.exactOptional(),
  options: z
    .strictObject({
      runId: runIdSchema.exactOptional(),
      timeoutMs: z.int().min(1).exactOptional(),
      onDisconnect: z.enum(["cancel", "continue"]).exactOptional(),
      confirm: z.enum(["ask", "approve", "reject"]).exactOptional(),
      events: z.array(kindSchema).exactOptional(),
      tags: tagsSchema.exactOptional(),
    })
    .exactOptional(),
};

/**
 * The body of `POST /api/run`. Exactly one of `graph`, `template` and `dsl` is present, else the issue carries
 * `params.problem` `run_input_conflict`.
 */
export const runRequestSchema: z.ZodType<RunRequest> = z
  .strictObject(runRequestShape)
  .superRefine(checkRunRequest);

/** The rules between the members of a run request. */
export function checkRunRequest(request: object, ctx: z.RefinementCtx): void {
  const present = ["graph", "template", "dsl"].filter((name) => Object.hasOwn(request, name));
  const params = { problem: "run_input_conflict" };
  if (present.length === 0) {
    const message = "one of graph, template and dsl is needed";
    ctx.addIssue({ code: "custom", path: [], message, params });
  }
  for (const name of present.slice(1)) {
    const message = `${present[0]} is also present`;
    ctx.addIssue({ code: "custom", path: [name], message, params });
  }
  if (Object.hasOwn(request, "version") && !present.includes("template")) {
    ctx.addIssue({ code: "custom", path: ["version"], message: "goes with template only" });
  }
}

/** Schema of `RunRef`. */
export const runRefSchema: z.ZodType<RunRef> = z.strictObject({
  runId: runIdSchema,
  status: runStateSchema,
});

/** Schema of `ConfirmationStatus`. */
export const confirmationStatusSchema: z.ZodType<Confirmation["status"]> = z.enum([
  "requested",
  "approved",
  "rejected",
  "expired",
  "cancelled",
]);

/** Schema of `Confirmation`. */
export const confirmationSchema: z.ZodType<Confirmation> = z.strictObject({
  id: z.string().min(1).max(64),
  runId: runIdSchema,
  node: z.string(),
  status: confirmationStatusSchema,
  prompt: z.string(),
  schema: jsonObjectSchema,
  deadline: timeSchema.nullable(),
  tool: z
    .strictObject({ call: z.string(), name: z.string(), args: jsonValueSchema.exactOptional() })
    .exactOptional(),
  by: z.string().exactOptional(),
  value: jsonValueSchema.exactOptional(),
  comment: z.string().exactOptional(),
});

const summaryShape = {
  runId: runIdSchema,
  status: runStateSchema,
  flow: z.strictObject({ id: z.string(), title: z.string().exactOptional(), hash: digestSchema }),
  template: z.strictObject({ slug: slugSchema, version: z.int().min(1) }).nullable(),
  trigger: triggerSchema,
  source: z
    .union([
      z.strictObject({ scheduleId: z.string(), fireTime: timeSchema }),
      z.strictObject({ webhookId: z.string() }),
    ])
    .exactOptional(),
  tags: tagsSchema,
  createdAt: timeSchema,
  startedAt: timeSchema.nullable(),
  endedAt: timeSchema.nullable(),
  lastSeq: count,
  retryOf: runIdSchema.nullable(),
  summary: summaryPayloadSchema.nullable(),
};

/** A run without its nodes. */
export const runSummarySchema: z.ZodType<RunSummary> = z.strictObject(summaryShape);

/** Schema of `Run`. */
export const runSchema: z.ZodType<Run> = z.strictObject({
  ...summaryShape,
  nodes: z.record(z.string(), z.strictObject({ state: nodeState, attempt: count })),
  confirmations: z.array(confirmationSchema),
});

/** Schema of `RunBlob`. */
export const runBlobSchema: z.ZodType<RunBlob> = z.strictObject({
  digest: digestSchema,
  mediaType: z.string(),
  bytes: count,
  base64: z.base64(),
});
