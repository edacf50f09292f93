/** The payload of every kind, fields in wire order. @see the events page, "Kinds" */
import {
  amount,
  type Fields,
  flag,
  integer,
  list,
  nullable,
  type ObjectShape,
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
  partProblem,
  path,
  text,
  trigger,
  usage,
  valueRef,
} from "./parts.ts";
import { summaryPart, view } from "./payload-view.ts";
import type { AnyEvent, Kind } from "./types.ts";

const label = text(EVENT_LIMITS.tagText);
const duration = amount();
const output = optional(json(EVENT_LIMITS.inlineBytes));
const small = optional(json(EVENT_LIMITS.toolInlineBytes));
const ref = optional(valueRef);
const truncated = optional(count);

/** Fields beyond the envelope. */
const PAYLOADS: Readonly<Record<Kind, Fields>> = {
  "run.started": {
    flow: object({ id: text(), title: optional(text()), hash: digest }),
    nodeCount: count,
    onFailure: oneOf("stop", "finish"),
    inputs: digest,
    trigger,
    template: optional(text()),
    resumedFrom: optional(object({ runId: id, seq: count })),
    tags: optional(record(label, EVENT_LIMITS.tags, EVENT_LIMITS.tagText)),
  },
  "run.paused": {
    reason: open("confirmation", "operator", "interrupted"),
    confirmations: list(id),
  },
  "run.resumed": {
    reason: open("confirmation", "operator", "recovered"),
    by: optional(message),
  },
  "run.cancelling": {
    reason: open("user", "timeout", "sigint", "sigterm", "shutdown", "disconnect"),
    by: optional(message),
    note: optional(message),
  },
  "node.started": { type: text(EVENT_LIMITS.message, 1), inputs: optional(digest) },
  "node.retrying": { error: errorInfo, delayMs: duration, next: count },
  "node.waiting": {
    on: open("confirm", "timer", "slot", "child"),
    ids: optional(list(id)),
    until: optional(count),
    key: optional(message),
  },
  "node.resumed": {},
  "node.progress": {
    done: duration,
    total: optional(duration),
    unit: optional(open("items", "iterations", "bytes")),
  },
  "node.succeeded": {
    ports: optional(list(text())),
    output,
    outputRef: ref,
    durationMs: duration,
    cached: optional(oneOf(true)),
    truncated,
  },
  "node.failed": {
    error: errorInfo,
    routed: oneOf("none", "port", "default", "parent"),
    output,
    outputRef: ref,
    durationMs: duration,
  },
  "node.skipped": { why: open("dead", "when", "run_ended") },
  "node.cancelled": { reason: open("run_cancelled", "run_failed", "sibling", "parent") },
  "node.checked": {
    index: count,
    check: text(),
    pass: flag,
    level: oneOf("error", "warn"),
    detail: optional(message),
    score: optional(amount(1)),
  },
  log: {
    level: oneOf("debug", "info", "warn", "error"),
    channel: open("engine", "node", "stdout", "stderr"),
    text: text(EVENT_LIMITS.logText),
    code: optional(text(EVENT_LIMITS.code)),
    data: optional(jsonObject(EVENT_LIMITS.logDataBytes)),
    truncated,
  },
  "llm.started": {
    call: id,
    provider: text(),
    model: text(),
    target: count,
    step: integer(1),
    purpose: open("generate", "repair", "judge", "embed"),
    audit: optional(object({ messages: count, chars: count, hmac: optional(label), ref })),
  },
  "llm.delta": {
    call: id,
    channel: open("text", "reasoning", "object"),
    offset: count,
    text: text(EVENT_LIMITS.deltaText, 1),
    merged: optional(integer(1)),
  },
  "llm.finished": {
    call: id,
    finish: open("stop", "length", "tool_calls", "content_filter", "other"),
    lengths: object({
      text: optional(integer(1)),
      reasoning: optional(integer(1)),
      object: optional(integer(1)),
    }),
    usage: optional(usage),
    costUsd: nullable(amount()),
    firstTokenMs: optional(duration),
    durationMs: duration,
  },
  "llm.failed": {
    call: id,
    reason: code,
    status: optional(count),
    retryAfterMs: optional(duration),
    discarded: count,
    usage: optional(usage),
    costUsd: optional(nullable(amount())),
    next: open("retry", "failover", "none"),
  },
  "llm.rejected": {
    call: id,
    problems: list(
      object({
        path: optional(text(EVENT_LIMITS.problemText)),
        message: text(EVENT_LIMITS.problemText),
      }),
      { max: EVENT_LIMITS.problems },
    ),
    repair: count,
  },
  "tool.started": {
    call: id,
    tool: text(),
    llmCall: optional(id),
    args: small,
    argsRef: ref,
    argsDigest: optional(label),
  },
  "tool.finished": {
    call: id,
    outcome: oneOf("ok", "error", "denied", "cancelled"),
    result: small,
    resultRef: ref,
    resultDigest: optional(label),
    error: optional(errorInfo),
    durationMs: duration,
  },
  "confirm.requested": {
    id,
    prompt: text(EVENT_LIMITS.prompt),
    schema: optional(jsonObject()),
    deadline: optional(count),
    tool: optional(object({ call: id, name: text(), args: small })),
  },
  "confirm.resolved": {
    id,
    outcome: oneOf("approved", "rejected", "expired", "cancelled"),
    by: optional(message),
    value: optional(json()),
    comment: optional(message),
  },
  snapshot: { view },
  summary: summaryPart.fields,
};

/** Payloads by kind. */
const PAYLOAD_PARTS: ReadonlyMap<string, ObjectShape> = new Map(
  Object.entries(PAYLOADS).map(([kind, fields]) => [kind, object(fields)]),
);

/** Whole events by kind: envelope, then payload. */
export const EVENT_PARTS: ReadonlyMap<string, ObjectShape> = new Map(
  Object.entries(PAYLOADS).map(([kind, fields]) => [kind, eventPart(kind, fields)]),
);

function eventPart(kind: string, payload: Fields): ObjectShape {
  const common = { v: oneOf(1), kind: oneOf(kind), runId: id, seq: integer(1), ts: count };
  const attempt = integer(1);
  const isRunEvent = kind.startsWith("run.") || kind === "snapshot" || kind === "summary";
  const place = isRunEvent
    ? {}
    : kind === "log"
      ? { node: optional(path), attempt: optional(attempt) }
      : { node: path, attempt };
  return object({ ...common, ...place, ...payload });
}

/** The first thing that no reader could use, or `undefined`; unknown kinds and fields pass. The envelope is not looked at. */
export function payloadProblem(event: AnyEvent): string | undefined {
  const payload = PAYLOAD_PARTS.get(event.kind);
  return payload && partProblem(event, payload, false)?.slice(1);
}

/** The first thing that a writer of version 1 may not write, or `undefined`. */
export function strictProblem(event: AnyEvent): string | undefined {
  const part = EVENT_PARTS.get(event.kind);
  if (part === undefined) return "kind is none of version 1";
  return partProblem(event, part, true)?.slice(1);
}
