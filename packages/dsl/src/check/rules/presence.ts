/**
 * Which nodes may be skipped, and who would be skipped with them (FLOW4004, 4006, 4015).
 *   P1  a node is sure when no path to it leaves by a conditional port and it has no `@when`.
 *   P2  else it is there for a reader when all paths to the reader leave it by an exit other than `error`, or when the
 *       exit that leads to it leads to the reader, too.
 *   P3  one dominator tree per body: near-linear, whatever the graph.
 */

import { own } from "../../data.ts";
import { replacing } from "../../diagnostics/bag.ts";
import { shown } from "../../diagnostics/quote.ts";
import { ancestorIn, type BodyModel, type EdgeModel, type NodeModel } from "../model/bodies.ts";
import type { Read } from "../model/resolve.ts";
import type { Leaf } from "../model/sites.ts";
import type { Validation } from "../validation.ts";
import { type BodyOrder, grouped } from "./order.ts";

/** A read of a node that must be there, by the reader or the output of the flow that would be missing else. */
export interface NeededRead {
  readonly leaf: Leaf;
  readonly read: Read;
  readonly node: NodeModel;
}

/** Reports nodes that never run, and reads of nodes that may be skipped. */
export function checkPresence(
  ctx: Validation,
  orders: readonly BodyOrder[],
  reads: readonly NeededRead[],
): void {
  const bodies = new Map<BodyModel, BodyPresence>();
  for (const order of orders) {
    const presence = new BodyPresence(order);
    bodies.set(order.body, presence);
    for (const node of presence.dead) {
      ctx.report("FLOW4004", `${node.pointer}/id`, { parts: { node: shown(node.id) } });
    }
  }
  const told = new Map<unknown, Set<NodeModel>>();
  for (const needed of reads) {
    const { leaf, read, node } = needed;
    const { site } = leaf;
    const reader = site.reader && ancestorIn(node.body, site.reader);
    if (site.reader !== undefined && (reader === undefined || reader === node)) continue;
    if (bodies.get(node.body)?.isThere(node, reader, read.member === "error") !== false) continue;
    const known = told.get(site.reader ?? site) ?? new Set();
    if (known.has(node)) continue;
    told.set(site.reader ?? site, known.add(node));
    report(ctx, needed);
  }
}

function report(ctx: Validation, { leaf, read, node }: NeededRead): void {
  const { site } = leaf;
  const span = ctx.map.reference(leaf, read.index)?.name;
  const dot = span && { start: span.end, end: span.end + 1 };
  const isDot = dot !== undefined && ctx.map.text(dot) === ".";
  ctx.report(site.kind === "flow-output" ? "FLOW4015" : "FLOW4006", leaf.pointer, {
    parts: { node: shown(node.id), name: shown(site.name) },
    span,
    fix: isDot ? replacing("read it with `?.`", dot, "?.") : undefined,
  });
}

/** The edges that lead to each node. */
class Incoming {
  readonly #edges: readonly EdgeModel[];
  readonly #starts: Int32Array;
  readonly #places: Int32Array;

