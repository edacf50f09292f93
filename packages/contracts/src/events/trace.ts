/**
 * The spans of a run: which attempt, call and wait lasted from when to when. What a timeline shows.
 *   T1  what is kept is a function of the log alone: readers that fold one log, at once or in parts, hold equal traces.
 *   T2  an open span and the attempts of top-level nodes are never forgotten.
 */
import { present } from "../kit/objects.ts";
import type { Growing } from "./sums.ts";
import type { Usage } from "./types.ts";

/** Spans that a trace keeps: more than a timeline can show, some 10 MB in memory. */
const MAX_SPANS = 50_000;

/** `node`: one attempt of a node. `llm`, `tool`: one call. `wait`: a node that waits, also for its next attempt. */
export type SpanKind = "node" | "llm" | "tool" | "wait";

/** Where a span is; the first two are open. An attempt that is tried again has failed, a denied tool call too. */
export type SpanState = "running" | "waiting" | "succeeded" | "failed" | "cancelled";

/** One span; keys in canonical order. A key whose value is `undefined` counts as absent. */
export interface SpanView {
  readonly node: string;
  /** Attempt of the node; that of a wait for the next attempt is the one before. */
  readonly attempt: number;
  readonly kind: SpanKind;
  /** Type of the node, model, tool, or what is waited for: `confirm`, `timer`, `slot`, `child`, `retry`. */
  readonly name: string;
  /** Id of a model or tool call. */
  readonly call?: string | undefined;
  readonly startedAt: number;
  /** Absent: the span is open, or a snapshot did not tell. */
  readonly endedAt?: number | undefined;
  readonly state: SpanState;
  /** The event that opened the span: no other span has it, except those that come from one snapshot. */
  readonly firstSeq: number;
  /** Last event of the span so far. */
  readonly lastSeq: number;
  /** Tokens of a model call; of a node: the sum over the closed calls of that attempt. */
  readonly usage?: Usage | undefined;
  /** US dollars of a model call, or the sum of those of a node; null: a price is unknown. */
  readonly costUsd?: number | null | undefined;
}

/** A trace as JSON: equal traces give equal text. */
export interface TraceJson {
  readonly v: 1;
  readonly runId: string;
  /** Last event that was folded in. */
  readonly seq: number;
  /** `seq` of the snapshot that the trace began with: what ended before it is not known. 0: the trace is whole. */
  readonly since: number;
  readonly startedAt: number | null;
  readonly updatedAt: number;
  /** In the order in which they were opened. */
  readonly spans: readonly SpanView[];
  /** Spans that were forgotten. */
  readonly trimmed: number;
}

/** A span of a trace in memory. */
export interface LiveSpan extends Growing<SpanView> {
  /** Position of its opening. */
  readonly order: number;
}

/** Open spans of a node. */
interface OpenNode {
  readonly attempt: LiveSpan | undefined;
  readonly wait: LiveSpan | undefined;
}

/** The trace of a run in memory: what `foldTrace` changes and a timeline reads. */
export interface Trace extends Growing<Omit<TraceJson, "v" | "spans">> {
  /** By position of their opening, in that order. */
  spans: Map<number, LiveSpan>;
  /** How many spans were opened. */
  opened: number;
  /** Open attempts and waits by path. */
  openNodes: Map<string, OpenNode>;
  /** Open calls by id. */
  openCalls: Map<string, LiveSpan>;
  /** Settled spans that may be forgotten, the oldest first, from `settledFrom` on. */
  settled: LiveSpan[];
  settledFrom: number;
}

/** An empty trace. Without `runId` it takes that of the first event. */
export function createTrace(runId = ""): Trace {
  return {
    runId,
    seq: 0,
    since: 0,
    startedAt: null,
    updatedAt: 0,
    spans: new Map(),
    trimmed: 0,
    opened: 0,
    openNodes: new Map(),
    openCalls: new Map(),
    settled: [],
    settledFrom: 0,
  };
}

/** Adds a span; it is open when its state says so. */
export function addSpan(trace: Trace, span: SpanView): LiveSpan {
  const live: LiveSpan = {
    node: span.node,
    attempt: span.attempt,
    kind: span.kind,
    name: span.name,
    call: span.call,
    startedAt: span.startedAt,
    endedAt: span.endedAt,
    state: span.state,
    firstSeq: span.firstSeq,
    lastSeq: span.lastSeq,
    usage: span.usage,
    costUsd: span.costUsd,
    order: trace.opened,
  };
  trace.opened += 1;
  trace.spans.set(live.order, live);
  if (isOpen(live)) markOpen(trace, live);
  trim(trace);
  return live;
}

/** Whether the span goes on. */
export function isOpen({ state }: SpanView): boolean {
  return state === "running" || state === "waiting";
}

/** Remembers a settled span as one that may be forgotten. Of one event, spans settle in the order of their opening. */
export function markSettled(trace: Trace, span: LiveSpan): void {
  if (span.kind !== "node" || span.node.includes("/")) trace.settled.push(span);
  trim(trace);
}

function markOpen(trace: Trace, span: LiveSpan): void {
  if (span.call !== undefined) {
    trace.openCalls.set(span.call, span);
    return;
  }
  const { attempt, wait } = trace.openNodes.get(span.node) ?? {};
  const open = span.kind === "wait" ? { attempt, wait: span } : { attempt: span, wait };
  trace.openNodes.set(span.node, open);
}

function trim(trace: Trace): void {
  while (trace.spans.size > MAX_SPANS && trace.settledFrom < trace.settled.length) {
    trace.spans.delete((trace.settled[trace.settledFrom] as LiveSpan).order);
    trace.settledFrom += 1;
    trace.trimmed += 1;
  }
  if (trace.settledFrom < MAX_SPANS) return;
  trace.settled = trace.settled.slice(trace.settledFrom); // once in so many spans, so that one span costs the same
  trace.settledFrom = 0;
}

/** A copy of the trace as JSON; later folding does not change it. */
export function traceToJson(trace: Trace): TraceJson {
  const { runId, seq, since, startedAt, updatedAt, trimmed } = trace;
  const spans = Array.from(trace.spans.values(), ({ order, ...span }) => present(span));
  return { v: 1, runId, seq, since, startedAt, updatedAt, spans, trimmed };
}

/** The trace of its JSON form, ready to fold on: it ends where folding on from the trace itself ends. */
export function traceFromJson(json: TraceJson): Trace {
  const { runId, seq, since, startedAt, updatedAt, trimmed } = json;
  const trace = Object.assign(createTrace(runId), { seq, since, startedAt, updatedAt, trimmed });
  const settled = json.spans.map((span) => addSpan(trace, span)).filter((span) => !isOpen(span));
  settled.sort((a, b) => a.lastSeq - b.lastSeq || a.order - b.order);
  for (const span of settled) markSettled(trace, span);
  return trace;
}
