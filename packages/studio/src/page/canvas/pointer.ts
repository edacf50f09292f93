/**
 * What a mouse, a pen or fingers do on the canvas: a click selects, dragging a node moves it, dragging anything else moves the picture,
 * two fingers zoom, the wheel pans, and zooms with Ctrl.
 */
import type { Point } from "@millrace/graph";

/** Target of the pointer. Points are in CSS pixels from the upper left corner of the surface. */
export interface PointerTarget {
  /** The node below a point that can be dragged. */
  draggableAt(point: Point): string | undefined;
  /** A click: the pointer went down and up at one place. */
  click(point: Point): void;
  pan(dx: number, dy: number): void;
  zoom(factor: number, about: Point): void;
  /** A node is dragged, so far; the way counts from where it was. */
  drag(path: string, dx: number, dy: number): void;
  /** The node was dropped. `isDone` is false when the browser took the pointer away. */
  drop(isDone: boolean): void;
  /** The pointer is over a point; undefined: it left. */
  hover(point: Point | undefined): void;
}

/** A pointer that moved less than this many pixels counts as one that stood still. */
const STILL_PX = 4;
/** Height of a line where a wheel counts in lines, in pixels. */
const LINE_PX = 16;
/** Zoom of a wheel, for each pixel. */
const WHEEL_ZOOM = 0.005;
/** Largest movement that one event of a wheel counts for, in pixels: a wheel with notches sends 100 and more. */
const WHEEL_MOST = 60;

/** Listens on a surface until the returned function is called. */
export function followPointer(surface: HTMLElement, target: PointerTarget): () => void {
  const down = new Map<number, Point>();
  let start: Point = [0, 0];
  let dragged: string | undefined;
  let isMoved = false;

  const at = ({ clientX, clientY }: MouseEvent): Point => {
    const { left, top } = surface.getBoundingClientRect();
    return [clientX - left, clientY - top];
  };
  const onDown = (event: PointerEvent): void => {
    if (event.pointerType === "mouse" && event.button > 1) return;
    const point = at(event);
    surface.setPointerCapture(event.pointerId);
    down.set(event.pointerId, point);
    if (down.size > 1) {
      if (dragged !== undefined && isMoved) target.drop(false);
      dragged = undefined;
      isMoved = true; // two fingers never click
      return;
    }
    start = point;
    isMoved = false;
    dragged = event.button === 0 ? target.draggableAt(point) : undefined;
  };
  const onMove = (event: PointerEvent): void => {
    const point = at(event);
    const before = down.get(event.pointerId);
    if (before === undefined) {
      target.hover(point);
      return;
    }
    const others = [...down].filter(([id]) => id !== event.pointerId).map(([, other]) => other);
    if (others.length > 0) {
      const [other] = others as [Point];
      down.set(event.pointerId, point);
      const about = middle(point, other);
      const was = middle(before, other);
      target.pan(about[0] - was[0], about[1] - was[1]);
      target.zoom(distance(point, other) / Math.max(1, distance(before, other)), about);
      return;
    }
    if (!isMoved && distance(point, start) < STILL_PX) return;
    // The way up to here is not lost: what is dragged stays below the pointer.
    const from = isMoved ? before : start;
    isMoved = true;
    down.set(event.pointerId, point);
    if (dragged !== undefined) target.drag(dragged, point[0] - start[0], point[1] - start[1]);
    else target.pan(point[0] - from[0], point[1] - from[1]);
  };
  const onUp = (event: PointerEvent): void => {
    if (!down.delete(event.pointerId) || down.size > 0) return;
    const isDone = event.type === "pointerup";
    if (dragged !== undefined && isMoved) target.drop(isDone);
    else if (!isMoved && isDone && event.button === 0) target.click(at(event));
    dragged = undefined;
  };
  const onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    if (event.ctrlKey || event.metaKey) {
      const way = Math.max(-WHEEL_MOST, Math.min(WHEEL_MOST, dy));
      target.zoom(Math.exp(-way * WHEEL_ZOOM), at(event));
    } else if (event.shiftKey && dx === 0) target.pan(-dy, 0);
    else target.pan(-dx, -dy);
  };
  const onLeave = (): void => target.hover(undefined);

  surface.addEventListener("pointerdown", onDown);
  surface.addEventListener("pointermove", onMove);
  surface.addEventListener("pointerup", onUp);
  surface.addEventListener("pointercancel", onUp);
  surface.addEventListener("pointerleave", onLeave);
  surface.addEventListener("wheel", onWheel, { passive: false });
  return () => {
    surface.removeEventListener("pointerdown", onDown);
    surface.removeEventListener("pointermove", onMove);
    surface.removeEventListener("pointerup", onUp);
    surface.removeEventListener("pointercancel", onUp);
    surface.removeEventListener("pointerleave", onLeave);
    surface.removeEventListener("wheel", onWheel);
  };
}

function middle(a: Point, b: Point): Point {
  return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}
