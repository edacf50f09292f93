/** Graphs of the executor suites, of core node types alone. */
import type { FieldValue, FlowGraph, FlowNode } from "@millrace/contracts";

/** A node without policy. */
export function node(
  id: string,
  type: string,
  fields: { readonly [name: string]: FieldValue } = {},
): FlowNode {
  return { id, type, fields };
}

/** A flow whose nodes follow each other; a `confirm` is left by `approved`. */
export function chain(id: string, nodes: readonly FlowNode[]): FlowGraph {
  const edges = nodes.slice(1).map((to, index) => {
    const from = nodes[index] as FlowNode;
    return { from: from.id, port: from.type === "confirm" ? "approved" : "out", to: to.id };
  });
  const none = { inputs: [], outputs: [], connections: [], schedules: [], layout: {} };
  return { version: 1, id, nodes, edges, ...none };
}
