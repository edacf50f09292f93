/** The payload of every kind as a zod schema. @see the events page, "Kinds" */
import * as z from "zod";
import { EVENT_LIMITS } from "./limits.ts";
import {
  code,
  count,
  digest,
  duration,
  errorShape,
  id,
  message,
  objectWithin,
  type Parts,
  partsOf,
  path,
  text,
  usage,
  valueRef,
  valueWithin,
} from "./schema-parts.ts";
import { summaryShape, viewSchema } from "./schema-view.ts";
import type { AnyEvent, ExecutionEvent, Kind } from "./types.ts";

/** Schema of every event of version 1, known fields only; for writers, tests and descriptions of the service. */
export function executionEventSchema(): z.ZodType<ExecutionEvent> {
  strictUnion ??= z.union(
    Object.values(schemas(true)) as [z.ZodType, z.ZodType],
  ) as z.ZodType<unknown> as z.ZodType<ExecutionEvent>;
  return strictUnion;
}
let strictUnion: z.ZodType<ExecutionEvent> | undefined;

/** The first thing that is wrong with `event`, or `undefined`. An unknown kind is a problem only when `strict`. */
export function payloadProblem(
  event: AnyEvent,
  options: { readonly strict: boolean },
): string | undefined {
  const table = schemas(options.strict);
  const schema = Object.hasOwn(table, event.kind) ? table[event.kind as Kind] : undefined;
  if (schema === undefined) return options.strict ? "no kind of version 1" : undefined;
  const issue = schema.safeParse(event).error?.issues[0];
  if (issue === undefined) return undefined;
  return issue.path.length === 0 ? issue.message : `${issue.path.join(".")}: ${issue.message}`;
}

type Schemas = Readonly<Record<Kind, z.ZodType>>;
const built: { strict?: Schemas; loose?: Schemas } = {};

/** Built at first use: most programs that read events never need them. */
function schemas(strict: boolean): Schemas {
  if (strict) {
    built.strict ??= build(partsOf(true));
    return built.strict;
  }
  built.loose ??= build(partsOf(false));
  return built.loose;
}

function build(p: Parts): Schemas {
  const payloads: Record<Kind, z.ZodRawShape> = {
    ...runShapes(p),
    ...nodeShapes(p),
    ...callShapes(p),
    snapshot: { view: viewSchema(p) },
    summary: summaryShape(p),
  };
  return Object.fromEntries(
    Object.entries(payloads).map(([kind, payload]) => [
      kind,
      p.object({ ...envelope(kind), ...payload }),
    ]),
  ) as Schemas;
}

function envelope(kind: string): z.ZodRawShape {
  const common = {
    v: z.literal(1),
    kind: z.literal(kind),
    runId: id,
    seq: z.int().min(1),
    ts: count,
  };
  const place = { node: path, attempt: z.int().min(1) };
  if (kind === "log") {
    return { ...common, node: path.exactOptional(), attempt: place.attempt.exactOptional() };
  }
  return /^(node|llm|tool|confirm)\./.test(kind) ? { ...common, ...place } : common;
}

type Shapes<Prefix extends string> = Record<Extract<Kind, `${Prefix}${string}`>, z.ZodRawShape>;

function runShapes(p: Parts): Shapes<"run."> {
  return {
    "run.started": {
      flow: p.object({ id: text, title: text.exactOptional(), hash: digest }),
      nodeCount: count,
      onFailure: z.enum(["stop", "finish"]),
      inputs: digest,
      trigger: p.open("cli", "api", "schedule", "webhook", "desktop", "embed"),
      template: text.exactOptional(),
      resumedFrom: p.object({ runId: id, seq: count }).exactOptional(),
      tags: z
        .record(z.string().max(EVENT_LIMITS.tagText), z.string().max(EVENT_LIMITS.tagText))
        .refine((tags) => Object.keys(tags).length <= EVENT_LIMITS.tags, "has too many pairs")
        .exactOptional(),
    },
    "run.paused": {
      reason: p.open("confirmation", "operator", "interrupted"),
      confirmations: z.array(id),
    },
    "run.resumed": {
      reason: p.open("confirmation", "operator", "recovered"),
      by: message.exactOptional(),
    },
    "run.cancelling": {
      reason: p.open("user", "timeout", "sigint", "sigterm", "shutdown", "disconnect"),
      by: message.exactOptional(),
      note: message.exactOptional(),
    },
  };
}

