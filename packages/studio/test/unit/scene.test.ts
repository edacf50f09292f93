/** What a scene finds, what folding leaves, and what a frame draws. */
import { type Box, drawFlow, type Line, layoutDrawing, type Picture } from "@millrace/graph";
import { randomFlow } from "@millrace/test-support/flows";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Camera, Rect } from "../../src/page/canvas/camera.ts";
import { seenBy } from "../../src/page/canvas/camera.ts";
import { drawFrame, type Frame } from "../../src/page/canvas/draw.ts";
import { foldPicture } from "../../src/page/canvas/fold.ts";
import { boundsOf, createScene, meets, ownerOf } from "../../src/page/canvas/scene.ts";

/** A picture is a whole program: each run costs some milliseconds. */
const RUNS = { numRuns: 40 };

const flow = fc.integer({ min: 1, max: 100_000 }).map((seed) => drawFlow(randomFlow(seed)));
const picture = flow.map((drawing) => layoutDrawing(drawing));
const rect: fc.Arbitrary<Rect> = fc.record({
  x: fc.integer({ min: -300, max: 3_000 }),
  y: fc.integer({ min: -300, max: 3_000 }),
  w: fc.integer({ min: 0, max: 2_000 }),
  h: fc.integer({ min: 0, max: 2_000 }),
});

const pathsOf = (boxes: readonly Box[]): string[] => boxes.map(({ node }) => node.path);

describe("a scene", () => {
  test("finds exactly the boxes and lines that meet a rectangle, in the order of the picture", () => {
    fc.assert(
      fc.property(picture, rect, (drawn, area) => {
        const { boxes, lines } = createScene(drawn).within(area);
        expect(pathsOf(boxes)).toEqual(pathsOf(drawn.boxes.filter((box) => meets(box, area))));
        expect(lines).toEqual(drawn.lines.filter((line) => meets(boundsOf(line), area)));
      }),
      RUNS,
    );
  });

  test("the same question has the same answer, however often it is asked", () => {
    fc.assert(
      fc.property(picture, fc.array(rect, { maxLength: 5 }), (drawn, areas) => {
        const scene = createScene(drawn);
        const first = areas.map((area) => scene.within(area));
        expect(areas.map((area) => scene.within(area))).toEqual(first);
      }),
      RUNS,
    );
  });

  test("the innermost box around a point is found, and nothing beside the boxes", () => {
    fc.assert(
      fc.property(picture, (drawn) => {
        const scene = createScene(drawn);
        for (const { node, x, y } of drawn.boxes) {
          // Its upper left corner: what a body holds lies further in.
          expect(scene.boxAt([x + 2, y + 2])?.node.path).toBe(node.path);
          expect(scene.boxOf(node.path)?.node).toBe(node);
        }
        expect(scene.boxAt([-10, -10])).toBeUndefined();
      }),
      RUNS,
    );
  });
});

describe("a folded picture", () => {
  const folding = fc.tuple(picture, fc.integer({ min: 1, max: 7 })).map(([drawn, step]) => {
    const owners = drawn.boxes.filter(({ node }) => node.body !== undefined);
    return {
      drawn,
      folded: new Set(pathsOf(owners.filter((_, at) => at % step === 0))),
    };
  });

  test("is the picture itself when nothing is folded", () => {
    fc.assert(
      fc.property(picture, (drawn) => {
        expect(foldPicture(drawn, new Set())).toBe(drawn);
      }),
      RUNS,
    );
  });

  test("lacks what lies in folded bodies, and nothing else", () => {
    fc.assert(
      fc.property(folding, ({ drawn, folded }) => {
        const isHidden = (path: string): boolean =>
          [...folded].some((owner) => path.startsWith(`${owner}/`));
        const small = foldPicture(drawn, folded);
        expect(pathsOf(small.boxes)).toEqual(
          pathsOf(drawn.boxes).filter((path) => !isHidden(path)),
        );
        expect(small.lines.map(({ edge }) => edge)).toEqual(
          drawn.lines.map(({ edge }) => edge).filter(({ from }) => !isHidden(from)),
        );
      }),
      RUNS,
    );
  });

  test("has no boxes of one body over each other, keeps bodies in their boxes, and is not larger", () => {
    fc.assert(
      fc.property(folding, ({ drawn, folded }) => {
        const small = foldPicture(drawn, folded);
        expect(small.height).toBeLessThanOrEqual(drawn.height);
        const byPath = new Map(small.boxes.map((box) => [box.node.path, box]));
        for (const [at, box] of small.boxes.entries()) {
          const owner = byPath.get(ownerOf(box.node.path));
          if (owner !== undefined) expect(isInside(box, owner)).toBe(true);
          else expect(box.y + box.h).toBeLessThanOrEqual(small.height);
          for (const other of small.boxes.slice(at + 1)) {
            if (ownerOf(other.node.path) === ownerOf(box.node.path)) {
              expect(meets(shrunk(box), shrunk(other))).toBe(false);
            }
          }
        }
      }),
      RUNS,
    );
  });

  test("has lines that begin and end at the edges of their boxes", () => {
    fc.assert(
      fc.property(folding, ({ drawn, folded }) => {
        const small = foldPicture(drawn, folded);
        const byPath = new Map(small.boxes.map((box) => [box.node.path, box]));
        for (const { edge, points } of small.lines) {
          expectOnEdge(points.at(0), byPath.get(edge.from));
          expectOnEdge(points.at(-1), byPath.get(edge.to));
        }
      }),
      RUNS,
    );
  });

  test("keeps the corners of nodes that a person placed", () => {
    fc.assert(
      fc.property(flow, (drawing) => {
        const pins = Object.fromEntries(
          drawing.nodes.map(({ path }, at) => [path, [at * 300, 7 * at]]),
        );
        const drawn = layoutDrawing(drawing, pins);
        const small = foldPicture(drawn, new Set(drawing.nodes.map(({ path }) => path)));
        for (const { path, body } of drawing.nodes) {
          const [old, now] = [drawn, small].map(({ boxes }) =>
            boxes.find(({ node }) => node.path === path),
          ) as [Box, Box];
          expect(now.y).toBe(old.y);
          if (body === undefined) expect(now.x).toBe(old.x);
        }
      }),
      RUNS,
    );
  });
});

