/**
 * The layout of a drawing: positions in units of the picture, y growing downwards.
 *   P1  No two boxes of a body overlap, and a body lies inside of the box of its node.
 *   P2  The same drawing gives the same picture.
 */
import type { Drawing, DrawnEdge, DrawnNode } from "./drawing.ts";
import { nameWidth } from "./label.ts";
import { layersOf } from "./layers.ts";
import { extentOf, type Pins, type Point, pinCorners, pinOf, type Size } from "./pins.ts";

/** A placed node; `x` and `y` are its upper left corner in the whole picture. `layer`: its row in its body, from 0. */
export interface Box {
  readonly node: DrawnNode;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly layer: number;
}

/** An edge with the points that it passes, from its node to its target. */
export interface Line {
  readonly edge: DrawnEdge;
  readonly points: readonly Point[];
}

/** A laid out drawing; boxes of bodies come after the box that contains them. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  /** Where the pins of a body count from, by the path of its node; those of the flow itself are at `""`. */
  readonly origins: ReadonlyMap<string, Point>;
}

const LINE_H = 44; // two lines of text and room around them
const MIN_W = 120;
const PAD = 16;
const HEAD_H = 60; // text above a body, and room below its line
const GAP_X = 28;
const GAP_Y = 48; // room for an arrow and the name of its port
const PORT_GAP = 16;
const BEND_W = 12;
const PASSES = 8; // of moving boxes under each other
const STRAIGHT = 8; // weight of a straight line across rows, against 1 for a centred box
const SLOPE = 0.07; // share of the widest arrow that a gap grows by, so that no arrow lies flat
const MAX_GAP_Y = 110;

/**
 * Places every node and edge; nodes with a pin stand where it says, the others around them. The size grows with the text: widths
 * are estimated, since the font of the reader is unknown.
 */
export function layoutDrawing(drawing: Drawing, pins: Pins = {}): Picture {
  const { width, height, ...placed } = place(drawing, "", pins);
  return { width: width + 2 * PAD, height: height + 2 * PAD, ...moved(placed, PAD, PAD) };
}

