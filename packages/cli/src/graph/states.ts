/** How the nodes of a run stand, on a picture of its flow: colours that can be told apart on light and dark. */
import type { NodeState, RunView } from "@millrace/contracts";
import type { DrawnNode } from "./drawing.ts";

/** Stroke of a node in this state; one that did not run has the stroke of all. The first of them wins where items of a body differ. */
const STATE_COLOURS: ReadonlyMap<NodeState, string> = new Map([
  ["failed", "#e5534b"],
  ["cancelled", "#bc4c00"],
  ["running", "#388bfd"],
  ["retrying", "#a371f7"],
  ["waiting", "#d29922"],
  ["succeeded", "#2da44e"],
]);

/** State of each node of the flow by its path; a node of a body stands for all its items. */
export function statesOf({ nodes }: RunView): Map<string, NodeState> {
  const rank = [...STATE_COLOURS.keys()];
  const states = new Map<string, NodeState>();
  for (const { node, state } of nodes.values()) {
    const path = node.replace(/\[\d+\]|~\d+/g, "");
    const before = states.get(path);
    const isWorse = rank.includes(state) && rank.indexOf(state) < rank.indexOf(before ?? state);
    if (before === undefined || !rank.includes(before) || isWorse) states.set(path, state);
  }
  return states;
}

/** The stroke of a node, where its state has one. */
export function strokeOf({ state }: DrawnNode): string | undefined {
  return state && STATE_COLOURS.get(state);
}
