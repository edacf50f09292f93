/** The fields of a view as JSON, and of the summary that it may hold. */

import {
  amount,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
} from "../shape/index.ts";
import { EVENT_LIMITS } from "./limits.ts";
import { NODE_MACHINE, RUN_MACHINE } from "./machines.ts";
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
import { VIEW_LIMITS } from "./view-state.ts";

/** What a summary says beyond its envelope. */
export const summaryPart = object({
  status: oneOf("succeeded", "failed", "cancelled", "invalid"),
  outputs: jsonObject(EVENT_LIMITS.outputsBytes),
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

const node = object({
  node: path,
  state: oneOf(...Object.keys(NODE_MACHINE)),
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
  text: optional(text(VIEW_LIMITS.text)),
  textCall: optional(id),
  tools: count,
});

const confirmation = object({
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

const call = object({
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

const log = object({
  seq: integer(1),
  ts: count,
  node: optional(path),
  level: text(),
  channel: text(),
  text: text(),
  code: optional(text()),
});

const failure = object({ node: path, attempt: integer(1), code, message, routed: text() });

/** `RunViewJson`. */
export const view = object({
  v: oneOf(1),
  runId: id,
  seq: count,
  state: oneOf(...Object.keys(RUN_MACHINE), "invalid"),
  startedAt: nullable(count),
  updatedAt: count,
  flow: nullable(object({ id: text(), title: optional(text()), hash: text() })),
  nodeCount: count,
  onFailure: nullable(oneOf("stop", "finish")),
  trigger: nullable(text()),
  paused: nullable(object({ reason: text(), since: count })),
  cancelReason: nullable(text()),
  nodes: list(node),
  confirmations: list(confirmation),
  calls: list(call),
  counts,
  bodyCounts: counts,
  usage: summaryUsage,
  costUsd: nullable(amount()),
  logs: list(log, { max: VIEW_LIMITS.logs }),
  warnings: count,
  failures: list(failure, { max: VIEW_LIMITS.failures }),
  trimmed: count,
  summary: nullable(summaryPart),
});
