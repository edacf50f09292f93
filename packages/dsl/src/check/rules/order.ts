/**
 * The order of a body: what waits for what, by edges and by references. References from inside a nested body make its
 * owner wait. Waits are numbers in flat lists: a graph has hundreds of thousands.
 */
import { ancestorIn, type BodyModel, EdgeModel } from "../model/bodies.ts";
import { type Read, waitsFor } from "../model/resolve.ts";
import type { Leaf } from "../model/sites.ts";

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