function place(drawing: Drawing, owner: string, pins: Pins): Picture {
  const { nodes, edges } = drawing;
  const inner = nodes.map(({ body, path }) =>
    body === undefined ? undefined : place(body, path, pins),
  );
  const size = nodes.map(({ id, type }, at) => {
    const body = inner[at];
    const w = Math.max(MIN_W, nameWidth(id) + 2 * PAD, nameWidth(type) + 2 * PAD);
    if (body === undefined) return { w, h: LINE_H };
    return { w: Math.max(w, body.width + 2 * PAD), h: HEAD_H + body.height + PAD };
  });
  const numbers = new Map(nodes.map(({ path }, at) => [path, at]));
  const links = edges.map(({ from, to }) => ({
    from: numbers.get(from) as number,
    to: numbers.get(to) as number,
  }));
  for (const [at, ports] of portsOf(drawing).entries()) {
    const labels = ports.reduce((sum, port) => sum + nameWidth(port ?? "") + PORT_GAP, 0);
    const own = size[at] as { w: number };
    if (ports.length > 1) own.w = Math.max(own.w, labels);
  }
  const { rows, chains, rowOf } = layersOf(nodes.length, links);
  const widthOf = (node: number): number => size[node]?.w ?? BEND_W;
  const x = columns(rows, chains, { widthOf, count: rowOf.length, nodes: nodes.length });
  const gaps = gapsOf(rows.length, { chains, rowOf, x });
  const tops: number[] = [];
  const heights: number[] = [];
  let height = 0;
  for (const [at, row] of rows.entries()) {
    const tallest = row.reduce((most, node) => Math.max(most, size[node]?.h ?? 0), LINE_H);
    tops.push(height);
    heights.push(tallest);
    height += tallest + (at + 1 < rows.length ? (gaps[at] as number) : 0);
  }
  const corners = nodes.map((_, at): Point => {
    return [(x[at] as number) - (size[at]?.w ?? 0) / 2, tops[rowOf[at] as number] as number];
  });
  const pinned = nodes.map(({ path }) => pinOf(pins, path));
  const hasPins = pinned.some((pin) => pin !== undefined);
  const origin: Point = hasPins ? pinCorners(corners, pinned, size) : [0, 0];
  const boxes: Box[] = [];
  const lines: Line[] = [];
  const origins = new Map([[owner, origin]]);
  for (const [at, node] of nodes.entries()) {
    const { w, h } = size[at] as Size;
    const layer = rowOf[at] as number;
    const [left, top] = corners[at] as Point;
    const box: Box = { node, x: left, y: top, w, h, layer };
    boxes.push(box);
    const body = inner[at];
    if (body === undefined) continue;
    const inside = moved(body, box.x + (w - body.width) / 2, box.y + HEAD_H);
    boxes.push(...inside.boxes);
    lines.push(...inside.lines);
    for (const [path, point] of inside.origins) origins.set(path, point);
  }
  const exits = exitsOf(drawing, { x, links, size });
  for (const [at, edge] of edges.entries()) {
    const { from, to } = links[at] as { from: number; to: number };
    if (hasPins) {
      const [left, top] = corners[from] as Point;
      const [toLeft, toTop] = corners[to] as Point;
      const exit = left + (exits[at] as number) - (x[from] as number) + (size[from]?.w ?? 0) / 2;
      const entry: Point = [toLeft + (size[to]?.w ?? 0) / 2, toTop];
      lines.push({ edge, points: [[exit, top + (size[from]?.h ?? 0)], entry] });
      continue;
    }
    const chain = chains[at] as readonly number[];
    const topOf = (node: number): number => tops[rowOf[node] as number] as number;
    const isTurned = chain[0] !== from;
    const points: Point[] = [];
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
  if (hasPins) return { ...extentOf(corners, size), boxes, lines, origins };
  const width = x.reduce((most, middle, at) => Math.max(most, middle + widthOf(at) / 2), 0);
  return { width, height, boxes, lines, origins };
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

/** Room below each row: more where an arrow has far to go to the side. */
function gapsOf(
  count: number,
  {
    chains,
    rowOf,
    x,
  }: {
    readonly chains: readonly (readonly number[])[];
    readonly rowOf: readonly number[];
    readonly x: readonly number[];
  },
): number[] {
  const gaps = new Array<number>(count).fill(GAP_Y);
  for (const chain of chains) {
    for (let at = 1; at < chain.length; at += 1) {
      const [from, to] = [chain[at - 1] as number, chain[at] as number];
      const wide = Math.abs((x[from] as number) - (x[to] as number));
      const row = rowOf[from] as number;
      gaps[row] = Math.max(gaps[row] as number, Math.min(MAX_GAP_Y, GAP_Y + SLOPE * wide));
    }
  }
  return gaps;
}

/** The middle of each node and bend: rows keep their order and their gaps, and each moves under what leads to it. */
function columns(
  rows: readonly (readonly number[])[],
  chains: readonly (readonly number[])[],
  {
    widthOf,
    count,
    nodes,
  }: {
    readonly widthOf: (node: number) => number;
    readonly count: number;
    /** Numbers from here on are bends. */
    readonly nodes: number;
  },
): number[] {
  const x = new Array<number>(count).fill(0);
  const pull = (a: number, b: number): number => (a >= nodes && b >= nodes ? STRAIGHT : 1);
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
      row.map(() => ({ at: 0, weight: 1 })),
      { x, widthOf },
    );
  for (let pass = 0; pass < PASSES; pass += 1) {
    for (const row of pass % 2 === 0 ? rows : [...rows].reverse()) {
      const wishes = row.map((node) => {
        const around = near[node] as readonly number[];
        if (around.length === 0) return { at: x[node] as number, weight: 1 };
        let sum = 0;
        let weight = 0;
        for (const each of around) {
          sum += pull(node, each) * (x[each] as number);
          weight += pull(node, each);
        }
        return { at: sum / weight, weight };
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

/** The preferred middle of a node, and its weight. */
interface Wish {
  readonly at: number;
  readonly weight: number;
}

/** Nodes side by side; `sum`: the weighted sum of the left ends that they prefer. */
interface Block {
  start: number;
  readonly nodes: number[];
  readonly offsets: number[];
  width: number;
  sum: number;
  weight: number;
}

/** Puts a row as near to its wishes as its gaps allow: nodes that would overlap form a block, placed at the weighted mean of its wishes. */
function spread(
  row: readonly number[],
  wishes: readonly Wish[],
  { x, widthOf }: { readonly x: number[]; readonly widthOf: (node: number) => number },
): void {
  const blocks: Block[] = [];
  for (const [at, node] of row.entries()) {
    const width = widthOf(node);
    const { at: wish, weight } = wishes[at] as Wish;
    const start = wish - width / 2;
    let block: Block = {
      start,
      nodes: [node],
      offsets: [width / 2],
      width,
      sum: start * weight,
      weight,
    };
    for (let before = blocks.at(-1); before !== undefined; before = blocks.at(-1)) {
      if (before.start + before.width + GAP_X <= block.start) break;
      blocks.pop();
      block = joined(before, block);
    }
    blocks.push(block);
  }
  for (const { start, nodes, offsets } of blocks) {
    for (const [at, node] of nodes.entries()) x[node] = start + (offsets[at] as number);
  }
}

/** The left block, with the right one beside it. */
function joined(left: Block, right: Block): Block {
  const shift = left.width + GAP_X;
  for (const offset of right.offsets) left.offsets.push(offset + shift);
  left.nodes.push(...right.nodes);
  left.sum += right.sum - shift * right.weight;
  left.weight += right.weight;
  left.width = shift + right.width;
  left.start = left.sum / left.weight;
  return left;
}

function moved(
  { boxes, lines, origins }: Pick<Picture, "boxes" | "lines" | "origins">,
  dx: number,
  dy: number,
): Pick<Picture, "boxes" | "lines" | "origins"> {
  const shifted = ([x, y]: Point): Point => [x + dx, y + dy];
  return {
    boxes: boxes.map((box) => ({ ...box, x: box.x + dx, y: box.y + dy })),
    lines: lines.map(({ edge, points }) => ({ edge, points: points.map(shifted) })),
    origins: new Map([...origins].map(([path, point]) => [path, shifted(point)])),
  };
}
