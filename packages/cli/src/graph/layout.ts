/**
 * Where everything of a drawing stands, in units of a picture with y growing downwards.
 *   P1  No two boxes of a body overlap, and a body lies inside of the box of its node.
 *   P2  The same drawing gives the same picture.
 */
import type { Drawing, DrawnEdge, DrawnNode } from "./drawing.ts";
import { layersOf } from "./layers.ts";

/** A node in its place; `x` and `y` are of its left upper corner, in the whole picture. `layer`: its row in its body. */
export interface Box {
  readonly node: DrawnNode;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly layer: number;
}

/** An edge with the points that it passes. */
export interface Line {
  readonly edge: DrawnEdge;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** A picture; boxes of bodies come after the box that holds them. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
}

const LINE_H = 44; // two lines of text and room around them
const MIN_W = 120;
const PAD = 16;
const HEAD_H = 44; // text above a body
const GAP_X = 28;
const GAP_Y = 48; // room for an arrow and the name of its port
const PORT_GAP = 16;
const BEND_W = 12;
const PASSES = 6; // of moving boxes under each other
const CHAR_W = 7.6; // of the widest of the two lines, in a font of 13 units
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;

/** Units that a text takes, about: wide characters count twice. */
function textWidth(text: string): number {
  let cells = 0;
  for (const char of text) cells += WIDE.test(char) ? 2 : 1;
  return cells * CHAR_W;
}

export function layoutOf(drawing: Drawing): Picture {
  const { width, height, boxes, lines } = place(drawing);
  return { width: width + 2 * PAD, height: height + 2 * PAD, ...moved({ boxes, lines }, PAD, PAD) };
}

function place(drawing: Drawing): Picture {
  const { nodes, edges } = drawing;
  const inner = nodes.map(({ body }) => (body === undefined ? undefined : place(body)));
  const size = nodes.map(({ id, type }, at) => {
    const body = inner[at];
    const w = Math.max(MIN_W, textWidth(id) + 2 * PAD, textWidth(type) + 2 * PAD);
    if (body === undefined) return { w, h: LINE_H };
    return { w: Math.max(w, body.width + 2 * PAD), h: HEAD_H + body.height + PAD };
  });
  const numbers = new Map(nodes.map(({ path }, at) => [path, at]));
  const links = edges.map(({ from, to }) => ({
    from: numbers.get(from) as number,
    to: numbers.get(to) as number,
  }));
  for (const [at, ports] of portsOf(drawing).entries()) {
    const labels = ports.reduce((sum, port) => sum + textWidth(port ?? "") + PORT_GAP, 0);
    const own = size[at] as { w: number };
    if (ports.length > 1) own.w = Math.max(own.w, labels);
  }
  const { rows, chains, rowOf } = layersOf(nodes.length, links);
  const widthOf = (node: number): number => size[node]?.w ?? BEND_W;
  const x = columns(rows, chains, widthOf, rowOf.length);
  const tops: number[] = [];
  const heights: number[] = [];
  let height = 0;
  for (const row of rows) {
    const tallest = row.reduce((most, node) => Math.max(most, size[node]?.h ?? 0), LINE_H);
    tops.push(height);
    heights.push(tallest);
    height += tallest + GAP_Y;
  }
  height = Math.max(0, height - GAP_Y);
  const boxes: Box[] = [];
  const lines: Line[] = [];
  for (const [at, node] of nodes.entries()) {
    const { w, h } = size[at] as { w: number; h: number };
    const layer = rowOf[at] as number;
    const box: Box = { node, x: (x[at] as number) - w / 2, y: tops[layer] as number, w, h, layer };
    boxes.push(box);
    const body = inner[at];
    if (body === undefined) continue;
    const inside = moved(body, box.x + (w - body.width) / 2, box.y + HEAD_H);
    boxes.push(...inside.boxes);
    lines.push(...inside.lines);
  }
  const exits = exitsOf(drawing, { x, links, size });
  for (const [at, edge] of edges.entries()) {
    const { from, to } = links[at] as { from: number; to: number };
    const chain = chains[at] as readonly number[];
    const topOf = (node: number): number => tops[rowOf[node] as number] as number;
    const isTurned = chain[0] !== from;
    const points: (readonly [number, number])[] = [];
    for (const bend of isTurned ? [...chain].reverse() : chain) {
      if (bend < nodes.length) continue;
      const sides = [topOf(bend), topOf(bend) + (heights[rowOf[bend] as number] as number)];
      for (const y of isTurned ? sides.reverse() : sides) points.push([x[bend] as number, y]);
    }
    const exit = exits[at] as number;
    points.unshift([exit, topOf(from) + (isTurned ? 0 : (size[from]?.h ?? 0))]);
    points.push([x[to] as number, topOf(to) + (isTurned ? (size[to]?.h ?? 0) : 0)]);
    lines.push({ edge, points });
  }
  const width = Math.max(0, ...boxes.map((box) => box.x + box.w));
  return { width, height, boxes, lines };
}

