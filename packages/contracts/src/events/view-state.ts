/**
 * Building and bounding a view. What is kept is a function of the log alone, so two readers of one log hold the same.
 *   V1  `nodes` loses settled body nodes only, the oldest first: by time of settling, then by order of appearance, which
 *       are both in the JSON form, so a view that was saved and restored forgets in the same order.
 *   V2  `counts` and `bodyCounts` never forget.
 */
import { VIEW_LIMITS } from "./limits.ts";
import { NO_COUNTS, NO_USAGE } from "./sums.ts";
import type { LiveConfirmation, LiveNode, RunView } from "./view.ts";
import type { NodeState, NodeView } from "./view-parts.ts";

/** An empty view. Without `runId` it takes that of the first event. */
export function createView(runId = ""): RunView {
  return {
    runId,
    seq: 0,
    state: "pending",
    startedAt: null,
    updatedAt: 0,
    flow: null,
    nodeCount: 0,
    onFailure: null,
    trigger: null,
    paused: null,
    cancelReason: null,
    nodes: new Map(),
    confirmations: new Map(),
    calls: new Map(),
    counts: { ...NO_COUNTS },
    bodyCounts: { ...NO_COUNTS },
    usage: { ...NO_USAGE },
    costUsd: 0,
    logs: [],
    warnings: 0,
    failures: [],
    trimmed: 0,
    summary: null,
    settled: [],
    resolved: [],
    appeared: 0,
  };
}

const NO_CHECKS: NodeView["checks"] = Object.freeze({ passed: 0, failed: 0, warned: 0 });

/** A node that nothing is known of yet; every key is there from the start, so all nodes share one shape. */
export function pendingNode(path: string, order: number): LiveNode {
  return {
    node: path,
    state: "pending",
    attempt: 1,
    type: undefined,
    startedAt: undefined,
    endedAt: undefined,
    durationMs: undefined,
    waitingOn: undefined,
    until: undefined,
    progress: undefined,
    ports: undefined,
    output: undefined,
    outputRef: undefined,
    error: undefined,
    routed: undefined,
    why: undefined,
    cached: undefined,
    retries: 0,
    nextAt: undefined,
    checks: NO_CHECKS,
    text: undefined,
    textCall: undefined,
    tools: 0,
    order,
  };
}

/** Forgets what belonged to an earlier attempt; `type`, `retries` and the place stay. */
export function beginAttempt(node: LiveNode, attempt: number, ts: number): void {
  node.attempt = attempt;
  node.startedAt = ts;
  node.endedAt = undefined;
  node.durationMs = undefined;
  node.waitingOn = undefined;
  node.until = undefined;
  node.progress = undefined;
  node.ports = undefined;
  node.output = undefined;
  node.outputRef = undefined;
  node.error = undefined;
  node.routed = undefined;
  node.why = undefined;
  node.cached = undefined;
  node.nextAt = undefined;
  node.checks = NO_CHECKS;
  node.text = undefined;
  node.textCall = undefined;
  node.tools = 0;
}

/** The node at `path`; a new one appears as pending. */
export function nodeAt(view: RunView, path: string): LiveNode {
  let node = view.nodes.get(path);
  if (node === undefined) {
    node = pendingNode(path, view.appeared);
    view.appeared += 1;
    view.nodes.set(path, node);
  }
  return node;
}

/** Moves a node into a state that is not terminal. */
export function reopen(view: RunView, node: LiveNode, state: NodeState): void {
  if (isTerminal(node.state)) uncount(view, node, node.state);
  node.state = state;
}

/** Moves a node into a terminal state, counts it, and forgets the oldest body node beyond the bound. */
export function settle(view: RunView, node: LiveNode, state: TerminalState, ts: number): void {
  if (isTerminal(node.state)) uncount(view, node, node.state);
  node.state = state;
  node.endedAt = ts;
  node.waitingOn = undefined;
  node.until = undefined;
  node.nextAt = undefined;
  if (!isBodyPath(node.node)) {
    view.counts[state] += 1;
    return;
  }
  view.bodyCounts[state] += 1;
  enqueue(view.settled, node, settledAt);
  if (view.settled.length > VIEW_LIMITS.settled) {
    view.nodes.delete((view.settled.shift() as LiveNode).node);
    view.trimmed += 1;
  }
}

/** Whether the path lies in the body of another node. */
export function isBodyPath(path: string): boolean {
  return path.includes("/");
}

/** Closes a confirmation and forgets the oldest resolved one beyond the bound. */
export function resolve(view: RunView, confirmation: LiveConfirmation): void {
  enqueue(view.resolved, confirmation, resolvedAt);
  if (view.resolved.length > VIEW_LIMITS.resolved) {
    view.confirmations.delete((view.resolved.shift() as LiveConfirmation).id);
  }
}

/** The order in which settled nodes are forgotten. */
export function settledAt(node: LiveNode): number {
  return node.endedAt ?? 0;
}

/** The order in which resolved confirmations are forgotten. */
export function resolvedAt(confirmation: LiveConfirmation): number {
  return confirmation.resolvedAt ?? 0;
}

/** Inserts by time, then by appearance: at the end, or near it where several things happen within a millisecond. */
export function enqueue<T extends { order: number }>(
  queue: T[],
  item: T,
  timeOf: (item: T) => number,
): void {
  const time = timeOf(item);
  let at = queue.length;
  for (; at > 0; at -= 1) {
    const before = queue[at - 1] as T;
    const difference = timeOf(before) - time || before.order - item.order;
    if (difference <= 0) break;
  }
  if (at === queue.length) queue.push(item);
  else queue.splice(at, 0, item);
}

/** States of a node that is over. @see `isTerminal` */
export type TerminalState = "succeeded" | "failed" | "skipped" | "cancelled";

/** Whether a node in this state is over. */
export function isTerminal(state: NodeState): state is TerminalState {
  return (
    state === "succeeded" || state === "failed" || state === "skipped" || state === "cancelled"
  );
}

/** Takes back what `settle` counted: the log says that a settled node goes on. */
function uncount(view: RunView, node: LiveNode, state: TerminalState): void {
  if (!isBodyPath(node.node)) {
    view.counts[state] -= 1;
    return;
  }
  view.bodyCounts[state] -= 1;
  const at = view.settled.indexOf(node);
  if (at >= 0) view.settled.splice(at, 1);
}
