/** Commands: start runs, watch them, steer them, look back at them. */
import * as z from "zod";
import {
  digestSchema,
  jsonRecordSchema,
  jsonValueSchema,
  pageSchema,
  runIdSchema,
  slugSchema,
  zonedTimeSchema,
} from "../schemas/common.ts";
import { flowGraphSchema } from "../schemas/graph.ts";
import {
  checkRunRequest,
  confirmationSchema,
  confirmationStatusSchema,
  eventSchema,
  kindSchema,
  nodeInputsSchema,
  nodePathSchema,
  runBlobSchema,
  runFilterShape,
  runInputsSchema,
  runRefSchema,
  runRequestSchema,
  runRequestShape,
  runSchema,
  runStateSchema,
  runSummarySchema,
} from "../schemas/run.ts";
import type { ErrorCode } from "./problem.ts";
import { commandTable, get, nothing, pageArgs, post, remove } from "./table.ts";

const runId = runIdSchema;
const oneRun = z.strictObject({ runId });
const kinds = z.array(kindSchema).exactOptional();

const START_ERRORS: readonly ErrorCode[] = [
  "run_input_conflict",
  "not_found",
  "flow_invalid",
  "input_invalid",
  "already_exists",
  "too_many_runs",
  "executor_unavailable",
  "store_unavailable",
  "store_read_only",
  "store_full",
];

