/**
 * Folded bodies: a node whose body is folded is as small as one without, and the rows below it move up.
 *   F1  Without folded nodes the picture stays as it is.
 *   F2  Boxes of a body whose rows are level do not overlap after folding either.
 *   F3  Boxes of a body that a person placed keep their corners.
 */
import type { Box, Line, Picture, Point } from "@millrace/graph";
import { ownerOf } from "./scene.ts";

/** Height and greatest width of a folded node, in units of the picture. */
const FOLDED_H = 44;
const FOLDED_W = 260;

/** One row of a body: where it was and where it is. */
interface Row {
  readonly top: number;
  readonly bottom: number;
  newTop: number;
  newBottom: number;
}

/** The picture with the bodies of these nodes folded. Paths without a body are ignored. */
export function foldPicture(picture: Picture, folded: ReadonlySet<string>): Picture {
  if (!picture.boxes.some(({ node }) => node.body !== undefined && folded.has(node.path))) {
    return picture;
  }
  const bodies = new Map<string, Box[]>();
  for (const box of picture.boxes) {
    const owner = ownerOf(box.node.path);
    const known = bodies.get(owner);
    if (known === undefined) bodies.set(owner, [box]);
    else known.push(box);
  }
  const heights = new Map<string, number>();
  const saved = new Map<string, number>();
  const rowsOfBody = new Map<string, readonly Row[] | undefined>();
  const measure = (owner: string): void => {
    const boxes = bodies.get(owner) ?? [];
    for (const { node, h } of boxes) {
      if (node.body === undefined) heights.set(node.path, h);
      else if (folded.has(node.path)) heights.set(node.path, FOLDED_H);
      else {
        measure(node.path);
        heights.set(node.path, h - (saved.get(node.path) ?? 0));
      }
    }
    const rows = rowsOf(boxes, heights);
    rowsOfBody.set(owner, rows);
    const last = rows?.at(-1);
    saved.set(owner, last === undefined ? 0 : last.bottom - last.newBottom);
  };
  measure("");

  const boxes: Box[] = [];
  const placed = new Map<string, Box>();
  const shifts = new Map<string, number>([["", 0]]); // how far each shown body moves down
  for (const box of picture.boxes) {
    const { path } = box.node;
    const owner = ownerOf(path);
    const shift = shifts.get(owner);
    if (shift === undefined) continue; // in a folded body
    const top = moved(box.y, rowsOfBody.get(owner)) + shift;
    const isFolded = box.node.body !== undefined && folded.has(path);
    const w = isFolded ? Math.min(box.w, FOLDED_W) : box.w;
    const x = box.x + (box.w - w) / 2;
    const next = { ...box, x, y: top, w, h: heights.get(path) ?? box.h };
    boxes.push(next);
    placed.set(path, next);
    if (!isFolded && box.node.body !== undefined) shifts.set(path, top - box.y);
  }
  const before = new Map(picture.boxes.map((box) => [box.node.path, box]));
  const lines = picture.lines.flatMap((line): Line[] => {
    const owner = ownerOf(line.edge.from);
    const shift = shifts.get(owner);
    if (shift === undefined) return [];
    const rows = rowsOfBody.get(owner);
    const inner = line.points.map(([x, y]): Point => [x, moved(y, rows) + shift]);
    const end = (at: number, path: string): Point => {
      const [old, now] = [before.get(path) as Box, placed.get(path) as Box];
      const [x, y] = line.points.at(at) as Point;
      const share = old.w === 0 ? 0 : (x - old.x) / old.w;
      return [now.x + share * now.w, y > old.y + old.h / 2 ? now.y + now.h : now.y];
    };
    inner[0] = end(0, line.edge.from);
    inner[inner.length - 1] = end(-1, line.edge.to);
    return [{ edge: line.edge, points: inner }];
  });
  const origins = [...picture.origins].flatMap(([owner, [x, y]]): [string, Point][] => {
    const shift = shifts.get(owner);
    return shift === undefined ? [] : [[owner, [x, y + shift]]];
  });
  return {
    ...picture,
    height: picture.height - (saved.get("") ?? 0),
    boxes,
    lines,
    origins: new Map(origins),
  };
}

/** The rows of a body with their new places; undefined when its boxes do not stand in level rows. */
function rowsOf(
  boxes: readonly Box[],
  heights: ReadonlyMap<string, number>,
): readonly Row[] | undefined {
  const rows = new Map<number, Row & { height: number }>();
  for (const { node, layer, y, h } of boxes) {
    const height = heights.get(node.path) ?? h;
    const row = rows.get(layer);
    if (row === undefined) {
      rows.set(layer, { top: y, bottom: y + h, newTop: y, newBottom: y, height });
      continue;
    }
    if (row.top !== y) return undefined;
    rows.set(layer, {
      ...row,
      bottom: Math.max(row.bottom, y + h),
      height: Math.max(row.height, height),
    });
  }
  const sorted = [...rows.values()].sort((a, b) => a.top - b.top);
  let shift = 0;
  for (const [at, row] of sorted.entries()) {
    const above = sorted[at - 1];
    if (above !== undefined && row.top < above.bottom) return undefined;
    row.newTop = row.top - shift;
    row.newBottom = row.newTop + row.height;
    shift = row.bottom - row.newBottom;
  }
  return sorted;
}

/** Where a height of a body comes to lie when its rows move. */
function moved(y: number, rows: readonly Row[] | undefined): number {
  let below = 0;
  for (const { top, bottom, newTop, newBottom } of rows ?? []) {
    if (y < top) break;
    if (y <= bottom) {
      const share = bottom === top ? 0 : (y - top) / (bottom - top);
      return newTop + share * (newBottom - newTop);
    }
    below = bottom - newBottom;
  }
  return y - below;
}
