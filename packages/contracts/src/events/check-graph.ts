/** Checks that need the graph: I4 (no node starts before its dependencies), and when I9 requires a pause. */

import {
  type CheckState,
  type NodeRecord,
  pathBeside,
  report,
  type Waits,
  waitsOf,
} from "./check-state.ts";
import type { NodeSkipped, NodeStarted } from "./types.ts";
import { isTerminal } from "./view-state.ts";

/** A node begins, or is passed over, when all that it waits for is over; it begins only when something leads to it. */
export function checkReady(state: CheckState, e: NodeStarted | NodeSkipped): void {
  if (state.scope === undefined) return;
  if (e.kind === "node.skipped" ? e.why === "run_ended" : e.attempt > 1) return;
  const waits = waitsOf(state.scope, e.node);
  if (waits === undefined) return;
  const unresolved =
    waits.reads.find(({ from }) => !isOver(state, pathBeside(e.node, from))) ??
    (waits.isEarly
      ? undefined
      : waits.edges.find(({ from }) => !isOver(state, pathBeside(e.node, from))));
  if (unresolved !== undefined) {
    report(state, e, "I4", `${e.kind} of ${e.node} before ${unresolved.from} is resolved`);
  } else if (e.kind === "node.started" && !isLive(state, e.node, waits)) {
    report(state, e, "I4", `${e.node} starts, and no edge to it is live`);
  }
}

/**
 * Whether the run can do nothing but wait for an answer. Says so only where the log shows all of it: with a body open,
 * what it does next is not in the graph alone.
 */
export function mustPause(state: CheckState): boolean {
  if (state.scope === undefined || state.run !== "running" || state.openConfirmations.size === 0) {
    return false;
  }
  if (state.firstFailure !== undefined && state.started?.onFailure === "stop") return false;
  const asking = new Set<NodeRecord>();
  for (const { node } of state.openConfirmations) asking.add(node);
  for (const node of state.openNodes) {
    const isAsking = node.state === "waiting" && node.waitingOn === "confirm" && asking.has(node);
    if (!isAsking || node.openChildren > 0) return false;
  }
  for (const [id, waits] of state.scope.nodes) {
    if (!state.nodes.has(id) && isDecided(state, waits)) return false;
  }
  return true;
}

function isDecided(state: CheckState, waits: Waits): boolean {
  if (waits.reads.some(({ from }) => !isOver(state, from))) return false;
  if (waits.edges.every(({ from }) => isOver(state, from))) return true;
  if (!waits.isEarly) return false;
  // Enough edges to run, or too many dead ones: how many are enough is not told here, so one of either kind may do.
  return waits.edges.some(({ from }) => isOver(state, from));
}

function isOver(state: CheckState, path: string): boolean {
  const node = state.nodes.get(path);
  return node !== undefined && isTerminal(node.state);
}

function isLive(state: CheckState, path: string, { edges }: Waits): boolean {
  if (edges.length === 0) return true;
  return edges.some(({ from, port }) => {
    const node = state.nodes.get(pathBeside(path, from));
    return node !== undefined && leaves(node, port);
  });
}

/** Whether the node has left by this port. */
function leaves(node: NodeRecord, port: string): boolean {
  if (node.state === "succeeded") return node.ports?.includes(port) === true;
  if (node.state !== "failed") return false;
  return node.routed === "port" ? port === "error" : node.routed === "default" && port === "out";
}
