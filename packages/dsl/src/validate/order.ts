/**
 * The order of a body: what waits for what, by edges and by references. References from inside a nested body make its
 * owner wait.
 */
import { ancestorIn, type BodyModel, isWithin, type NodeModel } from "../model/bodies.ts";
import type { Validation } from "./context.ts";
import { nodeRead, type ReadLeaf } from "./reads.ts";

/** One thing that makes a node wait. */
export interface Wait {
  readonly from: number;
  readonly to: number;
  /** Place of the edge or of the expression. */
  readonly pointer: string;
  readonly implied: boolean;
}

/** The nodes of one body by index, with what each is waited for by. */
export interface BodyOrder {
  readonly body: BodyModel;
  /** By the index of the node that is waited for. */
  readonly waits: readonly (readonly Wait[])[];
  /** Indexes so that each comes after all that it waits for; nodes in a cycle and behind one are left out. */
  readonly sorted: readonly number[];
}

/** The order of every body. */
export function ordersOf(run: Validation, leaves: readonly ReadLeaf[]): readonly BodyOrder[] {
  const waits = new Map<BodyModel, Wait[][]>();
  for (const body of run.model.bodies) {
    const lists: Wait[][] = body.nodes.map(() => []);
    for (const { from, to, pointer } of body.edges) {
      if (from === undefined || to === undefined) continue;
      lists[from.index]?.push({ from: from.index, to: to.index, pointer, implied: false });
    }
    waits.set(body, lists);
  }
  for (const read of leaves) addReads(read, waits);
  return run.model.bodies.map((body) => {
    const lists = waits.get(body) ?? [];
    return { body, waits: lists, sorted: sort(lists) };
  });
}

function addReads(read: ReadLeaf, waits: ReadonlyMap<BodyModel, readonly Wait[][]>): void {
  const { site, leaf } = read;
  const { reader } = site;
  if (reader === undefined) return;
  for (const one of read.reads) {
    const node = nodeRead(one);
    if (node === undefined || isOwn(read, node)) continue;
    const waiting = ancestorIn(node.body, reader);
    if (waiting === undefined) continue;
    waits.get(node.body)?.[node.index]?.push({
      from: node.index,
      to: waiting.index,
      pointer: leaf.pointer,
      implied: true,
    });
  }
}

/** A body's output reads the nodes of the body: its owner holds them, it does not wait for them. */
function isOwn({ site }: ReadLeaf, node: NodeModel): boolean {
  const { kind, reader } = site;
  return (
    kind === "body-output" && reader !== undefined && node !== reader && isWithin(node, reader)
  );
}

function sort(waits: readonly (readonly Wait[])[]): number[] {
  const left = new Int32Array(waits.length);
  for (const list of waits) for (const { to } of list) left[to] = (left[to] ?? 0) + 1;
  const sorted: number[] = [];
  for (let index = 0; index < waits.length; index += 1) if (left[index] === 0) sorted.push(index);
  for (let at = 0; at < sorted.length; at += 1) {
    for (const { to } of waits[sorted[at] as number] ?? []) {
      const count = (left[to] ?? 0) - 1;
      left[to] = count;
      if (count === 0) sorted.push(to);
    }
  }
  return sorted;
}
