/** The whole picture in a corner, with a frame around the part that is in the view. */
import type { Point } from "@millrace/graph";
import { type Camera, seenBy, type View } from "./camera.ts";
import type { Frame } from "./draw.ts";

/** A picture of so many nodes has a minimap. */
export const MINIMAP_NODES = 50;

const WIDTH = 168;
const HEIGHT = 112;
/** New states reach the minimap after this time, in milliseconds: it is an overview, and each draws every node. */
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
  let scale = 1;
  return {
    draw(frame, now) {
      const { scene, palette, details, density } = frame;
      const isSame =
        drawn?.scene === scene && drawn.palette === palette && drawn.density === density;
      const isOld = isSame && drawn?.details !== details;
      if (!isSame || (isOld && now - at >= PAUSE_MS)) {
        scale = drawBase(base, frame);
        drawn = { scene, palette, details, density };
        at = now;
      }
      drawSeen(canvas, base, { ...frame, scale });
      return drawn?.details !== details;
    },
    worldAt: ([x, y]) => [x / scale, y / scale],
  };
}

function sized(canvas: HTMLCanvasElement, density: number): CanvasRenderingContext2D | null {
  canvas.width = Math.round(WIDTH * density);
  canvas.height = Math.round(HEIGHT * density);
  return canvas.getContext("2d");
}

function drawBase(base: HTMLCanvasElement, frame: Frame): number {
  const { scene, palette, details, density } = frame;
  const { width, height, boxes } = scene.picture;
  const scale = Math.min(WIDTH / Math.max(1, width), HEIGHT / Math.max(1, height));
  const context = sized(base, density);
  if (context === null) return scale;
  context.setTransform(density, 0, 0, density, 0, 0);
  for (const { node, x, y, w, h } of boxes) {
    const state = details.get(node.path)?.state;
    const isBody = node.body !== undefined;
    context.fillStyle = isBody
      ? palette.body
      : state === undefined
        ? palette.edge
        : palette[`state-${state}`];
    context.fillRect(x * scale, y * scale, Math.max(1, w * scale), Math.max(1, h * scale));
  }
  return scale;
}

function drawSeen(
  canvas: HTMLCanvasElement,
  base: HTMLCanvasElement,
  {
    camera,
    view,
    palette,
    density,
    scale,
  }: Frame & { readonly camera: Camera; readonly view: View; readonly scale: number },
): void {
  const context = sized(canvas, density);
  if (context === null) return;
  context.drawImage(base, 0, 0);
  context.setTransform(density, 0, 0, density, 0, 0);
  const { x, y, w, h } = seenBy(camera, view);
  context.strokeStyle = palette.selection;
  context.lineWidth = 1.5;
  context.strokeRect(x * scale, y * scale, w * scale, h * scale);
}
