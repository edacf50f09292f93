/**
 * The picture on the screen: camera, folded bodies, selection and what is dragged, drawn when one of them changed.
 *   R1  However many changes come, there is at most one drawing in a frame, and none without a change.
 *   R2  Until somebody moves the camera, it shows the whole picture, or the beginning of one that is too large to read.
 */
import type { Picture, Point } from "@millrace/graph";
import {
  between,
  type Camera,
  clamped,
  fitted,
  NEAR_ZOOM,
  opened,
  panned,
  type Rect,
  revealed,
  seenBy,
  toWorld,
  type View,
  zoomed,
} from "./camera.ts";
import { type Cards, createCards } from "./cards.ts";
import type { DetailsByPath } from "./details.ts";
import { type Dragged, drawFrame, type Frame } from "./draw.ts";
import { foldPicture } from "./fold.ts";
import { createMinimap, MINIMAP_NODES } from "./minimap.ts";
import { type Palette, readPalette } from "./palette.ts";
import { followPointer } from "./pointer.ts";
import { createScene, ownerOf, type Scene } from "./scene.ts";

/** The elements of a canvas, in the order in which they lie over each other. */
export interface CanvasElements {
  /** Holds the others and takes the pointer. */
  readonly surface: HTMLElement;
  readonly drawing: HTMLCanvasElement;
  readonly layer: HTMLElement;
  readonly minimap: HTMLCanvasElement;
}

/** Actions of a person in the canvas. */
export interface CanvasEvents {
  readonly select: (path: string) => void;
  /** A node was moved to a place relative to its body. Undefined: nodes cannot be moved. */
  readonly move: ((path: string, x: number, y: number) => void) | undefined;
  readonly fold: (path: string) => void;
}

/** Content of the canvas. */
export interface CanvasContent {
  readonly picture: Picture;
  readonly details: DetailsByPath;
  readonly selected: string | undefined;
  /** Paths of nodes whose bodies are folded. */
  readonly folded: ReadonlySet<string>;
}

/** A canvas that is on the screen. */
export interface CanvasView {
  show(content: CanvasContent): void;
  /** Colours have changed. */
  recolour(): void;
  pan(dx: number, dy: number): void;
  /** Zooms about the middle. */
  zoom(factor: number): void;
  fit(): void;
  destroy(): void;
}

/** How long the camera takes to reach a selection, in milliseconds. */
const PAN_MS = 150;
/** How long a dropped node stays where it was dropped if no new picture comes, in milliseconds. */
const DROPPED_MS = 1_000;
/** New states reach the minimap after this time, in milliseconds. */
const MAP_MS = 250;
/** Side of the square in the upper right corner of a body that folds it, in units of the picture. */
const TOGGLE = 32;

const EMPTY: Picture = { width: 0, height: 0, boxes: [], lines: [], origins: new Map() };

