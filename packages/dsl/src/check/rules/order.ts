/**
 * The order of a body: what waits for what, by edges and by references, and the cycles in it (FLOW4003). References from inside
 * a nested body make its owner wait. Waits are numbers in flat lists: a graph has hundreds of thousands.
 */

import { shown } from "../../diagnostics/quote.ts";
import { ancestorIn, type BodyModel, EdgeModel } from "../model/bodies.ts";
import { type Read, waitsFor } from "../model/resolve.ts";
import type { Leaf } from "../model/sites.ts";
import type { Validation } from "../validation.ts";

export class BodyOrder {
  readonly body: BodyModel;
  /** Of each wait the index of the node that is waited for, that of the waiting one, and the edge or expression. */
  readonly from: number[] = [];
  readonly to: number[] = [];
  readonly cause: (EdgeModel | Leaf)[] = [];
  /** The waits of node `i` are those in `byFrom` at `starts[i]` up to `starts[i + 1]`. */
  starts: Int32Array = new Int32Array(0);
  byFrom: Int32Array = new Int32Array(0);
  /** Indexes so that each comes after all that it waits for; nodes in a cycle and behind one are left out. */
  sorted: readonly number[] = [];

  constructor(body: BodyModel) {
    this.body = body;
    for (const edge of body.edges) {
      if (edge.from !== undefined && edge.to !== undefined) {
        this.add(edge.from.index, edge.to.index, edge);
      }
    }
  }

  add(from: number, to: number, cause: EdgeModel | Leaf): void {
    this.from.push(from);
    this.to.push(to);
    this.cause.push(cause);
  }

  isImplied(wait: number): boolean {
    return !(this.cause[wait] instanceof EdgeModel);
  }

  /** Puts the waits in order once all are known. */
  finish(): void {
    const count = this.body.nodes.length;
    [this.starts, this.byFrom] = grouped(this.from, count);
    const left = new Int32Array(count);
    for (const to of this.to) left[to] = (left[to] ?? 0) + 1;
    const sorted: number[] = [];
    for (let index = 0; index < count; index += 1) if (left[index] === 0) sorted.push(index);
    for (let at = 0; at < sorted.length; at += 1) {
      const from = sorted[at] as number;
      for (let i = this.starts[from] as number; i < (this.starts[from + 1] as number); i += 1) {
        const to = this.to[this.byFrom[i] as number] as number;
        left[to] = (left[to] as number) - 1;
        if (left[to] === 0) sorted.push(to);
      }
    }
    this.sorted = sorted;
  }
}

/** Places by key: those of key `k` are in the second list at `starts[k]` up to `starts[k + 1]`, in order. */
export function grouped(keys: readonly number[], count: number): [Int32Array, Int32Array] {
  const starts = new Int32Array(count + 1);
  for (const key of keys) starts[key + 1] = (starts[key + 1] as number) + 1;
  for (let key = 0; key < count; key += 1) {
    starts[key + 1] = (starts[key + 1] as number) + (starts[key] as number);
  }
  const next = starts.slice();
  const places = new Int32Array(keys.length);
  keys.forEach((key, place) => {
    places[next[key] as number] = place;
    next[key] = (next[key] as number) + 1;
  });
  return [starts, places];
}

/** The orders of all bodies of a graph. */
export class Orders {
  readonly #orders: ReadonlyMap<BodyModel, BodyOrder>;

  constructor(bodies: readonly BodyModel[]) {
    this.#orders = new Map(bodies.map((body) => [body, new BodyOrder(body)]));
  }

  /** Notes what an expression waits for. */
  addReads(leaf: Leaf, reads: readonly Read[]): void {
    const { site } = leaf;
    if (site.reader === undefined) return;
    for (const { node } of reads) {
      if (node === undefined || !waitsFor(site, node)) continue;
      const waiting = ancestorIn(node.body, site.reader);
      if (waiting !== undefined) {
        this.#orders.get(node.body)?.add(node.index, waiting.index, leaf);
      }
    }
  }

