/** The edges of a graph, written and implied, by the scope that their nodes live in: the flow, and each body in it. */
import type { FlowBody, FlowGraph, FlowNode } from "../graph.ts";

/** The node `to` reads the node `from`; `pointer` is where, as JSON Pointer into the graph. */
export interface ImpliedEdge {
  readonly from: string;
  readonly to: string;
  readonly pointer: string;
}

/** What a node waits for. */
export interface Waits {
  readonly edges: { readonly from: string; readonly port: string }[];
  /** Nodes that it reads; `up` is how many scopes further out they live. */
  readonly reads: { readonly from: string; readonly up: number }[];
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
  for (const edge of implied) addRead(graph, scope, edge);
  return scope;
}

/** What the node at `path` waits for; `undefined` where the graph does not say, as inside a flow of its own. */
export function waitsOf(scope: Scope, path: string): Waits | undefined {
  const segments = path.split("/");
  let at: Scope | undefined = scope;
  for (const segment of segments.slice(0, -1)) at = at?.bodies.get(idOf(segment));
  return at?.nodes.get(segments.at(-1) ?? "");
}

/** The path of a node that `path` reads: beside it, or `up` scopes further out. */
export function pathBeside(path: string, from: string, up: number): string {
  const segments = path.split("/");
  return [...segments.slice(0, segments.length - 1 - up), from].join("/");
}

function buildScope(nodes: readonly FlowNode[], edges: FlowBody["edges"]): Scope {
  const waits = new Map<string, Waits>();
  const bodies = new Map<string, Scope>();
  for (const { id, policy, body } of nodes) {
    const isEarly = policy?.join === "any" || typeof policy?.join === "number";
    waits.set(id, { edges: [], reads: [], isEarly });
    if (body !== undefined) bodies.set(id, buildScope(body.nodes, body.edges));
  }
  for (const { from, port, to } of edges) waits.get(to)?.edges.push({ from, port });
  return { nodes: waits, bodies };
}

/** Finds the reader by the pointer, which passes every node around it, and the node read from there outwards. */
function addRead(graph: FlowGraph, root: Scope, { from, to, pointer }: ImpliedEdge): void {
  const ids: string[] = [];
  const scopes: Scope[] = [root];
  let nodes = graph.nodes;
  const steps = pointer.split("/").slice(1);
  for (let i = 0; steps[i] === "nodes"; i += 3) {
    const node: FlowNode | undefined = nodes[Number(steps[i + 1])];
    if (node === undefined) return;
    ids.push(node.id);
    const body = scopes.at(-1)?.bodies.get(node.id);
    if (steps[i + 2] !== "body" || body === undefined || node.body === undefined) break;
    scopes.push(body);
    nodes = node.body.nodes;
  }
  const depth = ids.lastIndexOf(to);
  const waits = scopes[depth]?.nodes.get(to);
  if (waits === undefined) return;
  for (let up = 0; up <= depth; up += 1) {
    if (scopes[depth - up]?.nodes.has(from) !== true) continue;
    waits.reads.push({ from, up });
    return;
  }
}

function idOf(segment: string): string {
  const end = segment.search(/[~[]/);
  return end < 0 ? segment : segment.slice(0, end);
}
