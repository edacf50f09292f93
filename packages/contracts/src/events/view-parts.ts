/** The fields of a view as JSON, and of the summary that it may hold. */

import type { Json } from "../json.ts";
import {
  amount,
  type Infer,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
  type Shape,
} from "../shape/index.ts";
import { EVENT_LIMITS, VIEW_LIMITS } from "./limits.ts";
import {
  code,
  count,
  counts,
  diagnostic,
  errorFields,
  errorInfo,
  id,
  json,
  jsonObject,
  message,
  path,
  summaryUsage,
  text,
  valueRef,
} from "./parts.ts";

/** Payload of a summary. */
export const summaryPart = object({
  status: oneOf("succeeded", "failed", "cancelled", "invalid"),
  outputs: jsonObject(EVENT_LIMITS.outputsBytes) as Shape<{ readonly [name: string]: Json }>,
  outputRefs: optional(record(valueRef)),
  counts,
  bodyCounts: optional(counts),
  usage: summaryUsage,
  costUsd: nullable(amount()),
  durationMs: amount(),
  error: optional(object({ ...errorFields, node: optional(path) })),
  diagnostics: optional(list(diagnostic, { max: EVENT_LIMITS.diagnostics })),
  exitCode: integer(0),
});

const RUN_STATES = [
  "pending",
  "running",
  "paused",
  "cancelling",
  "succeeded",
  "failed",
  "cancelled",
] as const;

const runState = oneOf(...RUN_STATES);

const nodeState = oneOf(
  "pending",
  "running",
  "retrying",
  "waiting",
  "succeeded",
  "failed",
  "skipped",
  "cancelled",
);

const nodeView = object({
  node: path,
  state: nodeState,
  attempt: integer(1),
  type: optional(text()),
  startedAt: optional(count),
  endedAt: optional(count),
  durationMs: optional(amount()),
  waitingOn: optional(text()),
  until: optional(count),
  progress: optional(object({ done: amount(), total: optional(amount()), unit: optional(text()) })),
  ports: optional(list(text())),
  output: optional(json()),
  outputRef: optional(valueRef),
  error: optional(errorInfo),
  routed: optional(text()),
  why: optional(text()),
  cached: optional(oneOf(true)),
  retries: count,
  nextAt: optional(count),
  checks: object({ passed: count, failed: count, warned: count }),
  /** Last 4,096 units of the latest `generate` call. */
  text: optional(text(VIEW_LIMITS.text)),
  textCall: optional(id),
  tools: count,
});

const confirmationView = object({
  id,
  node: path,
  attempt: integer(1),
  state: oneOf("requested", "approved", "rejected", "expired", "cancelled"),
  prompt: text(),
  deadline: optional(count),
  requestedAt: count,
  resolvedAt: optional(count),
  by: optional(text()),
});

const callView = object({
  call: id,
  node: path,
  attempt: integer(1),
  kind: oneOf("llm", "tool"),
  name: text(),
  startedAt: count,
  texts: object({
    text: optional(text()),
    reasoning: optional(text()),
    object: optional(text()),
  }),
});

const logView = object({
  seq: integer(1),
  ts: count,
  node: optional(path),
  level: text(),
  channel: text(),
  text: text(),
  code: optional(text()),
});

const failureView = object({
  node: path,
  attempt: integer(1),
  code,
  message,
  routed: text(),
});

/** `RunViewJson`. */
export const view = object({
  v: oneOf(1),
  runId: id,
  seq: count,
  state: oneOf(...RUN_STATES, "invalid"),
  startedAt: nullable(count),
  updatedAt: count,
  flow: nullable(object({ id: text(), title: optional(text()), hash: text() })),
  nodeCount: count,
  onFailure: nullable(oneOf("stop", "finish")),
  trigger: nullable(text()),
  paused: nullable(object({ reason: text(), since: count })),
  cancelReason: nullable(text()),
  nodes: list(nodeView as Shape<NodeView>),
  confirmations: list(confirmationView as Shape<ConfirmationView>),
  calls: list(callView),
  counts,
  bodyCounts: counts,
  usage: summaryUsage,
  costUsd: nullable(amount()),
  logs: list(logView, { max: VIEW_LIMITS.logs }),
  warnings: count,
  failures: list(failureView, { max: VIEW_LIMITS.failures }),
  trimmed: count,
  summary: nullable(summaryPart),
});

type Loose<T> = { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };

/** Where a run is. */
export type RunState = Infer<typeof runState>;
/** Where a node is; closed for ever. */
export type NodeState = Infer<typeof nodeState>;

/** One node of a view; keys in canonical order. A key whose value is `undefined` counts as absent. */
export interface NodeView extends Loose<Infer<typeof nodeView>> {}

/** An open model or tool call; `name` is the model or the tool. */
export interface CallView extends Infer<typeof callView> {}

/** A confirmation; `undefined` counts as absent. */
export interface ConfirmationView extends Loose<Infer<typeof confirmationView>> {}

/** One of the last 200 log lines. */
export interface LogView extends Infer<typeof logView> {}

/** One of the first 100 failures, caught ones included. */
export interface FailureView extends Infer<typeof failureView> {}

/** The view as JSON: equal views give equal text. */
export interface RunViewJson extends Infer<typeof view> {}
