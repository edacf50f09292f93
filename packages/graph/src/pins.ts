/** Nodes that stand where a person put them, and the others around them. */
import { isObject } from "@millrace/contracts/kit";

/** `x` and `y` in units of the picture. */
export type Point = readonly [x: number, y: number];

/**
 * Upper left corners by path, relative to the body of the node: the `layout` of a flow. What is no pair of numbers is ignored, and a
 * place that nobody would find.
 */
export type Pins = { readonly [path: string]: unknown };

/** Room between a pinned node and one that makes way for it. */
const GAP = 28;

/** The farthest place from the origin of a body. A row of five thousand nodes is nearer; sums of larger ones are no numbers at last. */
const FARTHEST = 1_000_000;

/** Size of a node. */
export interface Size {
  readonly w: number;
  readonly h: number;
}

/** The pin of a node. */
export function pinOf(pins: Pins, path: string): Point | undefined {
  const pin = isObject(pins) && Object.hasOwn(pins, path) ? pins[path] : undefined;
  if (!Array.isArray(pin) || pin.length !== 2) return undefined;
  const isPlace = pin.every((at) => typeof at === "number" && Math.abs(at) <= FARTHEST);
  return isPlace ? [pin[0], pin[1]] : undefined;
}

/**
 * Moves the corners of one body: pinned nodes to their pins, the others along with them and then down until they are free. Returns
 * where the pins count from, so that nothing lies left of or above the body.
 */
export function pinCorners(
  corners: Point[],
  pinned: readonly (Point | undefined)[],
  size: readonly Size[],
): Point {
  const moves = pinned.flatMap((pin, at): Point[] => {
    const [left, top] = corners[at] as Point;
    return pin === undefined ? [] : [[pin[0] - left, pin[1] - top]];
  });
  const mean = (axis: 0 | 1): number =>
    moves.reduce((sum, move) => sum + move[axis], 0) / moves.length;
  const [dx, dy] = [mean(0), mean(1)];
  const fixed: number[] = [];
  for (const [at, pin] of pinned.entries()) {
    if (pin === undefined) continue;
    corners[at] = pin;
    fixed.push(at);
  }
  const rest = [...corners.keys()].filter((at) => pinned[at] === undefined);
  rest.sort((a, b) => (corners[a] as Point)[1] - (corners[b] as Point)[1]);
  // One way only, downwards, so each of the others meets each pinned node at most once.
  fixed.sort((a, b) => (corners[a] as Point)[1] - (corners[b] as Point)[1]);
  let pushed = 0;
  for (const at of rest) {
    const [left, top] = corners[at] as Point;
    let y = top + dy + pushed;
    for (const other of fixed) {
      const [ox, oy] = corners[other] as Point;
      const [{ w, h }, { w: ow, h: oh }] = [size[at] as Size, size[other] as Size];
      const isBeside = left + dx + w + GAP <= ox || ox + ow + GAP <= left + dx;
      if (!isBeside && y + h + GAP > oy && y < oy + oh + GAP) y = oy + oh + GAP;
    }
    pushed = Math.max(pushed, y - top - dy);
    corners[at] = [left + dx, y];
  }
  const least = (axis: 0 | 1): number =>
    corners.reduce((min, each) => Math.min(min, each[axis]), 0);
  const origin: Point = [-least(0), -least(1)];
  for (const [at, [left, top]] of corners.entries())
    corners[at] = [left + origin[0], top + origin[1]];
  return origin;
}

/** Size of a body with these nodes. */
export function extentOf(
  corners: readonly Point[],
  size: readonly Size[],
): { readonly width: number; readonly height: number } {
  let [width, height] = [0, 0];
  for (const [at, [left, top]] of corners.entries()) {
    width = Math.max(width, left + (size[at] as Size).w);
    height = Math.max(height, top + (size[at] as Size).h);
  }
  return { width, height };
}
