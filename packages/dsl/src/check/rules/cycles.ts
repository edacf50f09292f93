/** Cycles over edges and references (FLOW4003), one finding for each group of nodes that wait for each other. */
import { shown } from "../../diagnostics/quote.ts";
import type { Validation } from "../validation.ts";
import type { BodyOrder } from "./order.ts";

/** Most nodes of a cycle that a message shows. */
const MAX_SHOWN = 10;

/** Reports the cycles of every body. */
export function checkCycles(ctx: Validation, orders: readonly BodyOrder[]): void {
  for (const order of orders) {
    if (order.sorted.length === order.body.nodes.length) continue;
    for (const group of groupsOf(order)) {
      const cycle = shortestCycle(order, group);
      if (cycle !== undefined) report(ctx, order, cycle);
    }
  }
}

/** `cycle`: waits, each from the node to which the one before it leads. */
function report(ctx: Validation, order: BodyOrder, cycle: readonly number[]): void {
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
