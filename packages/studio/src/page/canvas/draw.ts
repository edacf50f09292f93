/**
 * Draws the part of a picture that is on the screen: bodies, lines, and boxes that have no card. What is off the screen costs nothing.
 *   D1  Each line and each box of the part is drawn once.
 */
import { type Box, HEAD_H, type Line, type Point } from "@millrace/graph";
import { symbolOf } from "../parts/run-status.tsx";
import { type Camera, NEAR_ZOOM, seenBy, toScreen, type View } from "./camera.ts";
import type { DetailsByPath } from "./details.ts";
import type { ColourRole, Palette } from "./palette.ts";
import type { Scene } from "./scene.ts";

/** A node that somebody is dragging, and how far, in units of the picture. */
export interface Dragged {
  readonly path: string;
  readonly dx: number;
  readonly dy: number;
}

/** All that a frame depends on. */
export interface Frame {
  readonly scene: Scene;
  readonly camera: Camera;
  readonly view: View;
  /** Device pixels per CSS pixel. */
  readonly density: number;
  readonly palette: Palette;
  readonly details: DetailsByPath;
  readonly selected: string | undefined;
  readonly dragged: Dragged | undefined;
  /** Whether a node has a card, so that its box is not drawn. */
  readonly hasCard: (path: string) => boolean;
}

/** Below this zoom an arrow has no tip. */
const TIP_ZOOM = 0.2;
/** Width of a line in a picture that is drawn small, in pixels of the device. */
const HAIR_PX = 0.9;
/**
 * Lines of one path. Each path of its own costs time, and so do paths of thousands of curves: 5,000 lines of a fitted picture take
 * 5.3 ms one by one and 1.4 ms in parts of 64, and their tips 5.8 ms, 1.4 ms, and 195 ms as one path.
 */
const PER_PATH = 64;
/** Boxes lower than this have no border, in pixels. */
const BORDER_PX = 5;
/** Boxes of this height and more have a symbol, in pixels. */
const SYMBOL_PX = 12;
/** Boxes of this width and more have their id, in pixels. */
const ID_PX = 36;
const RADIUS = 8;
const TIP = 8;