/** The ports that edges leave each node by, in the order of the edges; undefined stands for `out`. */
function portsOf({ nodes, edges }: Drawing): (string | undefined)[][] {
  const ports = new Map(nodes.map(({ path }) => [path, new Set<string | undefined>()]));
  for (const { from, port } of edges) ports.get(from)?.add(port);
  return nodes.map(({ path }) => [...(ports.get(path) ?? [])]);
}

/** Where each edge leaves its node: side by side, one place a port, in the order of where they lead. */
function exitsOf(
  drawing: Drawing,
  {
    x,
    links,
    size,
  }: {
    readonly x: readonly number[];
    readonly links: readonly { readonly from: number; readonly to: number }[];
    readonly size: readonly { readonly w: number }[];
  },
): number[] {
  const targets = drawing.nodes.map((): Map<string | undefined, number[]> => new Map());
  for (const [at, { port }] of drawing.edges.entries()) {
    const { from, to } = links[at] as { from: number; to: number };
    const known = targets[from]?.get(port) ?? [];
    targets[from]?.set(port, [...known, x[to] as number]);
  }
  const places = targets.map((ports, node) => {
    const mean = (all: readonly number[]): number =>
      all.reduce((sum, each) => sum + each, 0) / all.length;
    const order = [...ports].sort(([, a], [, b]) => mean(a) - mean(b));
    const { w } = size[node] as { w: number };
    const left = (x[node] as number) - w / 2;
    return new Map(order.map(([port], at) => [port, left + (w * (at + 0.5)) / order.length]));
  });
  return drawing.edges.map(
    ({ port }, at) => places[links[at]?.from as number]?.get(port) as number,
  );
}

/** The middle of each node and bend: rows keep their order and their gaps, and each moves under what leads to it. */
function columns(
  rows: readonly (readonly number[])[],
  chains: readonly (readonly number[])[],
  widthOf: (node: number) => number,
  count: number,
): number[] {
  const x = new Array<number>(count).fill(0);
  const near = x.map((): number[] => []);
  for (const chain of chains) {
    for (let at = 1; at < chain.length; at += 1) {
      near[chain[at] as number]?.push(chain[at - 1] as number);
      near[chain[at - 1] as number]?.push(chain[at] as number);
    }
  }
  for (const row of rows)
    spread(
      row,
      row.map(() => 0),
      { x, widthOf },
    );
  for (let pass = 0; pass < PASSES; pass += 1) {
    for (const row of pass % 2 === 0 ? rows : [...rows].reverse()) {
      const wishes = row.map((node) => {
        const around = near[node] as readonly number[];
        if (around.length === 0) return x[node] as number;
        return around.reduce((sum, each) => sum + (x[each] as number), 0) / around.length;
      });
      spread(row, wishes, { x, widthOf });
    }
  }
  let left = 0;
  for (const row of rows) {
    for (const node of row) left = Math.min(left, (x[node] as number) - widthOf(node) / 2);
  }
  return x.map((middle) => middle - left);
}

/**
 * Puts a row as near to its wishes as its gaps allow: nodes that would overlap form a block, which stands at the mean of what
 * its nodes wish.
 */
function spread(
  row: readonly number[],
  wishes: readonly number[],
  { x, widthOf }: { readonly x: number[]; readonly widthOf: (node: number) => number },
): void {
  interface Block {
    start: number;
    readonly nodes: number[];
    readonly offsets: number[];
    width: number;
    sum: number;
  }
  const blocks: Block[] = [];
  for (const [at, node] of row.entries()) {
    const w = widthOf(node);
    let block: Block = {
      start: 0,
      nodes: [node],
      offsets: [w / 2],
      width: w,
      sum: (wishes[at] as number) - w / 2,
    };
    block.start = block.sum;
    for (let before = blocks.at(-1); before !== undefined; before = blocks.at(-1)) {
      if (before.start + before.width + GAP_X <= block.start) break;
      blocks.pop();
      const shift = before.width + GAP_X;
      const nodes = [...before.nodes, ...block.nodes];
      block = {
        start: 0,
        nodes,
        offsets: [...before.offsets, ...block.offsets.map((offset) => offset + shift)],
        width: shift + block.width,
        sum: before.sum + block.sum - shift * block.nodes.length,
      };
      block.start = block.sum / nodes.length;
    }
    blocks.push(block);
  }
  for (const { start, nodes, offsets } of blocks) {
    for (const [at, node] of nodes.entries()) x[node] = start + (offsets[at] as number);
  }
}

function moved(
  { boxes, lines }: Pick<Picture, "boxes" | "lines">,
  dx: number,
  dy: number,
): Pick<Picture, "boxes" | "lines"> {
  return {
    boxes: boxes.map((box) => ({ ...box, x: box.x + dx, y: box.y + dy })),
    lines: lines.map(({ edge, points }) => ({
      edge,
      points: points.map(([x, y]): readonly [number, number] => [x + dx, y + dy]),
    })),
  };
}
