/**
 * A graph as bodies and nodes that know their place: the flow itself is the outermost body.
 *   Everything is found without recursion, whatever the graph's size or depth.
 *   What has not the shape of a graph is left out; the shape check says so.
 */
import { type FlowEdge, type FlowNode, type Json, MAX_JSON_DEPTH } from "@millrace/contracts";
import { bodyLocals } from "./deferred.ts";
import { isObject, listOrNone, own } from "./plain.ts";

/** The inside of a flow or of a node such as `map`. */
export interface BodyModel {
  readonly owner: NodeModel | undefined;
  readonly outer: BodyModel | undefined;
  /** JSON Pointer of the object that holds `nodes` and `edges`; "" for the flow. */
  readonly pointer: string;
  readonly nodes: NodeModel[];
  /** The first node of each id. */
  readonly byId: Map<string, NodeModel>;
  readonly edges: EdgeModel[];
  /** Names that the owner gives: `item`, `state`, `index`. */
  readonly locals: readonly string[];
  readonly output: Json | undefined;
}

/** A node with its place. */
export interface NodeModel {
  readonly id: string;
  /** Ids from the outermost body inwards, joined by `/`. */
  readonly path: string;
  readonly pointer: string;
  /** Place among the nodes of its body that have the shape of one. */
  readonly index: number;
  readonly body: BodyModel;
  readonly node: FlowNode;
  inner: BodyModel | undefined;
}

/** An edge with its place; the ends that name a node of the same body are resolved. */
export interface EdgeModel {
  readonly pointer: string;
  readonly edge: FlowEdge;
  readonly port: string;
  readonly from: NodeModel | undefined;
  readonly to: NodeModel | undefined;
}

/** A whole graph. `bodies` and `nodes` are in order of nesting: an owner comes before what is inside it. */
export interface GraphModel {
  readonly root: BodyModel;
  readonly bodies: readonly BodyModel[];
  readonly nodes: readonly NodeModel[];
}

/** Finds bodies, nodes and edges of a graph. Bodies deeper than `MAX_JSON_DEPTH` are not entered. */
export function modelOf(graph: unknown): GraphModel {
  const root = openBody(graph, undefined);
  const bodies = [root];
  const nodes: NodeModel[] = [];
  const depths = new Map([[root, 0]]);
  const sources = new Map<BodyModel, unknown>([[root, graph]]);
  for (let at = 0; at < bodies.length; at += 1) {
    const body = bodies[at] as BodyModel;
    const depth = depths.get(body) ?? 0;
    fillBody(body, sources.get(body));
    for (const node of body.nodes) {
      nodes.push(node);
      const inner = own(node.node, "body");
      if (!isObject(inner) || depth >= MAX_JSON_DEPTH) continue;
      node.inner = openBody(inner, node);
      depths.set(node.inner, depth + 1);
      sources.set(node.inner, inner);
      bodies.push(node.inner);
    }
  }
  return { root, bodies, nodes };
}

/** Whether `inside` is `node` or lies in a body of it. */
export function isWithin(inside: NodeModel | undefined, node: NodeModel): boolean {
  for (let at = inside; at !== undefined; at = at.body.owner) if (at === node) return true;
  return false;
}

/** The node of `body` that is `node` or holds it; undefined when `node` is elsewhere. */
export function ancestorIn(body: BodyModel, node: NodeModel): NodeModel | undefined {
  let at: NodeModel | undefined = node;
  while (at !== undefined && at.body !== body) at = at.body.owner;
  return at;
}

function openBody(source: unknown, owner: NodeModel | undefined): BodyModel {
  return {
    owner,
    outer: owner?.body,
    pointer: owner === undefined ? "" : `${owner.pointer}/body`,
    nodes: [],
    byId: new Map(),
    edges: [],
    locals: owner === undefined ? [] : bodyLocals(owner.node),
    output: owner === undefined ? undefined : own(source, "output"),
  };
}

function fillBody(body: BodyModel, source: unknown): void {
  const prefix = body.owner === undefined ? "" : `${body.owner.path}/`;
  listOrNone(own(source, "nodes")).forEach((value, at) => {
    const id = own(value, "id");
    if (typeof id !== "string" || typeof own(value, "type") !== "string") return;
    const node: NodeModel = {
      id,
      path: prefix + id,
      pointer: `${body.pointer}/nodes/${at}`,
      index: body.nodes.length,
      body,
      node: value as unknown as FlowNode,
      inner: undefined,
    };
    body.nodes.push(node);
    if (!body.byId.has(id)) body.byId.set(id, node);
  });
  listOrNone(own(source, "edges")).forEach((value, at) => {
    const from = own(value, "from");
    const to = own(value, "to");
    if (typeof from !== "string" || typeof to !== "string") return;
    const port = own(value, "port");
    body.edges.push({
      pointer: `${body.pointer}/edges/${at}`,
      edge: value as unknown as FlowEdge,
      port: typeof port === "string" ? port : "out",
      from: body.byId.get(from),
      to: body.byId.get(to),
    });
  });
}