  constructor({ nodes, edges }: BodyModel) {
    this.#edges = edges.filter(({ from, to }) => from !== undefined && to !== undefined);
    const ends = this.#edges.map(({ to }) => to?.index ?? 0);
    [this.#starts, this.#places] = grouped(ends, nodes.length);
  }

  /** The edges of a node that has not many; looking through more for a single read would not be linear. */
  few(index: number): readonly EdgeModel[] {
    const count = (this.#starts[index + 1] ?? 0) - (this.#starts[index] ?? 0);
    return count > MAX_JOINED ? [] : this.of(index);
  }

  of(index: number): readonly EdgeModel[] {
    const start = this.#starts[index] ?? 0;
    const count = (this.#starts[index + 1] ?? 0) - start;
    if (count === 0) return NO_EDGES;
    const edges = new Array<EdgeModel>(count);
    for (let i = 0; i < count; i += 1) {
      edges[i] = this.#edges[this.#places[start + i] as number] as EdgeModel;
    }
    return edges;
  }
}

const NO_EDGES: readonly EdgeModel[] = [];

class BodyPresence {
  /** Nodes to which only dead exits lead. */
  readonly dead: readonly NodeModel[];
  readonly #order: BodyOrder;
  readonly #incoming: Incoming;
  readonly #sure: Uint8Array;
  #paths: BodyPaths | undefined;

  constructor(order: BodyOrder) {
    const { body, sorted } = order;
    this.#order = order;
    this.#incoming = new Incoming(body);
    // Those that are not sorted are in a cycle or behind one, which is another finding.
    this.#sure = new Uint8Array(body.nodes.length).fill(1);
    const live = new Uint8Array(body.nodes.length).fill(1);
    const dead: NodeModel[] = [];
    const isConditional = (edge: EdgeModel): boolean =>
      this.#sure[edge.from?.index ?? 0] === 0 || isConditionalPort(edge);
    for (const index of sorted) {
      const node = body.nodes[index] as NodeModel;
      const edges = this.#incoming.of(index);
      if (!isLive(node, edges, live)) {
        live[index] = 0;
        dead.push(node);
      }
      const hasWhen = own(node.node.policy, "when") !== undefined;
      this.#sure[index] = !hasWhen && !edges.some(isConditional) ? 1 : 0;
    }
    this.dead = dead.sort((a, b) => a.index - b.index);
  }

  /** Whether `node` is present whenever `reader` is about to run; without a reader: in every run. */
  isThere(node: NodeModel, reader: NodeModel | undefined, error: boolean): boolean {
    if (!error && this.#sure[node.index] === 1) return true;
    if (reader === undefined) return false;
    this.#paths ??= new BodyPaths(this.#order, this.#incoming);
    return this.#paths.leadsAlong(node, reader, error);
  }
}

/** Dominators of the nodes of a body and of their exits. */
class BodyPaths {
  readonly #incoming: Incoming;
  readonly #tree = new DominatorTree();
  /** Of each node, of its success, and of each of its exits the place in the tree. */
  readonly #nodes: number[] = [];
  readonly #succeeded: number[] = [];
  readonly #exits: Map<string, number>[] = [];

  constructor({ body, sorted }: BodyOrder, incoming: Incoming) {
    this.#incoming = incoming;
    const ports = body.nodes.map(() => new Set<string>());
    for (const { from, port } of body.edges) if (from !== undefined) ports[from.index]?.add(port);
    for (const index of sorted) {
      const place = this.#tree.add(incoming.of(index).map((edge) => this.#exit(edge)));
      const succeeded = this.#tree.add([place]);
      const exits = new Map<string, number>([["error", this.#tree.add([place])]]);
      for (const port of ports[index] ?? []) {
        if (port !== "error") exits.set(port, this.#tree.add([succeeded]));
      }
      this.#nodes[index] = place;
      this.#succeeded[index] = succeeded;
      this.#exits[index] = exits;
    }
  }

  /** Whether all paths to `reader` bring an exit of `node` along. */
  leadsAlong(node: NodeModel, reader: NodeModel, error: boolean): boolean {
    const at = this.#nodes[reader.index];
    const exit = error ? this.#exits[node.index]?.get("error") : this.#succeeded[node.index];
    if (at === undefined || exit === undefined) return true; // in a cycle, which is another finding
    if (this.#tree.dominates(exit, at)) return true;
    if (own(reader.node.policy, "join") === "all") {
      const edges = this.#incoming.few(reader.index);
      if (edges.some((edge) => this.#tree.dominates(exit, this.#exit(edge)))) return true;
    }
    return !error && this.#goesAlong(node, at);
  }

  /** The exit that leads to a node without `@when` leads to the reader as well. */
  #goesAlong(node: NodeModel, at: number): boolean {
    const { policy } = node.node;
    if (own(policy, "when") !== undefined || own(policy, "join") !== undefined) return false;
    const edges = this.#incoming.few(node.index);
    return edges.some((edge) => this.#tree.dominates(this.#exit(edge), at));
  }

  #exit(edge: EdgeModel): number {
    return this.#exits[edge.from?.index ?? -1]?.get(edge.port) ?? ROOT;
  }
}

/** Edges of one node that are looked through for a single read. */
const MAX_JOINED = 64;

/** Whether a node may leave by another exit than this one. */
function isConditionalPort({ port, from }: EdgeModel): boolean {
  if (port === "error") return true;
  const entry = from?.entry;
  if (entry === undefined) return port !== "out";
  if (port === "out" && entry.kind === "ai") return false;
  const several = entry.ports.length > 1 || entry.portsFrom !== undefined;
  return several || (port !== "out" && entry.ports[0]?.name !== port);
}

/** Whether anything that can be live leads to a node; its own guard may still keep it from running. */
function isLive(node: NodeModel, edges: readonly EdgeModel[], live: Uint8Array): boolean {
  if (edges.length === 0) return true;
  let count = 0;
  for (const { from, port } of edges) {
    if (from !== undefined && live[from.index] === 1 && leavesBy(from, port)) count += 1;
  }
  const join = own(node.node.policy, "join");
  if (join === "all") return count === edges.length;
  return count >= (typeof join === "number" ? Math.max(1, Math.min(join, edges.length)) : 1);
}

/** Whether a node can leave by a port, as far as literal conditions tell. */
function leavesBy(node: NodeModel, port: string): boolean {
  const { type, fields, policy } = node.node;
  if (own(policy, "when") === false) return false;
  const decided = type === "condition" ? own(fields, "if") : undefined;
  return typeof decided !== "boolean" || port === String(decided);
}

/** Where everything starts. */
const ROOT = 0;

class DominatorTree {
  readonly #parent: number[] = [ROOT];
  readonly #jump: number[] = [ROOT];
  readonly #depth: number[] = [0];

  /** Adds a node that all of `before` lead to; without any it starts at the root. Answers its number. */
  add(before: readonly number[]): number {
    let parent = before[0] ?? ROOT;
    for (let i = 1; i < before.length; i += 1) parent = this.#common(parent, before[i] ?? ROOT);
    const node = this.#parent.length;
    const jump = this.#jump[parent] ?? ROOT;
    const far = this.#jump[jump] ?? ROOT;
    const even =
      this.#depthOf(parent) - this.#depthOf(jump) === this.#depthOf(jump) - this.#depthOf(far);
    this.#parent.push(parent);
    this.#jump.push(even ? far : parent);
    this.#depth.push(this.#depthOf(parent) + 1);
    return node;
  }

  /** Whether every path from the root to `node` goes through `by` (a node goes through itself). */
  dominates(by: number, node: number): boolean {
    return this.#upTo(node, this.#depthOf(by)) === by;
  }

  #common(a: number, b: number): number {
    const depth = Math.min(this.#depthOf(a), this.#depthOf(b));
    let x = this.#upTo(a, depth);
    let y = this.#upTo(b, depth);
    while (x !== y) {
      const far = this.#jump[x] !== this.#jump[y];
      x = (far ? this.#jump[x] : this.#parent[x]) ?? ROOT;
      y = (far ? this.#jump[y] : this.#parent[y]) ?? ROOT;
    }
    return x;
  }

  #upTo(node: number, depth: number): number {
    let at = node;
    while (this.#depthOf(at) > depth) {
      const jump = this.#jump[at] ?? ROOT;
      at = this.#depthOf(jump) >= depth ? jump : (this.#parent[at] ?? ROOT);
    }
    return at;
  }

  #depthOf(node: number): number {
    return this.#depth[node] ?? 0;
  }
}
