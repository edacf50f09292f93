/**
 * The camera of a picture: which part of it is on the screen, and how large. World: units of the picture; screen: CSS pixels from the
 * upper left corner of the view.
 *   V1  `toWorld` and `toScreen` undo each other.
 *   V2  Zooming about a point leaves that point where it is.
 */
import type { Point } from "@millrace/graph";

/** `x` and `y`: the world point in the upper left corner of the view. `zoom`: pixels per unit. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** A size in CSS pixels. */
export interface View {
  readonly width: number;
  readonly height: number;
}

/** A part of the world. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** Below this zoom boxes are plain rectangles; from it on they are cards with text. */
export const NEAR_ZOOM = 0.5;

const MAX_ZOOM = 3;
/** Smallest zoom that a person reaches with the controls; "Fit" goes below it for a larger picture. */
const MIN_ZOOM = 0.05;
/** Smallest zoom at which a picture is first shown: ids are just readable. */
const OPEN_ZOOM = 0.35;
/** A picture a little wider than the view is shown in its whole width, down to this zoom. */
const LEAST_OPEN_ZOOM = 0.25;
/** Pixels around a picture that fits. */
const MARGIN_PX = 24;
/** At least this many pixels of the picture stay in the view. */
const KEPT_PX = 48;

/** Where a world point is on the screen. */
export function toScreen({ x, y, zoom }: Camera, [worldX, worldY]: Point): Point {
  return [(worldX - x) * zoom, (worldY - y) * zoom];
}

/** The world point below a point of the screen. */
export function toWorld({ x, y, zoom }: Camera, [screenX, screenY]: Point): Point {
  return [x + screenX / zoom, y + screenY / zoom];
}

/** The part of the world in the view, larger by `margin` views on each side. */
export function seenBy({ x, y, zoom }: Camera, { width, height }: View, margin = 0): Rect {
  const [w, h] = [width / zoom, height / zoom];
  return { x: x - w * margin, y: y - h * margin, w: w * (1 + 2 * margin), h: h * (1 + 2 * margin) };
}

/** Moves the picture by pixels: a positive `dx` moves it to the right. */
export function panned(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, x: camera.x - dx / camera.zoom, y: camera.y - dy / camera.zoom };
}

/** Zooms by a factor, as far as the limits allow; the world point below `about` stays there. */
export function zoomed(camera: Camera, factor: number, about: Point): Camera {
  const least = Math.min(MIN_ZOOM, camera.zoom);
  const zoom = Math.min(MAX_ZOOM, Math.max(least, camera.zoom * factor));
  const [x, y] = toWorld(camera, about);
  return { x: x - about[0] / zoom, y: y - about[1] / zoom, zoom };
}

/** Shows all of a picture in the middle of the view, at most at its own size. */
export function fitted(picture: View, { width, height }: View): Camera {
  const room = (whole: number): number => Math.max(1, whole - 2 * MARGIN_PX);
  const zoom = Math.min(
    1,
    room(width) / Math.max(1, picture.width),
    room(height) / Math.max(1, picture.height),
  );
  return {
    x: (picture.width - width / zoom) / 2,
    y: (picture.height - height / zoom) / 2,
    zoom,
  };
}

/** How a picture is first shown: fitted, but one that would be too small to read from its beginning. */
export function opened(picture: View, view: View): Camera {
  const whole = fitted(picture, view);
  if (whole.zoom >= OPEN_ZOOM) return whole;
  const across = (view.width - 2 * MARGIN_PX) / picture.width;
  const zoom = Math.min(OPEN_ZOOM, Math.max(LEAST_OPEN_ZOOM, across));
  const [w, h] = [view.width / zoom, view.height / zoom];
  const margin = MARGIN_PX / zoom;
  const y = picture.height + 2 * margin > h ? -margin : (picture.height - h) / 2;
  return { x: (picture.width - w) / 2, y, zoom };
}

/** Keeps a part of the picture in the view. */
export function clamped(camera: Camera, picture: View, view: View): Camera {
  const { zoom } = camera;
  const kept = KEPT_PX / zoom;
  const limit = (at: number, seen: number, whole: number): number => {
    const room = Math.min(kept, whole, seen);
    return Math.min(whole - room, Math.max(room - seen, at));
  };
  return {
    x: limit(camera.x, view.width / zoom, picture.width),
    y: limit(camera.y, view.height / zoom, picture.height),
    zoom,
  };
}

/** Moves the camera to a box unless all of it is in the view: its middle, or its upper left corner where it is larger than the view. */
export function revealed(camera: Camera, box: Rect, view: View): Camera {
  const seen = seenBy(camera, view);
  const isIn = (from: number, size: number, start: number, length: number): boolean =>
    from >= start && from + size <= start + length;
  if (isIn(box.x, box.w, seen.x, seen.w) && isIn(box.y, box.h, seen.y, seen.h)) return camera;
  const margin = MARGIN_PX / camera.zoom;
  const place = (from: number, size: number, length: number): number =>
    size + 2 * margin > length ? from - margin : from - (length - size) / 2;
  return { ...camera, x: place(box.x, box.w, seen.w), y: place(box.y, box.h, seen.h) };
}

/** The camera between two others; `share` goes from 0 to 1. */
export function between(from: Camera, to: Camera, share: number): Camera {
  const mix = (a: number, b: number): number => a + (b - a) * share;
  return { x: mix(from.x, to.x), y: mix(from.y, to.y), zoom: mix(from.zoom, to.zoom) };
}
