/** The payload of every kind, fields in wire order. @see the events page, "Kinds" */
import {
  amount,
  flag,
  integer,
  list,
  nullable,
  object,
  oneOf,
  open,
  optional,
  record,
} from "../shape/index.ts";
import { EVENT_LIMITS } from "./limits.ts";
import {
  code,
  count,
  digest,
  errorInfo,
  id,
  json,
  jsonObject,
  message,
  text,
  trigger,
  usage,
  valueRef,
} from "./parts.ts";
import { summaryPart, view } from "./view-parts.ts";

const label = text(EVENT_LIMITS.tagText);
const duration = amount();
const output = optional(json(EVENT_LIMITS.inlineBytes));
const small = optional(json(EVENT_LIMITS.toolInlineBytes));
const ref = optional(valueRef);
const truncated = optional(count);

/** Fields beyond the envelope. The types of events, their checks and their zod schemas all come from this table. */
export const PAYLOADS = {
  "run.started": object({
    flow: object({ id: text(), title: optional(text()), hash: digest }),
    /** Top-level nodes only. */
    nodeCount: count,
    onFailure: oneOf("stop", "finish"),
    inputs: digest,
    trigger,
    template: optional(text()),
    resumedFrom: optional(object({ runId: id, seq: count })),
    tags: optional(record(label, EVENT_LIMITS.tags, EVENT_LIMITS.tagText)),
  }),
  "run.paused": object({
    reason: open("confirmation", "operator", "interrupted"),
    /** All open ones, sorted. */
    confirmations: list(id),
  }),
  "run.resumed": object({
    reason: open("confirmation", "operator", "recovered"),
    by: optional(message),
  }),
  "run.cancelling": object({
    reason: open("user", "timeout", "sigint", "sigterm", "shutdown", "disconnect"),
    by: optional(message),
    note: optional(message),
  }),
  "node.started": object({ type: text(EVENT_LIMITS.message, 1), inputs: optional(digest) }),
  "node.retrying": object({
    error: errorInfo,
    delayMs: duration,
    /** Always `attempt` + 1. */ next: count,
  }),
  "node.waiting": object({
    on: open("confirm", "timer", "slot", "child"),
    ids: optional(list(id)),
    until: optional(count),
    key: optional(message),
  }),
  "node.resumed": object({}),
  "node.progress": object({
    done: duration,
    total: optional(duration),
    unit: optional(open("items", "iterations", "bytes")),
  }),
  "node.succeeded": object({
    /** Exits that fired; absent means `["out"]`. */
    ports: optional(list(text())),
    output,
    outputRef: ref,
    durationMs: duration,
    cached: optional(oneOf(true)),
    truncated,
  }),
  "node.failed": object({
    error: errorInfo,
    routed: oneOf("none", "port", "default", "parent"),
    output,
    outputRef: ref,
    durationMs: duration,
  }),
  "node.skipped": object({ why: open("dead", "when", "run_ended") }),
  "node.cancelled": object({ reason: open("run_cancelled", "run_failed", "sibling", "parent") }),
  "node.checked": object({
    index: count,
    check: text(),
    pass: flag,
    level: oneOf("error", "warn"),
    detail: optional(message),
    score: optional(amount(1)),
  }),
  log: object({
    level: oneOf("debug", "info", "warn", "error"),
    channel: open("engine", "node", "stdout", "stderr"),
    text: text(EVENT_LIMITS.logText),
    code: optional(text(EVENT_LIMITS.code)),
    data: optional(jsonObject(EVENT_LIMITS.logDataBytes)),
    truncated,
  }),
  "llm.started": object({
    call: id,
    provider: text(),
    model: text(),
    target: count,
    step: integer(1),
    purpose: open("generate", "repair", "judge", "embed"),
    audit: optional(object({ messages: count, chars: count, hmac: optional(label), ref })),
  }),
  "llm.delta": object({
    call: id,
    channel: open("text", "reasoning", "object"),
    /** UTF-16 units of this call and channel that came before. */
    offset: count,
    text: text(EVENT_LIMITS.deltaText, 1),
    /** Number of journal events this one stands for. */
    merged: optional(integer(1)),
  }),
  "llm.finished": object({
    call: id,
    finish: open("stop", "length", "tool_calls", "content_filter", "other"),
    lengths: object({
      text: optional(integer(1)),
      reasoning: optional(integer(1)),
      object: optional(integer(1)),
    }),
    usage: optional(usage),
    /** Null: the price is unknown. */
    costUsd: nullable(amount()),
    firstTokenMs: optional(duration),
    durationMs: duration,
  }),
  "llm.failed": object({
    call: id,
    reason: code,
    status: optional(count),
    retryAfterMs: optional(duration),
    discarded: count,
    usage: optional(usage),
    costUsd: optional(nullable(amount())),
    next: open("retry", "failover", "none"),
  }),
  "llm.rejected": object({
    call: id,
    problems: list(
      object({
        path: optional(text(EVENT_LIMITS.problemText)),
        message: text(EVENT_LIMITS.problemText),
      }),
      { max: EVENT_LIMITS.problems },
    ),
    /** Number of the repair that follows; 0 for none. */
    repair: count,
  }),
  "tool.started": object({
    call: id,
    tool: text(),
    llmCall: optional(id),
    args: small,
    argsRef: ref,
    argsDigest: optional(label),
  }),
  "tool.finished": object({
    call: id,
    outcome: oneOf("ok", "error", "denied", "cancelled"),
    result: small,
    resultRef: ref,
    resultDigest: optional(label),
    error: optional(errorInfo),
    durationMs: duration,
  }),
  "confirm.requested": object({
    id,
    prompt: text(EVENT_LIMITS.prompt),
    /** JSON Schema of the answer. */
    schema: optional(jsonObject()),
    deadline: optional(count),
    tool: optional(object({ call: id, name: text(), args: small })),
  }),
  "confirm.resolved": object({
    id,
    outcome: oneOf("approved", "rejected", "expired", "cancelled"),
    by: optional(message),
    value: optional(json()),
    comment: optional(message),
  }),
  snapshot: object({ view }),
  summary: summaryPart,
};
