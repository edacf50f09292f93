/**
 * The picture of a flow or a run, to look at and to point at. The drawing is hidden from screen readers: the tree "Nodes" says the same
 * and has the same selection.
 */
import { type Picture, pictureToSvg } from "@millrace/graph";
import { effect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { saveText } from "../parts/clipboard.ts";
import { Toolbar } from "../parts/toolbar.tsx";
import { theme } from "../state/theme.ts";
import type { DetailsByPath } from "./details.ts";
import { ownerOf } from "./scene.ts";
import { type CanvasEvents, type CanvasView, createView } from "./view.ts";
import "./canvas.css";

export type { NodeDetails } from "./details.ts";

/** Pixels that an arrow key moves the picture. */
const STEP_PX = 64;
/** The factor by which one press of + or − zooms. */
const ZOOM_STEP = 1.25;

/** Content and actions of a canvas. */
export interface CanvasProps {
  readonly picture: Picture;
  /** By path in the flow, without the numbers of items. */
  readonly details: DetailsByPath;
  readonly selected: string | undefined;
  readonly onSelect: (path: string) => void;
  /** A node was dragged: its new upper left corner relative to its body, in units of the picture. Absent: nodes cannot be moved. */
  readonly onMove?: (path: string, x: number, y: number) => void;
  /** "Tidy". Absent: there is no such button. */
  readonly onTidy?: () => void;
  /** Title of the exported picture, and the name of its file. */
  readonly title?: string;
}

/** The region "Canvas". */
export function Canvas(props: CanvasProps): ComponentChildren {
  const { picture, details, onTidy, title = "flow" } = props;
  const selected = props.selected?.replace(/\[\d+\]|~\d+/g, "");
  const [folded, setFolded] = useState<ReadonlySet<string>>(NONE);
  const surface = useRef<HTMLDivElement>(null);
  const drawing = useRef<HTMLCanvasElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  const minimap = useRef<HTMLCanvasElement>(null);
  const view = useRef<CanvasView>(undefined);

  const toggle = (path: string): void => {
    setFolded((before) => {
      const next = new Set(before);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  };
  const events = useRef<CanvasEvents>(undefined);
  events.current = { select: props.onSelect, move: props.onMove, fold: toggle };

  useLayoutEffect(() => {
    const created = createView(
      {
        surface: surface.current as HTMLElement,
        drawing: drawing.current as HTMLCanvasElement,
        layer: layer.current as HTMLElement,
        minimap: minimap.current as HTMLCanvasElement,
      },
      () => events.current as CanvasEvents,
    );
    view.current = created;
    return () => created.destroy();
  }, []);
  useLayoutEffect(() => {
    view.current?.show({ picture, details, selected, folded });
  }, [picture, details, selected, folded]);
  useEffect(() => followColours(() => view.current?.recolour()), []);
  // A node that is selected elsewhere is shown: the bodies around it open.
  useEffect(() => {
    if (selected === undefined) return;
    const around = ownersOf(selected).filter((path) => folded.has(path));
    if (around.length > 0) setFolded(new Set([...folded].filter((path) => !around.includes(path))));
  }, [selected]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const [dx, dy] = ARROWS[event.key] ?? [0, 0];
    if (dx !== 0 || dy !== 0) view.current?.pan(dx * STEP_PX, dy * STEP_PX);
    else if (event.key === "+" || event.key === "=") view.current?.zoom(ZOOM_STEP);
    else if (event.key === "-") view.current?.zoom(1 / ZOOM_STEP);
    else return;
    event.preventDefault();
  };

  const hasBodies = picture.boxes.some(({ node }) => node.body !== undefined);
  const canFold =
    selected !== undefined &&
    picture.boxes.some(({ node }) => node.path === selected && node.body !== undefined);
  return (
    <section
      class="canvas"
      aria-label="Canvas"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move the picture
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div class="canvas-stage" aria-hidden="true">
        <div ref={surface} class="canvas-surface">
          <canvas ref={drawing} class="canvas-drawing" />
          <div ref={layer} class="canvas-layer" />
        </div>
        <canvas ref={minimap} class="canvas-minimap" hidden />
      </div>
      <Toolbar name="View">
        <Button
          aria-label="Zoom out"
          title="Zoom out"
          onClick={() => view.current?.zoom(1 / ZOOM_STEP)}
        >
          −
        </Button>
        <Button aria-label="Zoom in" title="Zoom in" onClick={() => view.current?.zoom(ZOOM_STEP)}>
          +
        </Button>
        <Button onClick={() => view.current?.fit()}>Fit</Button>
        {onTidy !== undefined && (
          <Button
            title="Lays out all nodes automatically and removes the positions that were set by hand"
            onClick={onTidy}
          >
            Tidy
          </Button>
        )}
        {hasBodies && (
          <Button
            disabled={!canFold}
            title={canFold ? undefined : "Select a node that contains other nodes"}
            onClick={() => toggle(selected as string)}
          >
            {canFold && folded.has(selected) ? "Unfold" : "Fold"}
          </Button>
        )}
        <Button onClick={() => download(picture, details, title)}>Export SVG</Button>
      </Toolbar>
    </section>
  );
}

const NONE: ReadonlySet<string> = new Set();

const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [1, 0],
  ArrowRight: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** Paths of the nodes whose bodies contain a node, innermost first. */
function ownersOf(path: string): string[] {
  const owner = ownerOf(path);
  return owner === "" ? [] : [owner, ...ownersOf(owner)];
}

/** Calls `changed` when the colours of the page change, until the returned function is called. */
function followColours(changed: () => void): () => void {
  const queries = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) =>
    matchMedia(query),
  );
  for (const query of queries) query.addEventListener("change", changed);
  const stop = effect(() => {
    theme.value;
    changed();
  });
  return () => {
    for (const query of queries) query.removeEventListener("change", changed);
    stop();
  };
}

function download(picture: Picture, details: DetailsByPath, title: string): void {
  const boxes = picture.boxes.map((box) => {
    const state = details.get(box.node.path)?.state;
    return state === undefined ? box : { ...box, node: { ...box.node, state } };
  });
  const name = `${title.replace(/[^\w.-]+/g, "-")}.svg`;
  saveText(name, pictureToSvg({ ...picture, boxes }, title), "image/svg+xml");
}