/** A line that was drawn. */
interface Stroke {
  readonly start: readonly number[];
  readonly colour: unknown;
  readonly dashes: number;
}

describe("a frame", () => {
  test("draws each line and each box of the view once, and nothing else", () => {
    const view = { width: 800, height: 600 };
    const camera = fc.record({
      x: fc.integer({ min: -100, max: 2_000 }),
      y: fc.integer({ min: -100, max: 2_000 }),
      zoom: fc.constantFrom(0.1, 0.4, 0.5, 1, 2),
    });
    fc.assert(
      fc.property(picture, camera, (drawn, at) => {
        const { strokes, rects } = draw(drawn, at, view);
        const { boxes, lines } = createScene(drawn).within(seenBy(at, view));
        const startOf = ({ points: [first] }: Line): readonly number[] =>
          first as readonly number[];
        expect(strokes.map(({ start }) => start).sort()).toEqual(lines.map(startOf).sort());
        const leaves = boxes.filter(({ node, h }) => node.body === undefined || h <= 44);
        expect(rects).toBe(leaves.length);
      }),
      RUNS,
    );
  });

  test("draws no box that has a card", () => {
    fc.assert(
      fc.property(picture, (drawn) => {
        const at = { x: 0, y: 0, zoom: 1 };
        const { rects, texts } = draw(drawn, at, { width: 9_000, height: 9_000 }, () => true);
        expect(rects).toBe(0);
        const ports = new Set(drawn.lines.map(({ edge }) => edge.port));
        for (const text of texts) expect(ports.has(text)).toBe(true);
      }),
      RUNS,
    );
  });

  test("names the port of each `error` edge, and its line is not drawn like another", () => {
    const drawn = layoutDrawing({
      nodes: ["a", "b", "c"].map((id) => ({ path: id, id, type: "log" })),
      edges: [
        { from: "a", to: "b", port: "error" },
        { from: "b", to: "c" },
        { from: "a", to: "c", implied: true },
      ],
    });
    const { strokes, texts } = draw(drawn, { x: 0, y: 0, zoom: 1 }, { width: 900, height: 900 });
    expect(texts).toContain("error");
    expect(new Set(strokes.map(({ colour }) => colour))).toEqual(
      new Set(["implied", "edge", "fault"]),
    );
    const dashed = strokes.filter(({ dashes }) => dashes > 0);
    expect(dashed.map(({ colour }) => colour)).toEqual(["implied"]);
  });

  /** What drawing a frame did. Colours are named by their use. */
  function draw(
    drawn: Picture,
    camera: Camera,
    view: Frame["view"],
    hasCard: Frame["hasCard"] = () => false,
  ): {
    readonly strokes: readonly Stroke[];
    readonly rects: number;
    readonly texts: readonly string[];
  } {
    const strokes: Stroke[] = [];
    let path: { readonly start: readonly number[]; isCurved: boolean }[] = [];
    const texts: string[] = [];
    let rects = 0;
    const state: Record<string, unknown> = {};
    let dashes = 0;
    const own: Readonly<Record<string, (...given: never[]) => void>> = {
      beginPath: () => {
        path = [];
      },
      moveTo: (...start: number[]) => path.push({ start, isCurved: false }),
      bezierCurveTo: () => {
        (path.at(-1) as { isCurved: boolean }).isCurved = true;
      },
      stroke: () => {
        for (const { start, isCurved } of path) {
          if (isCurved) strokes.push({ start, colour: state["strokeStyle"], dashes });
        }
      },
      setLineDash: (dash: readonly number[]) => {
        dashes = dash.length;
      },
      fillText: (text: string) => texts.push(text),
      fillRect: () => {
        rects += 1;
      },
    };
    const context = new Proxy(state, {
      get: (_, name: string) => own[name] ?? state[name] ?? (() => undefined),
    });
    const palette = new Proxy({}, { get: (_, name) => name }) as Frame["palette"];
    drawFrame(context as unknown as CanvasRenderingContext2D, {
      scene: createScene(drawn),
      camera,
      view,
      density: 1,
      palette,
      details: new Map(),
      selected: undefined,
      dragged: undefined,
      hasCard,
    });
    return { strokes, rects, texts };
  }
});

function isInside(inner: Rect, outer: Rect): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.w <= outer.x + outer.w &&
    inner.y + inner.h <= outer.y + outer.h
  );
}

/** Slightly smaller, so that rounding makes no overlap. */
function shrunk({ x, y, w, h }: Rect): Rect {
  return { x: x + 0.01, y: y + 0.01, w: w - 0.02, h: h - 0.02 };
}

function expectOnEdge(point: readonly [number, number] | undefined, box: Box | undefined): void {
  const [x, y] = point as readonly [number, number];
  const { x: left, y: top, w, h } = box as Box;
  expect(x).toBeGreaterThanOrEqual(left - 0.01);
  expect(x).toBeLessThanOrEqual(left + w + 0.01);
  expect(Math.min(Math.abs(y - top), Math.abs(y - top - h))).toBeLessThan(0.01);
}