/** Commands that start, watch and steer runs. */
export const runCommands = commandTable({
  run_flow: {
    summary: "Run a flow and stream its events",
    args: runRequestSchema,
    result: runRefSchema,
    effect: "run",
    idempotency: "key",
    errors: [...START_ERRORS, "too_many_streams"],
    http: post("/api/run", 200, { media: "text/event-stream" }),
    stream: { item: eventSchema, resume: false },
  },
  start_run: {
    summary: "Start a run and answer at once",
    args: runRequestSchema,
    result: runRefSchema,
    effect: "run",
    idempotency: "key",
    errors: START_ERRORS,
    http: post("/api/runs", 202),
  },
  run_and_wait: {
    summary: "Start a run and wait for its end, or for a pause",
    args: z
      .strictObject({ ...runRequestShape, waitMs: z.int().min(1).max(60_000) })
      .superRefine(checkRunRequest),
    result: z.union([runSummarySchema, runRefSchema]),
    effect: "run",
    idempotency: "key",
    errors: START_ERRORS,
    http: post("/api/runs", 200, { alsoStatus: [202], when: { query: "waitMs" } }),
  },
  list_runs: {
    summary: "List runs, newest first",
    args: z.strictObject({
      ...runFilterShape,
      ...pageArgs,
    }),
    result: pageSchema(runSummarySchema),
    http: get("/api/runs"),
  },
  get_run: {
    summary: "Show a run with its nodes and confirmations",
    args: oneRun,
    result: runSchema,
    http: get("/api/runs/:runId"),
  },
  get_run_events: {
    summary: "Read the events of a run, from any position, to its end",
    args: z.strictObject({
      runId,
      after: z.int().min(0).describe("Last `seq` that the reader has; default 0.").exactOptional(),
      kinds,
      node: nodePathSchema
        .describe("Path: events of this node alone, besides the frame of the run.")
        .exactOptional(),
      below: z
        .boolean()
        .describe("With `node`: also events of the nodes in its body, at any depth.")
        .exactOptional(),
      snapshot: z.boolean().describe("Begins with a `snapshot` event.").exactOptional(),
      lag: z
        .literal("snapshot")
        .describe("A reader that falls behind gets a `snapshot` instead of the past.")
        .exactOptional(),
      limit: pageArgs.limit,
    }),
    result: pageSchema(eventSchema),
    errors: ["bad_cursor", "ahead_of_journal", "too_many_streams"],
    http: get("/api/runs/:runId/events", {
      headers: { "last-event-id": "after" },
      media: "text/event-stream",
    }),
    stream: { item: eventSchema, resume: true },
  },
  get_run_graph: {
    summary: "Show the graph that a run executes",
    args: oneRun,
    result: flowGraphSchema,
    http: get("/api/runs/:runId/graph"),
  },
  get_run_inputs: {
    summary: "Show the inputs that a run was started with",
    args: oneRun,
    result: runInputsSchema,
    http: get("/api/runs/:runId/inputs"),
  },
  get_node_inputs: {
    summary: "Show the fields that an attempt of a node was given",
    args: z.strictObject({
      runId,
      node: nodePathSchema.describe("Path of the node."),
      attempt: z.int().min(1).describe("Default: the last one that has begun.").exactOptional(),
    }),
    result: nodeInputsSchema,
    errors: ["flow_invalid"],
    http: get("/api/runs/:runId/nodes/inputs"),
  },
  get_run_blob: {
    summary: "Read a value that was too large for its event",
    args: z.strictObject({ runId, digest: digestSchema }),
    result: runBlobSchema,
    http: get("/api/runs/:runId/blobs/:digest", { media: "application/octet-stream" }),
  },
  cancel_run: {
    summary: "Stop a run",
    args: z.strictObject({
      runId,
      reason: z.string().max(500).exactOptional(),
      graceMs: z
        .int()
        .min(0)
        .max(60_000)
        .default(2_000)
        .describe("How long bodies may take to settle."),
    }),
    result: runSchema,
    effect: "run",
    errors: ["state_conflict"],
    http: post("/api/runs/:runId/cancel", 202),
  },
  pause_run: {
    summary: "Let no further node of a run start",
    args: oneRun,
    result: runSchema,
    effect: "run",
    errors: ["state_conflict"],
    http: post("/api/runs/:runId/pause", 202),
  },
  resume_run: {
    summary: "Let a paused run go on",
    args: oneRun,
    result: runSchema,
    effect: "run",
    errors: ["state_conflict"],
    http: post("/api/runs/:runId/resume", 202),
  },
  retry_run: {
    summary: "Repeat a run as a new one that keeps earlier results; acknowledges it",
    args: z
      .strictObject({
        runId,
        from: z
          .array(z.string().min(1).max(128))
          .min(1)
          .describe("Nodes to run again, with all that follows them; absent: what did not succeed.")
          .exactOptional(),
        failedItems: z
          .literal(true)
          .describe("Also the failed items of a `map` that has succeeded without them.")
          .exactOptional(),
        inputs: jsonRecordSchema.exactOptional(),
      })
      .refine(
        ({ from, failedItems }) => from === undefined || failedItems === undefined,
        "from and failedItems exclude each other",
      ),
    result: runRefSchema,
    effect: "run",
    idempotency: "key",
    errors: ["state_conflict", "flow_invalid", "input_invalid", "too_many_runs"],
    http: post("/api/runs/:runId/retry", 202),
  },
  acknowledge_runs: {
    summary: "Take failed runs from the list of those that nobody has looked at",
    args: z
      .strictObject({
        runIds: z.array(runId).min(1).max(200).exactOptional(),
        all: z
          .literal(true)
          .describe("Every one, or with `template` every one of it.")
          .exactOptional(),
        template: slugSchema.exactOptional(),
      })
      .refine(({ runIds, all }) => (runIds === undefined) === (all === true), "needs runIds or all")
      .refine(
        ({ all, template }) => template === undefined || all === true,
        "template goes with all only",
      ),
    result: z.strictObject({ acknowledged: z.int().min(0) }),
    effect: "run",
    errors: ["not_found", "store_unavailable", "store_read_only", "store_full"],
    http: post("/api/runs/acknowledge", 200),
  },
  resolve_confirmation: {
    summary: "Approve or reject what a run asks",
    args: z.strictObject({
      runId,
      confirmationId: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
      decision: z.enum(["approve", "reject"]),
      value: jsonValueSchema.exactOptional(),
      comment: z.string().max(2_048).exactOptional(),
    }),
    result: confirmationSchema,
    effect: "run",
    idempotency: "key",
    errors: ["state_conflict", "already_resolved", "confirmation_expired", "value_invalid"],
    http: post("/api/runs/:runId/confirmations/:confirmationId", 200),
  },
  list_confirmations: {
    summary: "List what runs ask, over all runs",
    args: z.strictObject({
      status: confirmationStatusSchema.default("requested"),
      runId: runId.exactOptional(),
      ...pageArgs,
    }),
    result: pageSchema(confirmationSchema),
    http: get("/api/confirmations"),
  },
  delete_run: {
    summary: "Delete a run that has ended",
    args: oneRun,
    result: nothing,
    effect: "write",
    errors: ["state_conflict"],
    http: remove("/api/runs/:runId"),
  },
  prune_runs: {
    summary: "Delete ended runs by age or status",
    args: z
      .strictObject({
        before: zonedTimeSchema.exactOptional(),
        status: z.array(runStateSchema).min(1).exactOptional(),
      })
      .refine(
        (args) => args.before !== undefined || args.status !== undefined,
        "needs before or status",
      ),
    result: z.strictObject({ deleted: z.int().min(0) }),
    effect: "admin",
    http: { ...remove("/api/runs"), status: 200 },
  },
  subscribe_events: {
    summary: "Follow starts, pauses, confirmations and ends of all runs",
    args: z.strictObject({ kinds, after: z.int().min(0).exactOptional() }),
    result: nothing,
    errors: ["bad_cursor", "too_many_streams", "stream_only"],
    http: get("/api/events", { headers: { "last-event-id": "after" }, media: "text/event-stream" }),
    stream: { item: eventSchema, resume: true, only: true },
  },
});
