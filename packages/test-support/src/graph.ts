/** Graphs of tests. */
import type { FlowGraph } from "@millrace/contracts";

/** A graph of these parts; what is not given is empty, and its id `g`. */
export function graphWith(parts: Partial<FlowGraph>): FlowGraph {
  const none = { inputs: [], edges: [], outputs: [], connections: [], schedules: [], layout: {} };
  return { version: 1, id: "g", nodes: [], ...none, ...parts };
}
