/** Flows for made-up logs: a few nodes, edges that point forward, bodies in some of them. */
import type { FlowEdge, FlowGraph, FlowNode } from "@millrace/contracts";
import { graphWith } from "../graph.ts";
import type { Dice } from "./dice.ts";

const LEAVES = ["http.request", "transform", "confirm", "ai", "delay"];
const CONTAINERS = ["map", "loop", "subflow"];
const MAX_DEPTH = 2;

/** A flow of at most `maxNodes` top-level nodes. */
export function makeFlow(dice: Dice, maxNodes: number): FlowGraph {
  const nodes = makeNodes(dice, dice.between(0, maxNodes), "n", 0);
  return graphWith({
    id: "made-up",
    nodes,
    edges: makeEdges(dice, nodes),
  });
}

function makeNodes(dice: Dice, count: number, prefix: string, depth: number): FlowNode[] {
  return Array.from({ length: count }, (_, i) => {
    const isContainer = depth < MAX_DEPTH && dice.chance(0.3);
    const type = dice.pick(isContainer ? CONTAINERS : LEAVES);
    const node = { id: `${prefix}${i}`, type, fields: {} };
    if (type !== "map" && type !== "loop") return node;
    const nodes = makeNodes(dice, dice.between(1, 2), `${prefix}${i}-`, depth + 1);
    return { ...node, body: { nodes, edges: makeEdges(dice, nodes) } };
  });
}

/** Edges from earlier nodes to later ones, so there is no cycle. */
function makeEdges(dice: Dice, nodes: readonly FlowNode[]): FlowEdge[] {
  return nodes.flatMap((to, i) => {
    if (i === 0 || dice.chance(0.4)) return [];
    const sources = new Set([dice.between(0, i - 1), dice.between(0, i - 1)]);
    return Array.from(sources, (from) => ({
      from: (nodes[from] as FlowNode).id,
      port: dice.pick(["out", "out", "error"]),
      to: to.id,
    }));
  });
}
