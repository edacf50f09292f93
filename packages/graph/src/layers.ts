/**
 * The layers of a drawing: the row of each node, and the order in each row.
 *   G1  Every edge leads downwards; edges that close a cycle are reversed.
 *   G2  An edge across rows has a bend in each row between, so that it passes between the nodes.
 */

/** An edge between two numbers of nodes. */
export interface Link {
  readonly from: number;
  readonly to: number;
}

/** The rows, from the top; numbers from `count` on are bends. `chains`: for each link, what it passes, ends included. */
export interface Layers {
  readonly rows: readonly (readonly number[])[];
  readonly chains: readonly (readonly number[])[];
  /** The row of each node and bend. */
  readonly rowOf: readonly number[];
}

const SWEEPS = 16; // the order hardly gets better after that
const MAX_IDLE = 4; // sweeps in a row without a better order
const MAX_BENDS = 20_000; // more bends make no drawing clearer; bounds the time

/** The layers of `count` nodes. */
export function layersOf(count: number, links: readonly Link[]): Layers {
  const down = withoutCycles(count, links);
  const rowOf = longestPaths(count, down);
  const rows: number[][] = [];
  for (const row of rowOf) while (rows.length <= row) rows.push([]);
  for (const [node, row] of rowOf.entries()) rows[row]?.push(node);
  const spare = { bends: MAX_BENDS };
  const chains = down.map(({ from, to }) => bend(from, to, { rows, rowOf, spare }));
  order(rows, rowOf, chains);
  return { rows, chains, rowOf };
}

/** The links, with those reversed that lead back into the path of a depth-first search. */
function withoutCycles(count: number, links: readonly Link[]): Link[] {
  const outgoing = lists(count, links, "from");
  const state = new Uint8Array(count); // 1: on the way here, 2: done
  const back = new Set<number>();
  for (let root = 0; root < count; root += 1) {
    if (state[root] !== 0) continue;
    const stack = [{ node: root, next: 0 }];
    state[root] = 1;
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const link = outgoing[top.node]?.[top.next];
      top.next += 1;
      if (link === undefined) {
        state[top.node] = 2;
        stack.pop();
        continue;
      }
      const { to } = links[link] as Link;
      if (state[to] === 1) back.add(link);
      else if (state[to] === 0) {
        state[to] = 1;
        stack.push({ node: to, next: 0 });
      }
    }
  }
  return links.map((link, at) => (back.has(at) ? { from: link.to, to: link.from } : link));
}

function longestPaths(count: number, links: readonly Link[]): number[] {
  const outgoing = lists(count, links, "from");
  const waits = new Array<number>(count).fill(0);
  for (const { to } of links) waits[to] = (waits[to] as number) + 1;
  const rowOf = new Array<number>(count).fill(0);
  const ready = [...waits.keys()].filter((node) => waits[node] === 0);
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    for (const link of outgoing[node] ?? []) {
      const { to } = links[link] as Link;
      rowOf[to] = Math.max(rowOf[to] as number, (rowOf[node] as number) + 1);
      waits[to] = (waits[to] as number) - 1;
      if (waits[to] === 0) ready.push(to);
    }
  }
  return rowOf;
}

function bend(
  from: number,
  to: number,
  { rows, rowOf, spare }: { rows: number[][]; rowOf: number[]; spare: { bends: number } },
): number[] {
  const first = (rowOf[from] as number) + 1;
  const last = rowOf[to] as number;
  const passed = Math.max(0, last - first);
  if (spare.bends < passed) return [from, to];
  spare.bends -= passed;
  const chain = [from];
  for (let row = first; row < last; row += 1) {
    const at = rowOf.length;
    rowOf.push(row);
    rows[row]?.push(at);
    chain.push(at);
  }
  return [...chain, to];
}

/** Moves each node towards the middle of its neighbours, row by row, down and up, and keeps the order with the fewest crossings. */
function order(rows: number[][], rowOf: readonly number[], chains: readonly number[][]): void {
  const above = rowOf.map((): number[] => []);
  const below = rowOf.map((): number[] => []);
  for (const chain of chains) {
    for (let at = 1; at < chain.length; at += 1) {
      const [from, to] = [chain[at - 1] as number, chain[at] as number];
      above[to]?.push(from);
      below[from]?.push(to);
    }
  }
  const place = new Array<number>(rowOf.length).fill(0);
  const settle = (row: readonly number[]): void => {
    for (const [at, node] of row.entries()) place[node] = at;
  };
  for (const row of rows) settle(row);
  let best = rows.map((row) => [...row]);
  let fewest = crossings(rows, below, place);
  let idle = 0;
  for (let sweep = 0; sweep < SWEEPS && idle < MAX_IDLE && fewest > 0; sweep += 1) {
    const isDown = sweep % 2 === 0;
    const neighbours = isDown ? above : below;
    for (const row of isDown ? rows : [...rows].reverse()) {
      const middle = new Map(row.map((node) => [node, middleOf(neighbours[node] ?? [], place)]));
      const wish = (node: number): number => middle.get(node) ?? (place[node] as number);
      row.sort((a, b) => wish(a) - wish(b) || (place[a] as number) - (place[b] as number));
      settle(row);
    }
    const count = crossings(rows, below, place);
    idle += 1;
    if (count >= fewest) continue;
    idle = 0;
    fewest = count;
    best = rows.map((row) => [...row]);
  }
  for (const [at, row] of best.entries()) rows[at] = row;
}

/** How many pairs of edges between neighbouring rows cross: inversions, counted with a tree of sums. */
function crossings(
  rows: readonly (readonly number[])[],
  below: readonly (readonly number[])[],
  place: readonly number[],
): number {
  let count = 0;
  for (const [at, row] of rows.entries()) {
    const sums = new Array<number>((rows[at + 1]?.length ?? 0) + 1).fill(0);
    let seen = 0;
    for (const node of row) {
      const ends = below[node] as readonly number[];
      for (const end of ends) {
        let before = 0; // ends so far at this place or left of it
        for (let i = (place[end] as number) + 1; i > 0; i -= i & -i) before += sums[i] as number;
        count += seen - before;
      }
      for (const end of ends) {
        const first = (place[end] as number) + 1;
        for (let i = first; i < sums.length; i += i & -i) sums[i] = (sums[i] as number) + 1;
      }
      seen += ends.length;
    }
  }
  return count;
}

/** The mean place; undefined without neighbours. */
function middleOf(nodes: readonly number[], place: readonly number[]): number | undefined {
  if (nodes.length === 0) return undefined;
  return nodes.reduce((sum, node) => sum + (place[node] as number), 0) / nodes.length;
}

/** Numbers of the links at each node. */
function lists(count: number, links: readonly Link[], end: keyof Link): number[][] {
  const all = Array.from({ length: count }, (): number[] => []);
  for (const [at, link] of links.entries()) all[link[end]]?.push(at);
  return all;
}
