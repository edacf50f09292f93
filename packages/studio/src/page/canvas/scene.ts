/**
 * A picture with a spatial index. Boxes and lines are found through a grid, so that a frame costs what is on the screen and
 * not what the picture holds.
 *   C1  `within` returns exactly the boxes and lines whose bounds meet the rectangle, each once, in the order of the picture.
 *   C2  `boxAt` returns the innermost box around a point.
 */
import type { Box, DrawnEdge, Line, Picture, Point } from "@millrace/graph";
import type { Rect } from "./camera.ts";

/** The boxes and lines in a part of the world. */
export interface Part {
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
}

/** A picture with its grid. */
export interface Scene {
  readonly picture: Picture;
  /** Boxes and lines whose bounds meet a rectangle; what touches it counts. */
  within(rect: Rect): Part;
  /** The innermost box around a point. */
  boxAt(point: Point): Box | undefined;
  /** The box of a node, by its path. */
  boxOf(path: string): Box | undefined;
  /** Whether an edge shows the name of its port: the first one of each port does. */
  isNamed(edge: DrawnEdge): boolean;
}

/** Side of a cell of the grid, in units of the picture: a few boxes each. */
const CELL = 512;

/** Makes a scene of a picture; the time it takes grows with the picture. */
export function createScene(picture: Picture): Scene {
  const { boxes, lines } = picture;
  const boxGrid = createGrid(boxes);
  const lineBounds = lines.map(boundsOf);
  const lineGrid = createGrid(lineBounds);
  const byPath = new Map(boxes.map((box) => [box.node.path, box]));
  const named = namedEdges(lines);
  return {
    picture,
    within(rect) {
      return {
        boxes: boxGrid(rect).map((at) => boxes[at] as Box),
        lines: lineGrid(rect).map((at) => lines[at] as Line),
      };
    },
    boxAt([x, y]) {
      const at = boxGrid({ x, y, w: 0, h: 0 }).at(-1);
      return at === undefined ? undefined : boxes[at];
    },
    boxOf: (path) => byPath.get(path),
    isNamed: (edge) => named.has(edge),
  };
}

/** The bounds of a line. Its curves stay within those of its points. */
export function boundsOf({ points }: Line): Rect {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return { x: left, y: top, w: right - left, h: bottom - top };
}

/** Whether two rectangles have a point in common. */
export function meets(a: Rect, b: Rect): boolean {
  return a.x <= b.x + b.w && b.x <= a.x + a.w && a.y <= b.y + b.h && b.y <= a.y + a.h;
}

/** The path of the node whose body contains a node; "" for the flow itself. */
export function ownerOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function namedEdges(lines: readonly Line[]): ReadonlySet<DrawnEdge> {
  const first = new Map<string, DrawnEdge>();
  for (const { edge } of lines) {
    if (edge.port === undefined) continue;
    const key = `${edge.from} ${edge.port}`;
    if (!first.has(key)) first.set(key, edge);
  }
  return new Set(first.values());
}

/** Finds the numbers of the rectangles that meet another one, ascending. */
function createGrid(items: readonly Rect[]): (rect: Rect) => number[] {
  const cells = new Map<string, number[]>();
  let area: readonly [number, number, number, number] = [0, 0, -1, -1]; // of cells that hold anything
  for (const [at, item] of items.entries()) {
    const [left, top, right, bottom] = cellsOf(item);
    area =
      at === 0
        ? [left, top, right, bottom]
        : [
            Math.min(area[0], left),
            Math.min(area[1], top),
            Math.max(area[2], right),
            Math.max(area[3], bottom),
          ];
    for (let x = left; x <= right; x += 1) {
      for (let y = top; y <= bottom; y += 1) {
        const key = `${x},${y}`;
        const cell = cells.get(key);
        if (cell === undefined) cells.set(key, [at]);
        else cell.push(at);
      }
    }
  }
  const seen = new Uint32Array(items.length);
  let turn = 0;
  return (rect) => {
    turn += 1;
    const found: number[] = [];
    const [left, top, right, bottom] = cellsOf(rect);
    for (let x = Math.max(left, area[0]); x <= Math.min(right, area[2]); x += 1) {
      for (let y = Math.max(top, area[1]); y <= Math.min(bottom, area[3]); y += 1) {
        for (const at of cells.get(`${x},${y}`) ?? []) {
          if (seen[at] === turn) continue;
          seen[at] = turn;
          if (meets(items[at] as Rect, rect)) found.push(at);
        }
      }
    }
    return found.sort((a, b) => a - b);
  };
}

function cellsOf({ x, y, w, h }: Rect): [number, number, number, number] {
  const cell = (at: number): number => Math.floor(at / CELL);
  return [cell(x), cell(y), cell(x + w), cell(y + h)];
}
