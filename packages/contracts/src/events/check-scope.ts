/** The edges of a graph, written and implied, by the scope that their nodes live in: the flow, and each body in it. */
import type { FlowBody, FlowGraph, FlowNode } from "../graph.ts";

/**
 * The node `to` reads the node `from`; both as ids joined by `/` from the flow inwards. A reader inside a body that reads a
 * node outside of it makes the node around it wait, the one beside `from`.
 */
export interface ImpliedEdge {
  readonly from: string;
  readonly to: string;
}

/** What a node waits for. */
export interface Waits {
  readonly edges: { readonly from: string; readonly port: string }[];
  /** Nodes beside it that it, or its body, reads. */
  readonly reads: { readonly from: string }[];
  /** True when not all written edges must be resolved. */
  readonly isEarly: boolean;
}

/** One level of nodes. */
export interface Scope {
  readonly nodes: ReadonlyMap<string, Waits>;
  readonly bodies: ReadonlyMap<string, Scope>;
}

/** The scopes of a graph. An implied edge whose ends are not found in it is left out. */
export function scopeOf(graph: FlowGraph, implied: readonly ImpliedEdge[]): Scope {
  const scope = buildScope(graph.nodes, graph.edges);
  for (const edge of implied) addRead(scope, edge);
  return scope;
}

/** What the node at `path` waits for; `undefined` where the graph does not say, as inside a flow of its own. */
export function waitsOf(scope: Scope, path: string): Waits | undefined {
  const segments = path.split("/");
  let at: Scope | undefined = scope;
  for (const segment of segments.slice(0, -1)) at = at?.bodies.get(idOf(segment));
  return at?.nodes.get(segments.at(-1) ?? "");
}

/** The path of the node `id` in the scope of `path`. */
export function pathBeside(path: string, id: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1) + id;
}

/** Edges and ports that a graph leaves out are none, and `out`. */
function buildScope(nodes: readonly FlowNode[], edges: FlowBody["edges"] = []): Scope {
  const waits = new Map<string, Waits>();
  const bodies = new Map<string, Scope>();
  for (const { id, policy, body } of nodes) {
    const isEarly = policy?.join === "any" || typeof policy?.join === "number";
    waits.set(id, { edges: [], reads: [], isEarly });
    if (body !== undefined) bodies.set(id, buildScope(body.nodes, body.edges));
  }
  for (const { from, port = "out", to } of edges) waits.get(to)?.edges.push({ from, port });
  return { nodes: waits, bodies };
}

function addRead(scope: Scope, { from, to }: ImpliedEdge): void {
  const source = from.split("/");
  const waiting = to.split("/").slice(0, source.length).join("/");
  waitsOf(scope, waiting)?.reads.push({ from: source.at(-1) as string });
}

function idOf(segment: string): string {
  const end = segment.search(/[~[]/);
  return end < 0 ? segment : segment.slice(0, end);
}
