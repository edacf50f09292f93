/**
 * A graph as bodies and nodes that know their place: the flow itself is the outermost body.
 *   Everything is found without recursion, whatever the graph's size or depth.
 *   What has not the shape of a graph is left out; the shape check says so.
 *   Pointers and paths are computed on demand: for most nodes they are not needed.
 */

import type { CatalogEntry, FlowEdge, FlowGraph, FlowNode } from "@millrace/contracts";
import { type Json, MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { isObject, listOrNone, own } from "../../data.ts";
import { bodyLocals } from "./deferred.ts";

/** The inside of a flow or of a node such as `map`. */
export interface BodyModel {
  readonly owner: NodeModel | undefined;
  readonly outer: BodyModel | undefined;
  readonly depth: number;
  /** JSON Pointer of the object that holds `nodes` and `edges`; "" for the flow. */
  readonly pointer: string;
  /** The object of the graph, unchanged. */
  readonly source: unknown;
  readonly nodes: NodeModel[];
  /** The first node of each id. */
  readonly byId: Map<string, NodeModel>;
  readonly edges: EdgeModel[];
  /** Names that the owner gives: `item`, `state`, `index`. */
  readonly locals: readonly string[];
  readonly output: Json | undefined;
}

/** A node with its place. */
export class NodeModel {
  readonly body: BodyModel;
  /** Place among the nodes of its body that have the shape of one. */
  readonly index: number;
  readonly id: string;
  readonly node: FlowNode;
  readonly entry: CatalogEntry | undefined;
  inner: BodyModel | undefined = undefined;
  readonly #at: number;

  constructor(body: BodyModel, at: number, node: FlowNode, entry: CatalogEntry | undefined) {
    this.body = body;
    this.index = body.nodes.length;
    this.id = node.id;
    this.node = node;
    this.entry = entry;
    this.#at = at;
  }

  get pointer(): string {
    return `${this.body.pointer}/nodes/${this.#at}`;
  }

  /** Ids from the outermost body inwards, joined by `/`. */
  get path(): string {
    const { owner } = this.body;
    return owner === undefined ? this.id : `${owner.path}/${this.id}`;
  }
}

/** An edge with its place; the ends that name a node of the same body are resolved. */
export class EdgeModel {
  readonly body: BodyModel;
  readonly edge: FlowEdge;
  readonly port: string;
  readonly from: NodeModel | undefined;
  readonly to: NodeModel | undefined;
  readonly #at: number;

  constructor(body: BodyModel, at: number, edge: FlowEdge) {
    const port = own(edge, "port");
    this.body = body;
    this.edge = edge;
    this.port = typeof port === "string" ? port : "out";
    this.from = body.byId.get(edge.from);
    this.to = body.byId.get(edge.to);
    this.#at = at;
  }

  get pointer(): string {
    return `${this.body.pointer}/edges/${this.#at}`;
  }
}

/** A whole graph. `bodies` and `nodes` are in order of nesting: an owner comes before what is inside it. */
export interface GraphModel {
  readonly root: BodyModel;
  readonly bodies: readonly BodyModel[];
  readonly nodes: readonly NodeModel[];
}

/** Looks up the catalog entry of a type; absent: what is known of core types without a catalog. */
export type EntryOf = (type: string, version: number | undefined) => CatalogEntry | undefined;

/** Finds bodies, nodes and edges of a graph. Bodies deeper than `MAX_JSON_DEPTH` are not entered. */
export function modelOf(graph: unknown, entryOf: EntryOf): GraphModel {
  const root = openBody(graph, undefined);
  const bodies = [root];
  const nodes: NodeModel[] = [];
  for (let at = 0; at < bodies.length; at += 1) {
    const body = bodies[at] as BodyModel;
    fillBody(body, entryOf);
    for (const node of body.nodes) {
      nodes.push(node);
      const inner = own(node.node, "body");
      if (!isObject(inner) || body.depth >= MAX_JSON_DEPTH) continue;
      node.inner = openBody(inner, node);
      bodies.push(node.inner);
    }
  }
  return { root, bodies, nodes };
}

/** An element of a list of the graph, such as one of its inputs. */
export interface Declared {
  readonly value: Json;
  readonly pointer: string;
  /** Undefined when it has no text as its name. */
  readonly name: string | undefined;
}

/** The elements of a list of the graph, in order. */
export function declared(graph: unknown, list: string): readonly Declared[] {
  return listOrNone(own(graph, list)).map((value, at) => {
    const name = own(value, "name");
    const known = typeof name === "string" ? name : undefined;
    return { value, pointer: `/${list}/${at}`, name: known };
  });
}

/** Whether `inside` is `node` or lies in a body of it. */
export function isWithin(inside: NodeModel, node: NodeModel): boolean {
  return ancestorIn(node.body, inside) === node;
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
    depth: owner === undefined ? 0 : owner.body.depth + 1,
    pointer: owner === undefined ? "" : `${owner.pointer}/body`,
    source,
    nodes: [],
    byId: new Map(),
    edges: [],
    locals: owner === undefined ? [] : bodyLocals(owner.node),
    output: owner === undefined ? undefined : own(source, "output"),
  };
}

