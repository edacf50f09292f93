/**
 * The reducer of spans, beside that of states: a log as what lasted from when to when. It keeps the rules of `foldEvents`:
 * it never throws, an event costs the same however long the log is, an event that was folded before changes nothing.
 */
import { addSpan, createTrace, isOpen, type LiveSpan, markSettled, type Trace } from "./trace.ts";
import type { AnyEvent, ExecutionEvent, LlmFailed, LlmFinished, Usage } from "./types.ts";
import type { NodeView, RunViewJson } from "./view-parts.ts";

/**
 * Applies `event` to `trace`, which it changes and answers. An event that was folded before (`seq <= trace.seq`) is ignored,
 * a `snapshot` too. A later `snapshot` replaces the trace by what its view tells: the last attempt of each node that it
 * keeps, and the open calls; `since` is then its `seq`. Unknown kinds move `seq` and `updatedAt` only.
 */
export function foldTrace(trace: Trace, event: AnyEvent): Trace {
  const e = event as ExecutionEvent;
  if (e.seq <= trace.seq) return trace;
  try {
    if (e.kind === "snapshot") return Object.assign(trace, traceOfView(e.view, e.seq));
    trace.seq = e.seq;
    trace.updatedAt = e.ts;
    if (trace.runId === "") trace.runId = e.runId;
    apply(trace, e);
  } catch {
    // Only a payload that is not of its kind gets here.
  }
  return trace;
}

function apply(trace: Trace, e: ExecutionEvent): void {
  touch(trace, e);
  switch (e.kind) {
    case "run.started":
      trace.startedAt = e.ts;
      break;
    case "node.started":
      leave(trace, e, "cancelled"); // ends what an illegal log has left open; a wait for this attempt has succeeded
      open(trace, e, { kind: "node", name: e.type });
      break;
    case "node.retrying":
      leave(trace, e, "failed");
      open(trace, e, { kind: "wait", name: "retry" });
      break;
    case "node.waiting":
      endWait(trace, e, "succeeded");
      setRunning(trace, e, "waiting");
      open(trace, e, { kind: "wait", name: e.on });
      break;
    case "node.resumed":
      endWait(trace, e, "succeeded");
      setRunning(trace, e, "running");
      break;
    case "node.succeeded":
      leave(trace, e, "succeeded");
      break;
    case "node.failed":
      leave(trace, e, "failed");
      break;
    case "node.skipped":
    case "node.cancelled":
      leave(trace, e, "cancelled");
      break;
    case "llm.started":
      openCall(trace, e, "llm", e.model);
      break;
    case "llm.finished":
    case "llm.failed":
      endModelCall(trace, e);
      break;
    case "tool.started":
      openCall(trace, e, "tool", e.tool);
      break;
    case "tool.finished":
      endCall(trace, e, OUTCOMES[e.outcome] ?? "failed");
      break;
    default:
  }
}

type NodeEvent = { readonly node: string; readonly attempt: number };
type Step = { readonly seq: number; readonly ts: number };
type EndState = "succeeded" | "failed" | "cancelled";

const OUTCOMES: { readonly [outcome: string]: EndState | undefined } = {
  ok: "succeeded",
  cancelled: "cancelled",
};

/** Counts an event to the open spans that it is about. */
function touch(trace: Trace, e: ExecutionEvent): void {
  if (!("node" in e) || e.node === undefined) return;
  const { attempt, wait } = trace.openNodes.get(e.node) ?? {};
  if (attempt !== undefined) attempt.lastSeq = e.seq;
  if (wait !== undefined) wait.lastSeq = e.seq;
  if (!("call" in e)) return;
  const call = trace.openCalls.get(e.call);
  if (call !== undefined) call.lastSeq = e.seq;
}

function open(
  trace: Trace,
  { node, attempt, ts, seq }: NodeEvent & Step,
  what: Pick<LiveSpan, "kind" | "name" | "call">,
): void {
  const state = what.kind === "wait" ? "waiting" : "running";
  addSpan(trace, { node, attempt, ...what, startedAt: ts, state, firstSeq: seq, lastSeq: seq });
}

