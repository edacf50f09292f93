/**
 * Which nodes may be skipped, and who would be skipped with them (FLOW4004, 4006, 4015).
 *   P1  a node is sure when no path to it leaves by a conditional port and it has no `@when`.
 *   P2  else it is there for a reader when all paths to the reader leave it by an exit other than `error`, or when the
 *       exit that leads to it leads to the reader, too.
 *   P3  one dominator tree per body: near-linear, whatever the graph.
 */
import type { CatalogEntry } from "@millrace/contracts";
import { ancestorIn, type BodyModel, type EdgeModel, type NodeModel } from "../model/bodies.ts";
import { own } from "../model/plain.ts";
import { shown, type Validation } from "./context.ts";
import { DominatorTree, ROOT } from "./dominators.ts";
import type { BodyOrder } from "./order.ts";
import { nodeRead, type Read, type ReadLeaf } from "./reads.ts";

/** Reports nodes that never run, and reads of nodes that may be skipped. */
export function checkPresence(
  run: Validation,
  orders: readonly BodyOrder[],
  leaves: readonly ReadLeaf[],
): void {
  const bodies = new Map<BodyModel, BodyPresence>();
  for (const order of orders) {
    const presence = new BodyPresence(run, order);
    bodies.set(order.body, presence);
    for (const node of presence.dead) {
      run.findings.add("FLOW4004", `${node.pointer}/id`, { parts: { node: shown(node.id) } });
    }
  }
  const told = new Set<string>();
  for (const read of leaves) {
    for (const one of read.reads) {
      const node = nodeRead(one);
      if (node !== undefined) checkRead(run, read, one, node, bodies.get(node.body), told);
    }
  }
}

function checkRead(
  run: Validation,
  read: ReadLeaf,
  one: Read,
  node: NodeModel,
  presence: BodyPresence | undefined,
  told: Set<string>,
): void {
  const { site, leaf } = read;
  const { reference, meaning } = one;
  if (reference.optional || presence === undefined || meaning.kind !== "node") return;
  const reader = site.reader === undefined ? undefined : ancestorIn(node.body, site.reader);
  if (site.reader !== undefined && (reader === undefined || reader === node)) return;
  const error = meaning.path[0] === "error";
  if (presence.isThere(node, reader, error)) return;
  const code = site.kind === "flow-output" ? "FLOW4015" : "FLOW4006";
  const key = `${code} ${site.reader?.path ?? site.pointer} ${node.path}`;
  if (told.has(key)) return;
  told.add(key);
  run.findings.add(code, leaf.pointer, {
    parts: { node: shown(node.id), name: shown(site.name) },
    span: read.inText ? reference.name : undefined,
    fix: optionalFix(run, read, one),
  });
}

/** `x.a` becomes `x?.a`. */
function optionalFix(
  run: Validation,
  read: ReadLeaf,
  { reference }: Read,
): ReturnType<Validation["findings"]["replace"]> {
  if (!read.inText) return undefined;
  const { end } = reference.name;
  const dot = run.places.text({ start: end, end: end + 1 });
  if (dot !== ".") return undefined;
  return run.findings.replace("read it with `?.`", { start: end, end: end + 1 }, "?.");
}

class BodyPresence {
  /** Nodes to which only dead exits lead. */
  readonly dead: readonly NodeModel[];
  readonly #order: BodyOrder;
  readonly #incoming: readonly EdgeModel[][];
  readonly #sure: Uint8Array;
  #paths: BodyPaths | undefined;

  constructor(run: Validation, order: BodyOrder) {
    const { body, sorted } = order;
    const incoming: EdgeModel[][] = body.nodes.map(() => []);
    for (const edge of body.edges) {
      if (edge.from !== undefined && edge.to !== undefined) incoming[edge.to.index]?.push(edge);
    }
    this.#order = order;
    this.#incoming = incoming;
    this.#sure = new Uint8Array(body.nodes.length);
    const live = new Uint8Array(body.nodes.length).fill(1);
    const dead: NodeModel[] = [];
    for (const index of sorted) {
      const node = body.nodes[index];
      if (node === undefined) continue;
      const edges = incoming[index] ?? [];
      if (!isLive(node, edges, live)) {
        live[index] = 0;
        dead.push(node);
      }
      const isConditional = (edge: EdgeModel): boolean =>
        this.#sure[edge.from?.index ?? 0] === 0 ||
        isConditionalPort(edge, run.entryOf(edge.from as NodeModel));
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
  readonly #incoming: readonly EdgeModel[][];
  readonly #tree = new DominatorTree();
  /** Of each node, of its success, and of each of its exits the place in the tree. */
  readonly #nodes: number[] = [];
  readonly #succeeded: number[] = [];
  readonly #exits: Map<string, number>[] = [];

  constructor({ body, sorted }: BodyOrder, incoming: readonly EdgeModel[][]) {
    this.#incoming = incoming;
    const ports = body.nodes.map(() => new Set<string>());
    for (const { from, port } of body.edges) if (from !== undefined) ports[from.index]?.add(port);
    for (const index of sorted) {
      const place = this.#tree.add((incoming[index] ?? []).map((edge) => this.#exit(edge)));
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
    const edges = this.#incoming[reader.index] ?? [];
    if (reader.node.policy?.join === "all" && edges.length <= MAX_JOINED) {
      if (edges.some((edge) => this.#tree.dominates(exit, this.#exit(edge)))) return true;
    }
    return !error && this.#goesAlong(node, at);
  }

  /** The exit that leads to a node without `@when` leads to the reader as well. */
  #goesAlong(node: NodeModel, at: number): boolean {
    const { policy } = node.node;
    if (own(policy, "when") !== undefined || own(policy, "join") !== undefined) return false;
    const edges = this.#incoming[node.index] ?? [];
    return (
      edges.length <= MAX_JOINED && edges.some((edge) => this.#tree.dominates(this.#exit(edge), at))
    );
  }

  #exit(edge: EdgeModel): number {
    return this.#exits[edge.from?.index ?? -1]?.get(edge.port) ?? ROOT;
  }
}

/** Edges of one node that are looked through for a single read; joins are small, and the bound keeps reads linear. */
const MAX_JOINED = 64;

/** Whether a node may leave by another exit than this one. */
function isConditionalPort({ port, from }: EdgeModel, entry: CatalogEntry | undefined): boolean {
  if (port === "error") return true;
  if (entry === undefined || from === undefined) return port !== "out";
  if (port === "out" && entry.kind === "ai") return false;
  const several = entry.ports.length > 1 || entry.portsFrom !== undefined;
  return several || (port !== "out" && entry.ports[0]?.name !== port);
}

/** Whether anything that can be live leads to a node; its own guard may still keep it from running. */
function isLive(node: NodeModel, edges: readonly EdgeModel[], live: Uint8Array): boolean {
  if (edges.length === 0) return true;
  const carries = (edge: EdgeModel): boolean =>
    live[edge.from?.index ?? 0] === 1 && edge.from !== undefined && leavesBy(edge.from, edge.port);
  const count = edges.filter(carries).length;
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