function fillBody(body: BodyModel, entryOf: EntryOf): void {
  listOrNone(own(body.source, "nodes")).forEach((value, at) => {
    const type = own(value, "type");
    const id = own(value, "id");
    if (typeof id !== "string" || typeof type !== "string") return;
    const version = own(value, "typeVersion");
    const entry = entryOf(type, Number.isInteger(version) ? (version as number) : undefined);
    const node = new NodeModel(body, at, value as unknown as FlowNode, entry);
    body.nodes.push(node);
    if (!body.byId.has(id)) body.byId.set(id, node);
  });
  listOrNone(own(body.source, "edges")).forEach((value, at) => {
    if (typeof own(value, "from") !== "string" || typeof own(value, "to") !== "string") return;
    body.edges.push(new EdgeModel(body, at, value as unknown as FlowEdge));
  });
}

type Level = { readonly [name: string]: unknown };

/** Lists of a flow beside its nodes. */
const LISTS: readonly string[] = ["inputs", "edges", "outputs", "connections", "schedules"];

/** The graph with empty lists, an empty layout and port `out` where they are absent; itself when nothing is. */
export function completeGraph(graph: FlowGraph): FlowGraph {
  if (!isObject(graph)) return graph;
  const level = completeLevel(graph as unknown as Level, new Map(), 0);
  const absent = LISTS.filter((name) => own(level, name) === undefined);
  const hasLayout = own(level, "layout") !== undefined;
  if (absent.length === 0 && hasLayout) return level as unknown as FlowGraph;
  return {
    ...level,
    ...Object.fromEntries(absent.map((name) => [name, []])),
    ...(!hasLayout && { layout: {} }),
  } as unknown as FlowGraph;
}

/** The nodes and edges of a flow or a body. `known`: bodies by what they became, for those that hold themselves. */
function completeLevel(level: Level, known: Map<object, Level>, depth: number): Level {
  const done = known.get(level);
  if (done !== undefined || depth > MAX_JSON_DEPTH) return done ?? level;
  known.set(level, level);
  const nodes = own(level, "nodes");
  const edges = own(level, "edges");
  const changes = {
    nodes: Array.isArray(nodes) ? sameOr(nodes, (node) => completeNode(node, known, depth)) : nodes,
    edges: edges === undefined ? [] : Array.isArray(edges) ? sameOr(edges, completeEdge) : edges,
  };
  if (changes.nodes === nodes && changes.edges === edges) return level;
  const whole = {
    ...level,
    ...(nodes !== undefined && { nodes: changes.nodes }),
    edges: changes.edges,
  };
  known.set(level, whole);
  return whole;
}

function completeNode(node: unknown, known: Map<object, Level>, depth: number): unknown {
  const body = own(node, "body");
  if (!isObject(node) || !isObject(body)) return node;
  const inner = completeLevel(body as Level, known, depth + 1);
  return inner === body ? node : { ...node, body: inner };
}

/** `from -> to` leaves by `out`. */
function completeEdge(edge: unknown): unknown {
  return isObject(edge) && own(edge, "port") === undefined ? { ...edge, port: "out" } : edge;
}

/** The list itself when every element stays what it is. */
function sameOr(list: readonly unknown[], make: (element: unknown) => unknown): readonly unknown[] {
  let made: unknown[] | undefined;
  for (let at = 0; at < list.length; at += 1) {
    const element = make(list[at]);
    if (element === list[at]) continue;
    made ??= list.slice();
    made[at] = element;
  }
  return made ?? list;
}
