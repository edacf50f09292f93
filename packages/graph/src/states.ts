/** States of a run on the drawing of its flow: colours that can be told apart on light and dark. */
import type { NodeState, RunView } from "@millrace/contracts";
import type { DrawnNode } from "./drawing.ts";

/** Stroke by state; a node that did not run has none of its own. Where the items of a body differ, the first of these wins. */
const STATE_COLOURS: ReadonlyMap<NodeState, string> = new Map([
  ["failed", "#e5534b"],
  ["cancelled", "#bc4c00"],
  ["running", "#388bfd"],
  ["retrying", "#a371f7"],
  ["waiting", "#d29922"],
  ["succeeded", "#2da44e"],
]);

/** State of each node that ran, by its path in the flow (`pages/one`); a node of a body has one state for all its items. */
export function nodeStates({ nodes }: RunView): Map<string, NodeState> {
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

/** The stroke of a node as `#rrggbb`, undefined without a state. */
export function strokeOf({ state }: DrawnNode): string | undefined {
  return state && STATE_COLOURS.get(state);
}
