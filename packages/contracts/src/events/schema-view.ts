/** The shape of a view as JSON, and of the summary that it may hold. */
import * as z from "zod";
import { diagnosticSchema } from "../schemas/diagnostic.ts";
import { EVENT_LIMITS } from "./limits.ts";
import {
  code,
  count,
  counts,
  duration,
  errorShape,
  id,
  message,
  objectWithin,
  type Parts,
  path,
  summaryUsage,
  text,
  valueRef,
} from "./schema-parts.ts";
import { VIEW_LIMITS } from "./view-state.ts";

const STATUSES = ["succeeded", "failed", "cancelled", "invalid"] as const;

/** What a summary says beyond its envelope. */
export function summaryShape(p: Parts): z.ZodRawShape {
  const diagnostic = p.strict
    ? diagnosticSchema
    : z.looseObject({ code: text, severity: text, message: text });
  return {
    status: z.enum(STATUSES),
    outputs: objectWithin(EVENT_LIMITS.outputsBytes),
    outputRefs: z.record(text, valueRef(p)).exactOptional(),
    counts: counts(p),
    bodyCounts: counts(p).exactOptional(),
    usage: summaryUsage(p),
    costUsd: z.number().min(0).nullable(),
    durationMs: duration,
    error: p.object({ ...errorShape(), node: path.exactOptional() }).exactOptional(),
    diagnostics: z.array(diagnostic).max(EVENT_LIMITS.diagnostics).exactOptional(),
    exitCode: z.int().min(0).max(255),
  };
}

/** `RunViewJson`. */
export function viewSchema(p: Parts): z.ZodType {
  return p.object({
    v: z.literal(1),
    runId: id,
    seq: count,
    state: z.enum(["pending", "running", "paused", "cancelling", ...STATUSES]),
    startedAt: count.nullable(),
    updatedAt: count,
    flow: p.object({ id: text, title: text.exactOptional(), hash: text }).nullable(),
    nodeCount: count,
    onFailure: z.enum(["stop", "finish"]).nullable(),
    trigger: text.nullable(),
    paused: p.object({ reason: text, since: count }).nullable(),
    cancelReason: text.nullable(),
    nodes: z.array(node(p)),
    confirmations: z.array(confirmation(p)),
    calls: z.array(call(p)),
    counts: counts(p),
    bodyCounts: counts(p),
    usage: summaryUsage(p),
    costUsd: z.number().min(0).nullable(),
    logs: z.array(log(p)).max(VIEW_LIMITS.logs),
    warnings: count,
    failures: z.array(failure(p)).max(VIEW_LIMITS.failures),
    trimmed: count,
    summary: p.object(summaryShape(p)).nullable(),
  });
}

function node(p: Parts): z.ZodType {
  return p.object({
    node: path,
    state: z.enum([
      "pending",
      "running",
      "retrying",
      "waiting",
      "succeeded",
      "failed",
      "skipped",
      "cancelled",
    ]),
    attempt: count.min(1),
    type: text.exactOptional(),
    startedAt: count.exactOptional(),
    endedAt: count.exactOptional(),
    durationMs: duration.exactOptional(),
    waitingOn: text.exactOptional(),
    until: count.exactOptional(),
    progress: p
      .object({
        done: z.number(),
        total: z.number().exactOptional(),
        unit: text.exactOptional(),
      })
      .exactOptional(),
    ports: z.array(text).exactOptional(),
    output: z.unknown().optional(),
    outputRef: valueRef(p).exactOptional(),
    error: p.object(errorShape()).exactOptional(),
    routed: text.exactOptional(),
    why: text.exactOptional(),
    cached: z.literal(true).exactOptional(),
    retries: count,
    nextAt: count.exactOptional(),
    checks: p.object({ passed: count, failed: count, warned: count }),
    text: z.string().max(VIEW_LIMITS.text).exactOptional(),
    textCall: id.exactOptional(),
    tools: count,
  });
}

function confirmation(p: Parts): z.ZodType {
  return p.object({
    id,
    node: path,
    attempt: count.min(1),
    state: z.enum(["requested", "approved", "rejected", "expired", "cancelled"]),
    prompt: text,
    deadline: count.exactOptional(),
    requestedAt: count,
    resolvedAt: count.exactOptional(),
    by: text.exactOptional(),
  });
}

function call(p: Parts): z.ZodType {
  return p.object({
    call: id,
    node: path,
    attempt: count.min(1),
    kind: z.enum(["llm", "tool"]),
    name: text,
    startedAt: count,
    texts: p.object({
      text: text.exactOptional(),
      reasoning: text.exactOptional(),
      object: text.exactOptional(),
    }),
  });
}

function log(p: Parts): z.ZodType {
  return p.object({
    seq: count.min(1),
    ts: count,
    node: path.exactOptional(),
    level: text,
    channel: text,
    text,
    code: text.exactOptional(),
  });
}

function failure(p: Parts): z.ZodType {
  return p.object({ node: path, attempt: count.min(1), code, message, routed: text });
}
