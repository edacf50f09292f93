/**
 * The objects of events, keys in wire order. Those of every run and node are made in one place each, so that all of a kind share one
 * hidden class and need no room beside it; rarer ones are put together from their place and what is said.
 */
import type { ExecutionEvent, Json, Kind, ValueRef } from "@millrace/contracts";

/** Payload of an event of this kind, without its place. */
export type Said<K extends Kind> = SaidBy<Extract<ExecutionEvent, { kind: K }>>;
type SaidBy<E> = E extends unknown
  ? Omit<E, "v" | "kind" | "runId" | "seq" | "ts" | "node" | "attempt">
  : never;

/** Makes events with `new`; these are plain objects all the same. */
type Maker<A extends readonly unknown[]> = new (...said: A) => ExecutionEvent;

/**
 * A literal that survives its first collections is made in the old space from then on, where it stays until all of the heap is looked
 * through: every node takes half as long again for the rest of the process. What `new` makes always begins in the young space.
 */
function maker<A extends readonly unknown[]>(
  fill: (this: { [key: string]: unknown }, ...said: A) => void,
): Maker<A> {
  fill.prototype = Object.prototype;
  return fill as never;
}

type OfAttempt = [runId: string, seq: number, ts: number, node: string, attempt: number];

/** `node.started`; a digest of what it starts with may follow. */
export const NodeStarted: Maker<[...OfAttempt, type: string]> = maker(
  function (runId, seq, ts, node, attempt, type) {
    this["v"] = 1;
    this["kind"] = "node.started";
    this["runId"] = runId;
    this["seq"] = seq;
    this["ts"] = ts;
    this["node"] = node;
    this["attempt"] = attempt;
    this["type"] = type;
  },
);

/** `node.succeeded` of a record that leaves by `out` and fits on its event. */
export const NodeSucceeded: Maker<[...OfAttempt, output: Json, durationMs: number]> = maker(
  function (runId, seq, ts, node, attempt, output, durationMs) {
    this["v"] = 1;
    this["kind"] = "node.succeeded";
    this["runId"] = runId;
    this["seq"] = seq;
    this["ts"] = ts;
    this["node"] = node;
    this["attempt"] = attempt;
    this["output"] = output;
    this["durationMs"] = durationMs;
  },
);

/** The same where the record is kept beside the log. */
export const succeededLarge = (
  runId: string,
  seq: number,
  ts: number,
  node: string,
  attempt: number,
  outputRef: ValueRef,
  durationMs: number,
): ExecutionEvent => ({
  v: 1,
  kind: "node.succeeded",
  runId,
  seq,
  ts,
  node,
  attempt,
  outputRef,
  durationMs,
});

/** `run.started` of a run without a template, tags and an earlier run. */
export const runStarted = (
  runId: string,
  seq: number,
  ts: number,
  { flow, nodeCount, onFailure, inputs, trigger }: Said<"run.started">,
): ExecutionEvent => ({
  v: 1,
  kind: "run.started",
  runId,
  seq,
  ts,
  flow,
  nodeCount,
  onFailure,
  inputs,
  trigger,
});

export const runPaused = (
  runId: string,
  seq: number,
  ts: number,
  { reason, confirmations }: Said<"run.paused">,
): ExecutionEvent => ({ v: 1, kind: "run.paused", runId, seq, ts, reason, confirmations });

/** `node.waiting` for answers of people. */
export const waitingForAnswers = (
  runId: string,
  seq: number,
  ts: number,
  node: string,
  attempt: number,
  ids: readonly string[],
): ExecutionEvent => ({
  v: 1,
  kind: "node.waiting",
  runId,
  seq,
  ts,
  node,
  attempt,
  on: "confirm",
  ids,
});

/** `confirm.requested` of a question with nothing but its text. */
export const requested = (
  runId: string,
  seq: number,
  ts: number,
  node: string,
  attempt: number,
  id: string,
  prompt: string,
): ExecutionEvent => ({
  v: 1,
  kind: "confirm.requested",
  runId,
  seq,
  ts,
  node,
  attempt,
  id,
  prompt,
});

/** Any event of a node. */
export const ofNode = (
  kind: Kind,
  runId: string,
  seq: number,
  ts: number,
  node: string,
  attempt: number,
  said: object,
): ExecutionEvent =>
  ({ v: 1, kind, runId, seq, ts, node, attempt, ...said }) as unknown as ExecutionEvent;

/** Any event of the run itself. */
export const ofRun = (
  kind: Kind,
  runId: string,
  seq: number,
  ts: number,
  said: object,
): ExecutionEvent => ({ v: 1, kind, runId, seq, ts, ...said }) as unknown as ExecutionEvent;

// V8 gives every event a copy of its `ts`, 16 bytes, while that has only ever been a number; otherwise events of one time share it.
// A shape is forgotten when nothing has it, so each maker keeps one.
const NO_TIME = undefined as unknown as number;
const NO_REF = { ref: "", bytes: 0, mediaType: "" };
Object.assign(NodeStarted, { shape: new NodeStarted("", 1, NO_TIME, "", 1, "") });
Object.assign(NodeSucceeded, { shape: new NodeSucceeded("", 1, NO_TIME, "", 1, null, 0) });
Object.assign(succeededLarge, { shape: succeededLarge("", 1, NO_TIME, "", 1, NO_REF, 0) });
const NO_START = { flow: "", nodeCount: 0, onFailure: "stop", inputs: "", trigger: "embed" };
Object.assign(runStarted, { shape: runStarted("", 1, NO_TIME, NO_START as never) });
const NO_PAUSE = { reason: "operator", confirmations: [] } as const;
Object.assign(runPaused, { shape: runPaused("", 1, NO_TIME, NO_PAUSE) });
Object.assign(waitingForAnswers, { shape: waitingForAnswers("", 1, NO_TIME, "", 1, []) });
Object.assign(requested, { shape: requested("", 1, NO_TIME, "", 1, "", "") });
Object.assign(ofNode, { shape: ofNode("log", "", 1, NO_TIME, "", 1, {}) });
Object.assign(ofRun, { shape: ofRun("log", "", 1, NO_TIME, {}) });
