/** A page with nothing but a tree and a canvas, which a test fills with a flow of its choice. Styles come first: they fix the order of the layers. */
import "../../../src/styles/tokens.css";
import "../../../src/styles/base.css";
import "./page.css";
import type { NodeState } from "@millrace/contracts";
import { type Drawing, type DrawnEdge, type DrawnNode, layoutDrawing } from "@millrace/graph";
import { signal } from "@preact/signals";
import { type ComponentChildren, render } from "preact";
import { Canvas, type NodeDetails } from "../../../src/page/canvas/canvas.tsx";
import { NodeTree, type TreeItem } from "../../../src/page/parts/tree/node-tree.tsx";
import { followTheme, nextTheme } from "../../../src/page/state/theme.ts";

const drawing = signal<Drawing>({ nodes: [], edges: [] });
const pins = signal<Readonly<Record<string, readonly [number, number]>>>({});
const details = signal<ReadonlyMap<string, NodeDetails>>(new Map());
const selected = signal<string | undefined>(undefined);
const calls = signal<readonly string[]>([]);

const TYPES = ["http.request", "transform", "ai", "condition", "file.write", "confirm"];

/** A flow of `count` nodes in layers of seven; every tenth node is a `map` around three others. */
function flowOf(count: number): Drawing {
  const nodes: DrawnNode[] = [];
  const edges: DrawnEdge[] = [];
  const main: string[] = [];
  let made = 0;
  while (made < count) {
    const at = main.length;
    const id = `node${at}`;
    const isMap = at % 10 === 9 && count - made > 4;
    const body = isMap ? bodyOf(id) : undefined;
    nodes.push({
      path: id,
      id,
      type: isMap ? "map" : (TYPES[at % TYPES.length] as string),
      ...(body !== undefined && { body }),
    });
    made += 1 + (body?.nodes.length ?? 0);
    const above = main[at - 7];
    if (above !== undefined) {
      edges.push({ from: above, to: id, ...(at % 9 === 0 && { port: "error" }) });
    }
    const beside = main[at - 8];
    if (beside !== undefined && at % 3 === 0) edges.push({ from: beside, to: id, implied: true });
    main.push(id);
  }
  return { nodes, edges };
}

function bodyOf(owner: string): Drawing {
  const ids = ["read", "check", "keep"];
  return {
    nodes: ids.map((id, at) => ({ path: `${owner}/${id}`, id, type: TYPES[at] as string })),
    edges: [
      { from: `${owner}/read`, to: `${owner}/check` },
      { from: `${owner}/check`, to: `${owner}/keep`, port: "false" },
    ],
  };
}

function itemsOf({ nodes }: Drawing): TreeItem[] {
  return nodes.map(({ path, id, type, body }) => {
    const { state, problems } = details.value.get(path) ?? {};
    return {
      path,
      id,
      type,
      ...(state !== undefined && { state }),
      ...(problems !== undefined && { problems }),
      ...(body !== undefined && { children: () => itemsOf(body) }),
    };
  });
}

function call(name: string, ...args: readonly unknown[]): void {
  calls.value = [...calls.value, `${name} ${args.join(" ")}`];
}

function Page(): ComponentChildren {
  return (
    <>
      <button type="button" onClick={nextTheme}>
        Theme
      </button>
      <NodeTree
        items={itemsOf(drawing.value)}
        selected={selected.value}
        onSelect={(path) => {
          call("select", path);
          selected.value = path;
        }}
        onOpen={(path) => call("open", path)}
        onRename={(path) => call("rename", path)}
        onDelete={(path) => call("delete", path)}
        neighbours={(path, direction) => {
          const [own, other] =
            direction === "next" ? (["from", "to"] as const) : (["to", "from"] as const);
          return drawing.value.edges.find((edge) => edge[own] === path)?.[other];
        }}
      />
      <Canvas
        picture={picture.value}
        details={details.value}
        selected={selected.value}
        onSelect={(path) => {
          call("select", path);
          selected.value = path;
        }}
        onMove={(path, x, y) => {
          call("move", path, x, y);
          pins.value = { ...pins.value, [path]: [x, y] };
        }}
        onTidy={() => {
          call("tidy");
          pins.value = {};
        }}
        title="Test flow"
      />
    </>
  );
}

const picture = signal(layoutDrawing(drawing.value));
drawing.subscribe(place);
pins.subscribe(place);
function place(): void {
  picture.value = layoutDrawing(drawing.peek(), pins.peek());
}

/** Drawing that was done: curves of lines are counted over all frames. */
const work = { frames: 0, curves: 0 };
countWork();
function countWork(): void {
  const { prototype } = CanvasRenderingContext2D;
  const { clearRect, bezierCurveTo } = prototype;
  prototype.clearRect = function (...given) {
    work.frames += 1;
    clearRect.apply(this, given);
  };
  prototype.bezierCurveTo = function (...given) {
    work.curves += 1;
    bezierCurveTo.apply(this, given);
  };
}

/** What a test calls in the page. */
const guest = {
  /** Work since the last call. */
  work(): typeof work {
    const done = { ...work };
    Object.assign(work, { frames: 0, curves: 0 });
    return done;
  },
  show(count: number): void {
    drawing.value = flowOf(count);
  },
  draw(next: Drawing): void {
    drawing.value = next;
  },
  details(next: Readonly<Record<string, NodeDetails>>): void {
    details.value = new Map(Object.entries(next));
  },
  /** Gives every node a state; `turn` says which. */
  states(turn: number): void {
    details.value = new Map(
      picture
        .peek()
        .boxes.map(({ node }, at) => [
          node.path,
          { state: STATES[(at + turn) % STATES.length] as NodeState, durationMs: at },
        ]),
    );
  },
  select(path: string): void {
    selected.value = path;
  },
  /** What was called since the last call. */
  calls(): readonly string[] {
    const made = calls.value;
    calls.value = [];
    return made;
  },
  drawing: (): Drawing => drawing.value,
  /** Mean brightness of what is drawn, from 0 to 255. */
  brightness(): number {
    const canvas = document.querySelector("canvas");
    const { width = 1, height = 1 } = canvas ?? {};
    const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    if (canvas !== null) copy?.drawImage(canvas, 0, 0);
    const data = copy?.getImageData(0, 0, width, height).data ?? [];
    let [sum, count] = [0, 0];
    for (let at = 0; at < data.length; at += 4) {
      if ((data[at + 3] as number) < 255) continue;
      sum += ((data[at] as number) + (data[at + 1] as number) + (data[at + 2] as number)) / 3;
      count += 1;
    }
    return sum / Math.max(1, count);
  },
};

const STATES: readonly NodeState[] = [
  "pending",
  "running",
  "retrying",
  "waiting",
  "succeeded",
  "failed",
  "skipped",
  "cancelled",
];

/** The functions of the page that a test calls. */
export type Guest = typeof guest;

Object.assign(globalThis, { guest });
followTheme();
render(<Page />, document.querySelector("main") as HTMLElement);