/** Draws a frame over what was there. */
export function drawFrame(context: CanvasRenderingContext2D, frame: Frame): void {
  const { scene, camera, view, density, palette, dragged } = frame;
  const part = scene.within(seenBy(camera, view));
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, view.width, view.height);
  const boxes = dragged === undefined ? part.boxes : part.boxes.map((box) => dragBox(box, dragged));
  const lines =
    dragged === undefined ? part.lines : part.lines.map((line) => dragLine(line, dragged));
  for (const box of boxes) if (isBody(box)) drawBody(context, box, frame);
  drawLines(context, lines, frame);
  context.setTransform(density, 0, 0, density, 0, 0);
  context.font = `10px ${palette.font}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const box of boxes) if (!frame.hasCard(box.node.path)) drawText(context, box, frame);
}

/** A box while its node, or one around it, is dragged. */
export function dragBox(box: Box, { path, dx, dy }: Dragged): Box {
  return isIn(box.node.path, path) ? { ...box, x: box.x + dx, y: box.y + dy } : box;
}

function dragLine(line: Line, { path, dx, dy }: Dragged): Line {
  const { from, to } = line.edge;
  const [isFrom, isTo] = [isIn(from, path), isIn(to, path)];
  if (!isFrom && !isTo) return line;
  const last = line.points.length - 1;
  const shifted = ([x, y]: Point): Point => [x + dx, y + dy];
  return {
    edge: line.edge,
    points: line.points.map((point, at) =>
      (isFrom && isTo) || (isFrom && at === 0) || (isTo && at === last) ? shifted(point) : point,
    ),
  };
}

function isIn(path: string, owner: string): boolean {
  return path === owner || path.startsWith(`${owner}/`);
}

function isBody({ node, h }: Box): boolean {
  return node.body !== undefined && h > HEAD_H;
}

function drawBody(context: CanvasRenderingContext2D, box: Box, frame: Frame): void {
  const { camera, palette, details, selected } = frame;
  const { path } = box.node;
  const [left, top] = toScreen(camera, [box.x, box.y]);
  const [w, h] = [box.w * camera.zoom, box.h * camera.zoom];
  const state = details.get(path)?.state;
  context.beginPath();
  if (camera.zoom >= NEAR_ZOOM) context.roundRect(left, top, w, h, RADIUS * camera.zoom);
  else context.rect(left, top, w, h);
  context.fillStyle = palette.body;
  context.fill();
  context.strokeStyle =
    path === selected
      ? palette.selection
      : state === undefined
        ? palette.line
        : palette[`state-${state}`];
  context.lineWidth = path === selected ? 3 : state === undefined ? 1 : 2;
  context.stroke();
}

/** Kinds of lines from the lowest to the highest. */
const KINDS = ["implied", "edge", "fault"] as const;

function kindOf({ edge }: Line): (typeof KINDS)[number] {
  return edge.implied ? "implied" : edge.port === "error" ? "fault" : "edge";
}

/** Adds the curves of a line, in units of the picture: it leaves and arrives straight up or down. */
function addCurves(context: CanvasRenderingContext2D, { points }: Line): void {
  let [beforeX, beforeY] = points[0] as Point;
  context.moveTo(beforeX, beforeY);
  for (let at = 1; at < points.length; at += 1) {
    const [x, y] = points[at] as Point;
    const middle = (beforeY + y) / 2;
    context.bezierCurveTo(beforeX, middle, x, middle, x, y);
    [beforeX, beforeY] = [x, y];
  }
}

/** Calls `paint` for each part of a list of lines, as one path each. */
function inParts(
  context: CanvasRenderingContext2D,
  lines: readonly Line[],
  paint: { readonly add: (line: Line) => void; readonly end: () => void },
): void {
  for (let at = 0; at < lines.length; at += PER_PATH) {
    context.beginPath();
    for (const line of lines.slice(at, at + PER_PATH)) paint.add(line);
    paint.end();
  }
}

function drawLines(context: CanvasRenderingContext2D, lines: readonly Line[], frame: Frame): void {
  const { camera, density, palette, scene } = frame;
  const { zoom } = camera;
  const scale = zoom * density;
  const hair = HAIR_PX / density; // lines of up to one pixel of the device cost a fraction of wider ones
  context.setTransform(scale, 0, 0, scale, -camera.x * scale, -camera.y * scale);
  for (const kind of KINDS) {
    const some = lines.filter((line) => kindOf(line) === kind);
    if (some.length === 0) continue;
    context.strokeStyle = palette[kind];
    context.fillStyle = palette[kind];
    context.lineWidth = Math.max(kind === "fault" ? 2 : 1.6, hair / zoom);
    context.setLineDash(kind === "implied" ? [3, 4].map((part) => part * context.lineWidth) : []);
    inParts(context, some, {
      add: (line) => addCurves(context, line),
      end: () => context.stroke(),
    });
    context.setLineDash([]);
    if (zoom < TIP_ZOOM) continue;
    inParts(context, some, {
      add: ({ points }) => addTip(context, points),
      end: () => context.fill(),
    });
  }
  if (zoom < NEAR_ZOOM) return;
  context.font = `11px ${palette.font}`;
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.lineWidth = 4;
  context.lineJoin = "round";
  context.strokeStyle = palette.background;
  for (const line of lines) {
    const { edge, points } = line;
    if (edge.port === undefined || !scene.isNamed(edge)) continue;
    const [[x, y], [nextX, nextY]] = points as readonly [Point, Point];
    const towards = Math.max(-1, Math.min(1, (nextX - x) / 100)) * 6;
    const below = nextY >= y ? 16 : -8;
    context.strokeText(edge.port, x + towards, y + below);
    context.fillStyle = edge.port === "error" ? palette.fault : palette.muted;
    context.fillText(edge.port, x + towards, y + below);
  }
}

function addTip(context: CanvasRenderingContext2D, points: readonly Point[]): void {
  const [x, y] = points.at(-1) as Point;
  const [, before] = points.at(-2) as Point;
  const back = y >= before ? -TIP : TIP;
  context.moveTo(x, y);
  context.lineTo(x - TIP / 2, y + back);
  context.lineTo(x + TIP / 2, y + back);
  context.closePath();
}

/** A box without a card: a rectangle in the colour of its state, with its symbol and id as far as they fit. */
function drawText(context: CanvasRenderingContext2D, box: Box, frame: Frame): void {
  const { camera, palette, details, selected } = frame;
  const { id, path } = box.node;
  const [left, top] = toScreen(camera, [box.x, box.y]);
  const w = box.w * camera.zoom;
  const headH = Math.min(box.h, HEAD_H) * camera.zoom;
  const { state, problems = 0 } = details.get(path) ?? {};
  const isSelected = path === selected;
  const isTiny = headH < BORDER_PX && !isSelected;
  if (isTiny) {
    if (isBody(box)) return;
    context.fillStyle =
      problems > 0 ? palette.fault : state === undefined ? palette.line : palette[`state-${state}`];
    context.fillRect(left, top, Math.max(1, w), Math.max(1, headH));
    return;
  }
  if (!isBody(box)) {
    context.fillStyle = state === undefined ? palette.surface : palette[`state-${state}`];
    context.fillRect(left, top, w, headH);
    context.strokeStyle = isSelected
      ? palette.selection
      : problems > 0
        ? palette.fault
        : palette.line;
    context.lineWidth = isSelected ? 3 : problems > 0 ? 2 : 1;
    context.strokeRect(left, top, w, headH);
  }
  if (headH < SYMBOL_PX) return;
  const sign = problems > 0 ? "!" : state === undefined ? "" : symbolOf(state);
  const name = w < ID_PX ? "" : clipped(id, (w - (sign === "" ? 6 : 18)) / 5.5);
  const colour: ColourRole = isBody(box) || state === undefined ? "text" : "on-state";
  context.fillStyle = palette[colour];
  const middle = top + headH / 2;
  if (sign !== "") context.fillText(sign, left + 4, middle);
  if (name !== "") context.fillText(name, left + (sign === "" ? 4 : 16), middle);
}

/** As much of a name as has room, in characters. */
function clipped(name: string, room: number): string {
  const points = [...name];
  if (points.length <= room) return name;
  return room < 3 ? "" : `${points.slice(0, Math.floor(room) - 1).join("")}…`;
}
