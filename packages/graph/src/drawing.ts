/**
 * A flow as something to draw: nodes with their bodies, and every edge between nodes of one body, written or implied by a
 * reference.
 */
import type { FlowBody, FlowGraph, FlowNode, NodeState } from "@millrace/contracts";
import { impliedEdges } from "@millrace/dsl";

/** A node. `path`: ids from the flow inwards, joined by `/`; `body`: what a `map` or `loop` repeats. */
export interface DrawnNode {
  readonly path: string;
  readonly id: string;
  readonly type: string;
  readonly body?: Drawing;
  /** Its state in the run that is drawn. */
  readonly state?: NodeState;
}

/** An arrow between two paths of one drawing. `port` is absent for `out`; `implied`: made by a reference, not written as an edge. */
export interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  readonly port?: string;
  readonly implied?: true;
}

/** The nodes and edges of a flow or of a body. */
export interface Drawing {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

/**
 * The drawing of a flow. `states`: of its nodes in a run, by path (`nodeStates`). Edges to missing nodes, to the node itself and
 * repeated ones are left out: `validateFlow` reports them.
 */
export function drawFlow(
  graph: FlowGraph,
  states: ReadonlyMap<string, NodeState> = new Map(),
): Drawing {
  const implied = new Map<string, DrawnEdge[]>();
  for (const { from, to } of impliedEdges(graph)) {
    const depth = from.split("/").length;
    const waiting = to.split("/").slice(0, depth).join("/");
    const body = from.split("/").slice(0, -1).join("/");
    const edges = implied.get(body) ?? [];
    edges.push({ from, to: waiting, implied: true });
    implied.set(body, edges);
  }
  return draw(graph, "", implied, states);
}

function draw(
  { nodes, edges }: Pick<FlowBody, "nodes" | "edges">,
  owner: string,
  implied: ReadonlyMap<string, readonly DrawnEdge[]>,
  states: ReadonlyMap<string, NodeState>,
): Drawing {
  const pathOf = (id: string): string => (owner === "" ? id : `${owner}/${id}`);
  const known = new Set(nodes.map(({ id }) => pathOf(id)));
  const written = edges.map(
    ({ from, port, to }): DrawnEdge => ({
      from: pathOf(from),
      to: pathOf(to),
      ...(port !== "out" && { port }),
    }),
  );
  const pairs = new Set<string>();
  const drawn: DrawnEdge[] = [];
  for (const edge of [...written, ...(implied.get(owner) ?? [])]) {
    const { from, to, port = "" } = edge;
    const pair = JSON.stringify([from, to]);
    const isKnown = known.has(from) && known.has(to) && from !== to;
    if (!isKnown || (edge.implied && pairs.has(pair)) || pairs.has(`${pair} ${port}`)) continue;
    pairs.add(pair).add(`${pair} ${port}`);
    drawn.push(edge);
  }
  const drawNode = ({ id, type, body }: FlowNode): DrawnNode => {
    const path = pathOf(id);
    const state = states.get(path);
    return {
      path,
      id,
      type,
      ...(body !== undefined && { body: draw(body, path, implied, states) }),
      ...(state !== undefined && { state }),
    };
  };
  return { nodes: nodes.map(drawNode), edges: drawn };
}
