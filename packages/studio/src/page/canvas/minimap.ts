/** The whole picture in a corner, with a frame around the part that is in the view. */
import type { Point } from "@millrace/graph";
import { seenBy, type View } from "./camera.ts";
import type { Frame } from "./draw.ts";

/** A picture with at least this many nodes has a minimap. */
export const MINIMAP_NODES = 50;

/** Longest and shortest side of a minimap, in pixels: a narrow picture is drawn wider than it is. */
const MOST_PX = 136;
const LEAST_PX = 40;
/** New states reach the minimap after this time, in milliseconds: each drawing of it draws every node. */
const PAUSE_MS = 250;

/** A minimap on an element. */
export interface Minimap {
  /** Draws what changed; true: newer states wait for their time. */
  draw(frame: Frame, now: number): boolean;
  /** The world point below a point of the element. */
  worldAt(point: Point): Point;
}

/** Makes a minimap. */
export function createMinimap(canvas: HTMLCanvasElement): Minimap {
  const base = document.createElement("canvas");
  let drawn: Pick<Frame, "scene" | "palette" | "details" | "density"> | undefined;
  let at = Number.NEGATIVE_INFINITY;
  let fit: Fit = fitOf({ width: 1, height: 1 });
  return {
    draw(frame, now) {
      const { scene, palette, details, density } = frame;
      const isSame =
        drawn?.scene === scene && drawn.palette === palette && drawn.density === density;
      const isOld = isSame && drawn?.details !== details;
      if (!isSame || (isOld && now - at >= PAUSE_MS)) {
        fit = fitOf(scene.picture);
        canvas.style.width = `${fit.width}px`;
        canvas.style.height = `${fit.height}px`;
        drawBase(base, { ...frame, fit });
        drawn = { scene, palette, details, density };
        at = now;
      }
      drawSeen(canvas, base, { ...frame, fit });
      return drawn?.details !== details;
    },
    worldAt: ([x, y]) => [x / fit.x, y / fit.y],
  };
}

/** Size of a minimap in pixels, and pixels for each unit of the picture. */
interface Fit extends View {
  readonly x: number;
  readonly y: number;
}

function fitOf(picture: View): Fit {
  const scale = MOST_PX / Math.max(1, picture.width, picture.height);
  const width = Math.round(Math.max(LEAST_PX, picture.width * scale));
  const height = Math.round(Math.max(LEAST_PX, picture.height * scale));
  return {
    width,
    height,
    x: width / Math.max(1, picture.width),
    y: height / Math.max(1, picture.height),
  };
}

/** A context of the right size in CSS pixels, cleared. */
function contextOf(
  canvas: HTMLCanvasElement,
  { width, height }: View,
  density: number,
): CanvasRenderingContext2D | null {
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  const context = canvas.getContext("2d");
  context?.setTransform(density, 0, 0, density, 0, 0);
  return context;
}

function drawBase(
  base: HTMLCanvasElement,
  { scene, palette, details, density, fit }: Frame & { readonly fit: Fit },
): void {
  const context = contextOf(base, fit, density);
  if (context === null) return;
  for (const { node, x, y, w, h } of scene.picture.boxes) {
    const state = details.get(node.path)?.state;
    const isBody = node.body !== undefined;
    context.fillStyle = isBody
      ? palette.body
      : state === undefined
        ? palette.edge
        : palette[`state-${state}`];
    context.fillRect(x * fit.x, y * fit.y, Math.max(1, w * fit.x), Math.max(1, h * fit.y));
  }
}

function drawSeen(
  canvas: HTMLCanvasElement,
  base: HTMLCanvasElement,
  { camera, view, palette, density, fit }: Frame & { readonly fit: Fit },
): void {
  const context = contextOf(canvas, fit, density);
  if (context === null) return;
  context.drawImage(base, 0, 0, fit.width, fit.height);
  const { x, y, w, h } = seenBy(camera, view);
  const left = Math.max(1, x * fit.x);
  const top = Math.max(1, y * fit.y);
  const right = Math.min(fit.width - 1, (x + w) * fit.x);
  const bottom = Math.min(fit.height - 1, (y + h) * fit.y);
  context.strokeStyle = palette.selection;
  context.lineWidth = 2;
  context.strokeRect(left, top, right - left, bottom - top);
}