function openCall(
  trace: Trace,
  e: NodeEvent & Step & { readonly call: string },
  kind: "llm" | "tool",
  name: string,
): void {
  endCall(trace, e, "cancelled"); // an illegal log may use an id twice
  open(trace, e, { kind, name, call: e.call });
}

function end(trace: Trace, span: LiveSpan, { ts, seq }: Step, state: EndState): void {
  span.endedAt = ts;
  span.state = state;
  span.lastSeq = seq;
  markSettled(trace, span);
}

/** Ends what is open of a node: its attempt, which was opened first, and its wait. */
function leave(trace: Trace, e: NodeEvent & Step & { readonly kind: string }, state: EndState) {
  const known = trace.openNodes.get(e.node);
  if (known === undefined) return;
  trace.openNodes.delete(e.node);
  if (known.attempt !== undefined) end(trace, known.attempt, e, state);
  const waited = e.kind === "node.started" ? "succeeded" : state;
  if (known.wait !== undefined) end(trace, known.wait, e, waited);
}

function endWait(trace: Trace, e: NodeEvent & Step, state: EndState): void {
  const known = trace.openNodes.get(e.node);
  if (known?.wait === undefined) return;
  trace.openNodes.set(e.node, { attempt: known.attempt, wait: undefined });
  end(trace, known.wait, e, state);
}

function setRunning(trace: Trace, { node }: NodeEvent, state: "running" | "waiting"): void {
  const attempt = trace.openNodes.get(node)?.attempt;
  if (attempt !== undefined) attempt.state = state;
}

function endCall(
  trace: Trace,
  e: Step & { readonly call: string },
  state: EndState,
): LiveSpan | undefined {
  const span = trace.openCalls.get(e.call);
  if (span === undefined) return undefined;
  trace.openCalls.delete(e.call);
  end(trace, span, e, state);
  return span;
}

function endModelCall(trace: Trace, e: LlmFinished | LlmFailed): void {
  const span = endCall(trace, e, e.kind === "llm.finished" ? "succeeded" : "failed");
  if (span === undefined) return;
  span.usage = e.usage;
  span.costUsd = e.costUsd;
  const attempt = trace.openNodes.get(span.node)?.attempt;
  if (attempt === undefined) return;
  if (e.usage !== undefined) attempt.usage = sumOf(attempt.usage, e.usage);
  const { costUsd = 0 } = e; // as in a summary: a failed call without a price cost nothing
  const before = attempt.costUsd === undefined ? 0 : attempt.costUsd;
  attempt.costUsd = before === null || costUsd === null ? null : before + costUsd;
}

function sumOf(sum: Usage | undefined, usage: Usage): Usage {
  if (sum === undefined) return usage;
  const total: { -readonly [K in keyof Usage]: Usage[K] } = { ...sum };
  for (const key of Object.keys(usage) as (keyof Usage)[]) {
    total[key] = (total[key] ?? 0) + (usage[key] ?? 0);
  }
  return total;
}

/** The spans of a view. A view does not hold the start of a wait: such a node is `waiting`, without a span of the wait. */
function traceOfView(view: RunViewJson, seq: number): Trace {
  const trace = createTrace(view.runId);
  Object.assign(trace, { seq, since: seq, startedAt: view.startedAt, updatedAt: view.updatedAt });
  for (const node of view.nodes) addNode(trace, node, seq);
  for (const { call, node, attempt, kind, name, startedAt } of view.calls) {
    open(trace, { node, attempt, ts: startedAt, seq }, { kind, name, call });
  }
  return trace;
}

function addNode(trace: Trace, view: NodeView, seq: number): void {
  const { node, attempt, type, startedAt, endedAt, state } = view;
  if (startedAt === undefined || type === undefined || state === "pending" || state === "skipped") {
    return;
  }
  const span = addSpan(trace, {
    node,
    attempt,
    kind: "node",
    name: type,
    startedAt,
    endedAt,
    state: state === "retrying" ? "failed" : state,
    firstSeq: seq,
    lastSeq: seq,
  });
  if (!isOpen(span)) markSettled(trace, span);
}