/** Shows pictures in the elements. `events` is asked for at each use, so that they may change. */
export function createView(elements: CanvasElements, events: () => CanvasEvents): CanvasView {
  const { surface, drawing, layer } = elements;
  const context = drawing.getContext("2d");
  const cards: Cards = createCards(layer);
  const minimap = createMinimap(elements.minimap);
  let content: CanvasContent = {
    picture: EMPTY,
    details: new Map(),
    selected: undefined,
    folded: new Set(),
  };
  let scene: Scene = createScene(EMPTY);
  let camera: Camera = { x: 0, y: 0, zoom: 1 };
  let size: View = { width: 0, height: 0 };
  let fit: typeof fitted | undefined = opened; // until somebody moves the camera
  let dragged: Dragged | undefined;
  let dropTimer: ReturnType<typeof setTimeout> | undefined;
  let mapTimer: ReturnType<typeof setTimeout> | undefined;
  let palette: Palette | undefined;
  let covered: { readonly scene: Scene; readonly zoom: number; readonly area: Rect } | undefined;
  let journey: { readonly from: Camera; readonly to: Camera; start?: number } | undefined;
  let frame: number | undefined;

  const invalidate = (): void => {
    frame ??= requestAnimationFrame(draw);
  };
  const look = (next: Camera): void => {
    camera = clamped(next, scene.picture, size);
    invalidate();
  };
  const lookByHand = (next: Camera): void => {
    fit = undefined;
    journey = undefined;
    look(next);
  };

  function draw(now: number): void {
    frame = undefined;
    if (size.width === 0 || size.height === 0 || context === null) return;
    if (journey !== undefined) {
      journey.start ??= now;
      const share = Math.min(1, (now - journey.start) / PAN_MS);
      camera = between(journey.from, journey.to, 1 - (1 - share) ** 2);
      if (share === 1) journey = undefined;
      else invalidate();
    }
    const density = Math.min(2, devicePixelRatio);
    const [width, height] = [size.width * density, size.height * density].map(Math.round);
    if (drawing.width !== width || drawing.height !== height) {
      drawing.width = width as number;
      drawing.height = height as number;
    }
    palette ??= readPalette(surface);
    const isNear = camera.zoom >= NEAR_ZOOM;
    cards.refresh({ details: content.details, selected: shownSelection(), dragged });
    if (isNear) placeCards();
    else if (covered !== undefined) {
      cards.want([]);
      covered = undefined;
    }
    layer.hidden = !isNear;
    const shown: Frame = {
      scene,
      camera,
      view: size,
      density,
      palette,
      details: content.details,
      selected: shownSelection(),
      dragged,
      hasCard: (path) => isNear && cards.has(path),
    };
    drawFrame(context, shown);
    const hasMap = scene.picture.boxes.length >= MINIMAP_NODES;
    elements.minimap.hidden = !hasMap;
    if (hasMap && minimap.draw(shown, now)) {
      mapTimer ??= setTimeout(() => {
        mapTimer = undefined;
        invalidate();
      }, MAP_MS);
    }
  }

  function placeCards(): void {
    const { x, y, zoom } = camera;
    layer.style.transform = `translate(${-x * zoom}px,${-y * zoom}px) scale(${zoom})`;
    const isCovered =
      covered?.scene === scene &&
      covered.zoom === zoom &&
      contains(covered.area, seenBy(camera, size, 0.5));
    if (!isCovered) {
      const area = seenBy(camera, size, 1);
      const seen = new Set(scene.within(seenBy(camera, size)).boxes);
      const around = scene.within(area).boxes.filter((box) => !seen.has(box));
      cards.want([...seen, ...around]);
      covered = { scene, zoom, area };
    }
    if (cards.step()) invalidate();
  }

  /** The selected node, or the folded one around it. */
  function shownSelection(): string | undefined {
    let path = content.selected;
    while (path !== undefined && path !== "" && scene.boxOf(path) === undefined) {
      path = ownerOf(path);
    }
    return path === "" ? undefined : path;
  }

  function reveal(): void {
    const path = shownSelection();
    const box = path === undefined ? undefined : scene.boxOf(path);
    if (box === undefined || size.width === 0) return;
    const to = revealed(camera, box, size);
    if (to === camera) return;
    fit = undefined;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) camera = to;
    else journey = { from: camera, to };
    invalidate();
  }

  /** Keeps a node where it is on the screen when the rest of the picture moves. */
  function anchor(before: Scene): void {
    const path = dragged?.path ?? shownSelection();
    const [old, now] = path === undefined ? [] : [before.boxOf(path), scene.boxOf(path)];
    if (old === undefined || now === undefined) return;
    const { dx, dy } = dragged ?? { dx: 0, dy: 0 };
    camera = { ...camera, x: camera.x + now.x - old.x - dx, y: camera.y + now.y - old.y - dy };
  }

  const boxBelow = (point: Point): ReturnType<Scene["boxAt"]> =>
    scene.boxAt(toWorld(camera, point));
  const stopPointer = followPointer(surface, {
    draggableAt: (point) => (events().move === undefined ? undefined : boxBelow(point)?.node.path),
    click(point) {
      const box = boxBelow(point);
      if (box === undefined) return;
      const [x, y] = toWorld(camera, point);
      const isToggle =
        box.node.body !== undefined &&
        camera.zoom >= NEAR_ZOOM &&
        x > box.x + box.w - TOGGLE &&
        y < box.y + TOGGLE;
      if (isToggle) events().fold(box.node.path);
      else events().select(box.node.path);
    },
    pan: (dx, dy) => lookByHand(panned(camera, dx, dy)),
    zoom: (factor, about) => lookByHand(zoomed(camera, factor, about)),
    drag(path, dx, dy) {
      clearTimeout(dropTimer);
      fit = undefined;
      dragged = { path, dx: dx / camera.zoom, dy: dy / camera.zoom };
      invalidate();
    },
    drop(isDone) {
      const box = dragged === undefined ? undefined : scene.boxOf(dragged.path);
      if (!isDone || dragged === undefined || box === undefined) {
        dragged = undefined;
      } else {
        const { path, dx, dy } = dragged;
        const [left, top] = scene.picture.origins.get(ownerOf(path)) ?? [0, 0];
        dropTimer = setTimeout(() => {
          dragged = undefined;
          invalidate();
        }, DROPPED_MS);
        events().move?.(path, Math.round(box.x + dx - left), Math.round(box.y + dy - top));
      }
      invalidate();
    },
    hover(point) {
      const node = point === undefined ? undefined : boxBelow(point)?.node;
      const state = node === undefined ? undefined : content.details.get(node.path)?.state;
      const title = node === undefined ? "" : `${node.path}: ${node.type}`;
      const whole = state === undefined ? title : `${title}, ${state}`;
      if (surface.title !== whole) surface.title = whole;
      surface.toggleAttribute("data-over", node !== undefined);
    },
  });
  const stopMap = followPointer(elements.minimap, {
    ...IGNORE,
    click: (point) => centre(minimap.worldAt(point)),
    pan(dx, dy) {
      const [x, y] = minimap.worldAt([dx, dy]);
      lookByHand({ ...camera, x: camera.x + x, y: camera.y + y });
    },
    zoom: (factor) => lookByHand(zoomed(camera, factor, [size.width / 2, size.height / 2])),
  });
  function centre([x, y]: Point): void {
    const { w, h } = seenBy(camera, size);
    lookByHand({ ...camera, x: x - w / 2, y: y - h / 2 });
  }

  const observer = new ResizeObserver(() => {
    const isFirst = size.width === 0;
    size = { width: surface.clientWidth, height: surface.clientHeight };
    look(fit?.(scene.picture, size) ?? camera);
    if (isFirst) reveal();
  });
  observer.observe(surface);

  return {
    show(next) {
      const before = content;
      const previous = scene;
      content = next;
      if (next.picture !== before.picture || next.folded !== before.folded) {
        scene = createScene(foldPicture(next.picture, next.folded));
        if (fit === undefined) anchor(previous);
        else camera = fit(scene.picture, size);
        clearTimeout(dropTimer);
        if (next.picture !== before.picture) dragged = undefined;
        camera = clamped(camera, scene.picture, size);
      }
      if (next.selected !== before.selected) reveal();
      invalidate();
    },
    recolour() {
      palette = undefined;
      invalidate();
    },
    pan: (dx, dy) => lookByHand(panned(camera, dx, dy)),
    zoom: (factor) => lookByHand(zoomed(camera, factor, [size.width / 2, size.height / 2])),
    fit() {
      fit = fitted;
      journey = undefined;
      look(fitted(scene.picture, size));
    },
    destroy() {
      if (frame !== undefined) cancelAnimationFrame(frame);
      clearTimeout(dropTimer);
      clearTimeout(mapTimer);
      observer.disconnect();
      stopPointer();
      stopMap();
    },
  };
}

function contains(outer: Rect, inner: Rect): boolean {
  return (
    outer.x <= inner.x &&
    outer.y <= inner.y &&
    outer.x + outer.w >= inner.x + inner.w &&
    outer.y + outer.h >= inner.y + inner.h
  );
}

const IGNORE = {
  draggableAt: () => undefined,
  drag: () => undefined,
  drop: () => undefined,
  hover: () => undefined,
} as const;