function nodeShapes(p: Parts): Shapes<"node."> & Shapes<"log"> {
  const error = p.object(errorShape());
  const output = {
    output: valueWithin(EVENT_LIMITS.inlineBytes).optional(),
    outputRef: valueRef(p).exactOptional(),
  };
  const truncated = count.exactOptional();
  return {
    "node.started": { type: z.string().min(1), inputs: digest.exactOptional() },
    "node.retrying": { error, delayMs: duration, next: count },
    "node.waiting": {
      on: p.open("confirm", "timer", "slot", "child"),
      ids: z.array(id).exactOptional(),
      until: count.exactOptional(),
      key: message.exactOptional(),
    },
    "node.resumed": {},
    "node.progress": {
      done: duration,
      total: duration.exactOptional(),
      unit: p.open("items", "iterations", "bytes").exactOptional(),
    },
    "node.succeeded": {
      ports: z.array(text).exactOptional(),
      ...output,
      durationMs: duration,
      cached: z.literal(true).exactOptional(),
      truncated,
    },
    "node.failed": {
      error,
      routed: z.enum(["none", "port", "default", "parent"]),
      ...output,
      durationMs: duration,
    },
    "node.skipped": { why: p.open("dead", "when", "run_ended") },
    "node.cancelled": { reason: p.open("run_cancelled", "run_failed", "sibling", "parent") },
    "node.checked": {
      index: count,
      check: text,
      pass: z.boolean(),
      level: z.enum(["error", "warn"]),
      detail: message.exactOptional(),
      score: z.number().min(0).max(1).exactOptional(),
    },
    log: {
      level: z.enum(["debug", "info", "warn", "error"]),
      channel: p.open("engine", "node", "stdout", "stderr"),
      text: z.string().max(EVENT_LIMITS.logText),
      code: z.string().max(EVENT_LIMITS.code).exactOptional(),
      data: objectWithin(EVENT_LIMITS.logDataBytes).exactOptional(),
      truncated,
    },
  };
}

function callShapes(p: Parts): Shapes<"llm."> & Shapes<"tool."> & Shapes<"confirm."> {
  const small = valueWithin(EVENT_LIMITS.toolInlineBytes).optional();
  const ref = valueRef(p).exactOptional();
  const length = z.int().min(1).exactOptional();
  const cost = z.number().min(0).nullable();
  const keyed = z.string().max(EVENT_LIMITS.tagText).exactOptional();
  return {
    "llm.started": {
      call: id,
      provider: text,
      model: text,
      target: count,
      step: z.int().min(1),
      purpose: p.open("generate", "repair", "judge", "embed"),
      audit: p.object({ messages: count, chars: count, hmac: keyed, ref }).exactOptional(),
    },
    "llm.delta": {
      call: id,
      channel: p.open("text", "reasoning", "object"),
      offset: count,
      text: z.string().min(1).max(EVENT_LIMITS.deltaText),
      merged: z.int().min(1).exactOptional(),
    },
    "llm.finished": {
      call: id,
      finish: p.open("stop", "length", "tool_calls", "content_filter", "other"),
      lengths: p.object({ text: length, reasoning: length, object: length }),
      usage: usage(p).exactOptional(),
      costUsd: cost,
      firstTokenMs: duration.exactOptional(),
      durationMs: duration,
    },
    "llm.failed": {
      call: id,
      reason: code,
      status: z.int().exactOptional(),
      retryAfterMs: duration.exactOptional(),
      discarded: count,
      usage: usage(p).exactOptional(),
      costUsd: cost.exactOptional(),
      next: p.open("retry", "failover", "none"),
    },
    "llm.rejected": {
      call: id,
      problems: z
        .array(
          p.object({
            path: z.string().max(EVENT_LIMITS.problemText).exactOptional(),
            message: z.string().max(EVENT_LIMITS.problemText),
          }),
        )
        .max(EVENT_LIMITS.problems),
      repair: count,
    },
    "tool.started": {
      call: id,
      tool: text,
      llmCall: id.exactOptional(),
      args: small,
      argsRef: ref,
      argsDigest: keyed,
    },
    "tool.finished": {
      call: id,
      outcome: z.enum(["ok", "error", "denied", "cancelled"]),
      result: small,
      resultRef: ref,
      resultDigest: keyed,
      error: p.object(errorShape()).exactOptional(),
      durationMs: duration,
    },
    "confirm.requested": {
      id,
      prompt: z.string().max(EVENT_LIMITS.prompt),
      schema: z.record(text, z.unknown()).exactOptional(),
      deadline: count.exactOptional(),
      tool: p.object({ call: id, name: text, args: small }).exactOptional(),
    },
    "confirm.resolved": {
      id,
      outcome: z.enum(["approved", "rejected", "expired", "cancelled"]),
      by: message.exactOptional(),
      value: z.unknown().optional(),
      comment: message.exactOptional(),
    },
  };
}
