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
import { NODE_MACHINE, RUN_MACHINE } from "../events/machines.ts";
import { schemaOf } from "../events/part-schema.ts";
import { errorInfo, trigger, valueRef } from "../events/parts.ts";
import { summaryPart } from "../events/payload-view.ts";
import type { ErrorInfo, SummaryPayload, Trigger, ValueRef } from "../events/shapes.ts";
import type { AnyEvent, Kind } from "../events/types.ts";
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
import { flowGraphSchema } from "./graph.ts";

const count = z.int().min(0);

/** Schema of `RunState`. */
export const runStateSchema: z.ZodType<RunState> = z.enum(Object.keys(RUN_MACHINE) as RunState[]);

const nodeState: z.ZodType<NodeState> = z.enum(Object.keys(NODE_MACHINE) as NodeState[]);

/** Schema of `Trigger`. */
export const triggerSchema: z.ZodType<Trigger> = schemaOf(trigger) as z.ZodType<Trigger>;

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

/** Schema of `ErrorInfo`. */
export const errorInfoSchema: z.ZodType<ErrorInfo> = schemaOf(errorInfo) as z.ZodType<ErrorInfo>;

/** Schema of `ValueRef`. */
export const valueRefSchema: z.ZodType<ValueRef> = schemaOf(valueRef) as z.ZodType<ValueRef>;

/** What the last event of a run says. */
export const summaryPayloadSchema: z.ZodType<SummaryPayload> = schemaOf(
  summaryPart,
) as z.ZodType<SummaryPayload>;

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
