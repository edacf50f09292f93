/** Runs as commands show them, and confirmations. Times are ISO 8601 UTC; only events count in epoch milliseconds. */
import * as z from "zod";
import { EVENT_KINDS } from "../events/kinds.ts";
import { CONFIRMATION_MACHINE, NODE_MACHINE, RUN_MACHINE } from "../events/machines.ts";
import { errorInfo, path, trigger, valueRef } from "../events/parts.ts";
import type { AnyEvent } from "../events/types.ts";
import type { NodeState, RunState } from "../events/view-parts.ts";
import { summaryPart } from "../events/view-parts.ts";
import {
  digestSchema,
  type Infer,
  jsonObjectSchema,
  jsonRecordSchema,
  jsonValueSchema,
  runIdSchema,
  slugSchema,
  tagsSchema,
  timeSchema,
  zonedTimeSchema,
} from "./common.ts";
import { schemaOf } from "./event.ts";
import { flowGraphSchema } from "./graph.ts";

const count = z.int().min(0);

/** Schema of `RunState`. */
export const runStateSchema = z.enum(Object.keys(RUN_MACHINE) as RunState[]);

const nodeState = z.enum(Object.keys(NODE_MACHINE) as NodeState[]);

/** Schema of `Trigger`. */
export const triggerSchema = schemaOf(trigger);

/** A kind of this version; a filter with another one is refused. */
export const kindSchema = z.enum(EVENT_KINDS);

/** Path of a node, as events have it. */
export const nodePathSchema = schemaOf(path);

/** Any event, of this version or a newer one: the envelope is checked, members beyond it pass. */
export const eventSchema = z.looseObject({
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
}) as unknown as z.ZodType<AnyEvent, AnyEvent>;

/** Schema of `ErrorInfo`. */
export const errorInfoSchema = schemaOf(errorInfo);

/** Schema of `ValueRef`. */
export const valueRefSchema = schemaOf(valueRef);

/** Payload of the last event of a run. */
export const summaryPayloadSchema = schemaOf(summaryPart);

const optionsSchema = z.strictObject({
  runId: runIdSchema
    .describe("Default: a new `run_…`; a taken one is `already_exists`.")
    .exactOptional(),
  timeoutMs: z.int().min(1).describe("May only lower the server's limit.").exactOptional(),
  onDisconnect: z
    .enum(["cancel", "continue"])
    .describe("What happens when the reader of `POST /api/run` leaves; default `cancel`.")
    .exactOptional(),
  confirm: z
    .enum(["ask", "approve", "reject"])
    .describe("Answers every confirmation at once, or asks a person (default).")
    .exactOptional(),
  events: z
    .array(kindSchema)
    .describe(
      "Kinds to send; `run.started`, `run.cancelling`, `snapshot` and `summary` always pass.",
    )
    .exactOptional(),
  tags: tagsSchema.exactOptional(),
});

/** How a run is started; everything is optional. */
export type RunRequestOptions = Infer<typeof optionsSchema>;

/** Members of a run request; a command may add its own. */
export const runRequestShape = {
  graph: flowGraphSchema.exactOptional(),
  template: slugSchema.describe("Slug of a stored flow.").exactOptional(),
  version: z.int().min(1).describe("Of the template; default the newest.").exactOptional(),
  dsl: z.string().describe("A flow as text.").exactOptional(),
  inputs: jsonRecordSchema.exactOptional(),
  options: optionsSchema.exactOptional(),
};

/**
 * The body of `POST /api/run`. Exactly one of `graph`, `template` and `dsl` is present, else the issue carries
 * `params.problem` `run_input_conflict`.
 */
export const runRequestSchema = z.strictObject(runRequestShape).superRefine(checkRunRequest);

/** A run request: exactly one of `graph`, `template` (a slug) and `dsl` (text). @see specification, "Run request" */
export type RunRequest = Infer<typeof runRequestSchema>;

const RUN_INPUTS = ["graph", "template", "dsl"] as const;

/** Problems in the choice of `graph`, `template` and `dsl`: exactly one is present, and null counts as present. */
export function runInputProblems(
  request: object,
): readonly { readonly pointer: string; readonly code: string; readonly message: string }[] {
  const [first, ...others] = RUN_INPUTS.filter((name) => Object.hasOwn(request, name));
  if (first === undefined) {
    const message = `none of ${RUN_INPUTS.join(", ")} is present`;
    return [{ pointer: "", code: "missing", message }];
  }
  const message = `${first} is also present`;
  return others.map((name) => ({ pointer: `/${name}`, code: "conflict", message }));
}

/** The rules between the members of a run request. */
export function checkRunRequest(request: object, ctx: z.RefinementCtx): void {
  const params = { problem: "run_input_conflict" };
  for (const { pointer, message } of runInputProblems(request)) {
    const path = pointer.split("/").slice(1);
    ctx.addIssue({ code: "custom", path, message, params });
  }
  if (Object.hasOwn(request, "version") && !Object.hasOwn(request, "template")) {
    ctx.addIssue({ code: "custom", path: ["version"], message: "goes with template only" });
  }
}

/** Schema of `RunRef`. */
export const runRefSchema = z.strictObject({ runId: runIdSchema, status: runStateSchema });