  /** Every order, once all expressions are noted. */
  finish(): readonly BodyOrder[] {
    for (const order of this.#orders.values()) order.finish();
    return [...this.#orders.values()];
  }
}

/** Most nodes of a cycle that a message shows. */
const MAX_SHOWN = 10;

/** Reports the cycles of every body. */
export function checkCycles(ctx: Validation, orders: readonly BodyOrder[]): void {
  for (const order of orders) {
    if (order.sorted.length === order.body.nodes.length) continue;
    for (const group of groupsOf(order)) {
      const cycle = shortestCycle(order, group);
      if (cycle !== undefined) reportCycle(ctx, order, cycle);
    }
  }
}

/** `cycle`: waits, each from the node to which the one before it leads. */
function reportCycle(ctx: Validation, order: BodyOrder, cycle: readonly number[]): void {
  const name = (index: number | undefined): string => shown(order.body.nodes[index ?? 0]?.id ?? "");
  let path = name(order.from[cycle[0] ?? 0]);
  for (const wait of cycle.slice(0, MAX_SHOWN)) {
    path += `${order.isImplied(wait) ? " ~> " : " -> "}${name(order.to[wait])}`;
  }
  if (cycle.length > MAX_SHOWN) path += " -> …";
  ctx.report("FLOW4003", order.cause[cycle.at(-1) ?? 0]?.pointer, { parts: { path } });
}

/** Strongly connected groups that hold a cycle (Tarjan's algorithm with its own stack), in author order of their first node. */
function groupsOf({ body, starts, byFrom, to, sorted }: BodyOrder): number[][] {
  const count = body.nodes.length;
  const order = new Int32Array(count); // 0: not seen
  const low = new Int32Array(count);
  const open = new Uint8Array(count);
  for (const index of sorted) order[index] = -1; // in no cycle
  const stack: number[] = [];
  const groups: number[][] = [];
  let next = 1;
  for (let root = 0; root < count; root += 1) {
    if (order[root] !== 0) continue;
    const path: { node: number; at: number }[] = [];
    const enter = (node: number): void => {
      order[node] = next;
      low[node] = next;
      next += 1;
      open[node] = 1;
      stack.push(node);
      path.push({ node, at: starts[node] as number });
    };
    enter(root);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { node } = top;
      if (top.at < (starts[node + 1] as number)) {
        const waiting = to[byFrom[top.at] as number] as number;
        top.at += 1;
        if (order[waiting] === 0) enter(waiting);
        else if (open[waiting] === 1) low[node] = Math.min(low[node] ?? 0, order[waiting] ?? 0);
        continue;
      }
      path.pop();
      const above = path.at(-1)?.node;
      if (above !== undefined) low[above] = Math.min(low[above] ?? 0, low[node] ?? 0);
      if (low[node] === order[node]) groups.push(close(stack, open, node));
    }
  }
  const sortedGroups = groups.map((group) => ({ group, first: firstOf(group) }));
  sortedGroups.sort((a, b) => a.first - b.first);
  return sortedGroups.map(({ group }) => group);
}

function close(stack: number[], open: Uint8Array, node: number): number[] {
  const group: number[] = [];
  for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
    open[member] = 0;
    group.push(member);
    if (member === node) break;
  }
  return group;
}

function firstOf(group: readonly number[]): number {
  return group.reduce((a, b) => Math.min(a, b));
}

/** The shortest cycle through the first node of a group that is in one; undefined for a single node without a loop. */
function shortestCycle(order: BodyOrder, group: readonly number[]): number[] | undefined {
  const { starts, byFrom, from, to } = order;
  const inside = new Set(group);
  const start = firstOf(group);
  const arrived = new Map<number, number>();
  const open = [start];
  for (let at = 0; at < open.length; at += 1) {
    const node = open[at] as number;
    for (let i = starts[node] as number; i < (starts[node + 1] as number); i += 1) {
      const wait = byFrom[i] as number;
      const next = to[wait] as number;
      if (!inside.has(next) || (next !== start && arrived.has(next))) continue;
      arrived.set(next, wait);
      if (next !== start) open.push(next);
      else {
        const path: number[] = [];
        for (let back = start; path.length === 0 || back !== start; ) {
          const step = arrived.get(back) as number;
          path.push(step);
          back = from[step] as number;
        }
        return path.reverse();
      }
    }
  }
  return undefined;
}
