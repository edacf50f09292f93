/** Cycles over edges and references (FLOW4003), one finding for each group of nodes that wait for each other. */
import { shown, type Validation } from "./context.ts";
import type { BodyOrder, Wait } from "./order.ts";

/** Most nodes of a cycle that a message shows. */
const MAX_SHOWN = 10;

/** Reports the cycles of every body. */
export function checkCycles(run: Validation, orders: readonly BodyOrder[]): void {
  for (const order of orders) {
    if (order.sorted.length === order.body.nodes.length) continue;
    for (const group of groupsOf(order)) {
      const cycle = shortestCycle(order, group);
      if (cycle !== undefined) report(run, order, cycle);
    }
  }
}

function report(run: Validation, { body }: BodyOrder, cycle: readonly Wait[]): void {
  const name = (index: number): string => shown(body.nodes[index]?.id ?? "");
  const [first] = cycle;
  const last = cycle.at(-1);
  if (first === undefined || last === undefined) return;
  let path = name(first.from);
  for (const { to, implied } of cycle.slice(0, MAX_SHOWN)) {
    path += `${implied ? " ~> " : " -> "}${name(to)}`;
  }
  if (cycle.length > MAX_SHOWN) path += " -> …";
  run.findings.add("FLOW4003", last.pointer, { parts: { path } });
}

/** Strongly connected groups that hold a cycle (Tarjan's algorithm with its own stack), in author order of their first node. */
function groupsOf({ waits, sorted }: BodyOrder): number[][] {
  const count = waits.length;
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
      path.push({ node, at: 0 });
    };
    enter(root);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { node } = top;
      const wait = waits[node]?.[top.at];
      if (wait !== undefined) {
        top.at += 1;
        if (order[wait.to] === 0) enter(wait.to);
        else if (open[wait.to] === 1) low[node] = Math.min(low[node] ?? 0, order[wait.to] ?? 0);
        continue;
      }
      path.pop();
      const above = path.at(-1)?.node;
      if (above !== undefined) low[above] = Math.min(low[above] ?? 0, low[node] ?? 0);
      if (low[node] === order[node]) groups.push(close(stack, open, node));
    }
  }
  const first = (group: readonly number[]): number => group.reduce((a, b) => Math.min(a, b));
  return groups.sort((a, b) => first(a) - first(b));
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

/** The shortest cycle through the first node of a group that is in one; undefined for a single node without a loop. */
function shortestCycle({ waits }: BodyOrder, group: readonly number[]): Wait[] | undefined {
  const inside = new Set(group);
  const start = group.reduce((a, b) => Math.min(a, b));
  const arrived = new Map<number, Wait>();
  const open = [start];
  for (let at = 0; at < open.length; at += 1) {
    for (const wait of waits[open[at] as number] ?? []) {
      if (!inside.has(wait.to)) continue;
      if (wait.to === start) return pathTo(wait, arrived, start);
      if (arrived.has(wait.to)) continue;
      arrived.set(wait.to, wait);
      open.push(wait.to);
    }
  }
  return undefined;
}

function pathTo(last: Wait, arrived: ReadonlyMap<number, Wait>, start: number): Wait[] {
  const path = [last];
  for (let at = last.from; at !== start; ) {
    const wait = arrived.get(at);
    if (wait === undefined) break;
    path.push(wait);
    at = wait.from;
  }
  return path.reverse();
}