/** A run that was accepted. */
export type RunRef = Infer<typeof runRefSchema>;

const redactedPlaces = z
  .array(z.string())
  .describe("JSON Pointers of the places in which something reads `[redacted]`.");

/** Schema of `RunInputs`. */
export const runInputsSchema = z.strictObject({
  inputs: jsonRecordSchema.describe("By name, defaults included."),
  redacted: redactedPlaces,
});

/** The inputs of a run, without what its flow calls secret. */
export type RunInputs = Infer<typeof runInputsSchema>;

/** Schema of `NodeInputs`. */
export const nodeInputsSchema = z.strictObject({
  type: z.string().describe("Type of the node."),
  attempt: z.int().min(1),
  fields: jsonRecordSchema.describe("By name, defaults included, as they were at the start."),
  redacted: redactedPlaces,
  absent: z
    .array(z.string())
    .describe("Fields whose value is no longer known, or could not be evaluated then."),
});

/** The fields that an attempt of a node was given. */
export type NodeInputs = Infer<typeof nodeInputsSchema>;

/** Schema of `ConfirmationStatus`. */
export const confirmationStatusSchema = z.enum(["requested", ...CONFIRMATION_MACHINE.requested]);

/** Schema of `Confirmation`. */
export const confirmationSchema = z.strictObject({
  id: z.string().min(1).max(64).describe("That of the event, unique in its run."),
  runId: runIdSchema,
  node: z.string().describe("Path of the node that asks."),
  status: confirmationStatusSchema,
  prompt: z.string(),
  schema: jsonObjectSchema.describe("JSON Schema of `value`; empty: any."),
  deadline: timeSchema.nullable(),
  requestedAt: timeSchema.describe("When the node asked.").exactOptional(),
  tool: z
    .strictObject({ call: z.string(), name: z.string(), args: jsonValueSchema.exactOptional() })
    .describe("The tool call that waits for the answer.")
    .exactOptional(),
  by: z.string().exactOptional(),
  value: jsonValueSchema.exactOptional(),
  comment: z.string().exactOptional(),
});

/** A question to a person. */
export type Confirmation = Infer<typeof confirmationSchema>;

const templateRef = z.strictObject({ slug: slugSchema, version: z.int().min(1) });
const sourceSchema = z.union([
  z.strictObject({
    scheduleId: z.string(),
    fireTime: timeSchema,
    name: z.string().describe("Name of the schedule in its flow.").exactOptional(),
  }),
  z.strictObject({ webhookId: z.string() }),
  z.strictObject({ failedRunId: runIdSchema }),
]);

/** The stored flow that a run was started from. */
export type RunTemplate = Infer<typeof templateRef>;

/** Source of a run that was not started by hand. */
export type RunSource = Infer<typeof sourceSchema>;

const summaryShape = {
  runId: runIdSchema,
  status: runStateSchema,
  flow: z.strictObject({ id: z.string(), title: z.string().exactOptional(), hash: digestSchema }),
  template: templateRef.nullable(),
  trigger: triggerSchema,
  source: sourceSchema.exactOptional(),
  tags: tagsSchema,
  createdAt: timeSchema,
  startedAt: timeSchema.nullable(),
  endedAt: timeSchema.nullable(),
  lastSeq: count,
  retryOf: runIdSchema.nullable().describe("The run that this one repeats."),
  summary: summaryPayloadSchema.nullable().describe("Null until the run has ended."),
};

/** Schema of `RunSummary`. */
export const runSummarySchema = z.strictObject(summaryShape);

/** A run without its nodes. */
export type RunSummary = Infer<typeof runSummarySchema>;

/** Schema of `Run`. */
export const runSchema = z.strictObject({
  ...summaryShape,
  nodes: z
    .record(z.string(), z.strictObject({ state: nodeState, attempt: count }))
    .describe("By path."),
  confirmations: z.array(confirmationSchema).describe("In the order in which they were requested."),
});

/** A run with its nodes and confirmations. */
export type Run = Infer<typeof runSchema>;

/** Schema of `RunBlob`. */
export const runBlobSchema = z.strictObject({
  digest: digestSchema,
  mediaType: z.string(),
  bytes: count,
  base64: z.base64(),
});

/** A value that was too large for its event. */
export type RunBlob = Infer<typeof runBlobSchema>;

/** Members of a filter of runs. */
export const runFilterShape = {
  status: z.array(runStateSchema).exactOptional(),
  template: slugSchema.exactOptional(),
  flow: z
    .string()
    .min(1)
    .max(256)
    .describe("Id of the flow, whether it is stored or not.")
    .exactOptional(),
  retryOf: runIdSchema.describe("Runs that repeat this one.").exactOptional(),
  tags: tagsSchema.describe("Every pair must be there.").exactOptional(),
  since: zonedTimeSchema.exactOptional(),
  until: zonedTimeSchema.exactOptional(),
  trigger: triggerSchema.exactOptional(),
  unacknowledged: z
    .boolean()
    .describe("True: runs that failed, and that nobody has acknowledged or retried since.")
    .exactOptional(),
};

/** Filter of `list_runs`; times are ISO 8601. */
export type RunFilter = Infer<z.ZodObject<typeof runFilterShape>>;
