/** The tree of a run. */
import { createView, foldEvents, type NodeState, type RunView } from "@millrace/contracts";
import { legalLog } from "@millrace/test-support/logs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TreeItem } from "../../src/page/parts/tree/node-tree.tsx";
import { runItems, runPathOf, topOf } from "../../src/page/screens/run/run-items.ts";

function viewOf(states: Readonly<Record<string, NodeState>>): RunView {
  const view = createView("run_1");
  let seq = 0;
  const write = (event: object): void => {
    seq += 1;
    foldEvents(view, { v: 1, runId: "run_1", seq, ts: seq, ...event } as never);
  };
  for (const [node, state] of Object.entries(states)) {
    const place = { node, attempt: 1 };
    write({ kind: "node.started", ...place, type: "transform" });
    if (state === "succeeded")
      write({ kind: "node.succeeded", ...place, output: 1, durationMs: 1 });
    if (state === "failed") {
      const error = { code: "x", message: "x", retryable: false };
      write({ kind: "node.failed", ...place, error, routed: "parent", durationMs: 1 });
    }
  }
  return view;
}

/** Names of items with those below them, as `id state`. */
function shown(items: readonly TreeItem[]): unknown[] {
  return items.map(({ id, state, children }) =>
    children === undefined ? `${id} ${state}` : [`${id} ${state}`, shown(children())],
  );
}

const MAP = {
  graph: {
    nodes: [
      { id: "load", type: "transform", fields: {} },
      {
        id: "pages",
        type: "map",
        fields: {},
        body: {
          nodes: [
            { id: "get", type: "transform", fields: {} },
            { id: "keep", type: "transform", fields: {} },
          ],
          edges: [],
        },
      },
    ],
  } as never,
  isRepeat: false,
};

describe("the tree of a run", () => {
  test("has the nodes of the flow before they begin, and items of a body as they appear", () => {
    expect(shown(runItems({ ...MAP, view: createView() }))).toEqual([
      "load pending",
      "pages pending",
    ]);
    const view = viewOf({
      load: "succeeded",
      pages: "running",
      "pages[10]/get": "running",
      "pages[2]/get": "failed",
    });
    expect(shown(runItems({ ...MAP, view }))).toEqual([
      "load succeeded",
      [
        "pages running",
        [
          ["[2] failed", ["get failed", "keep pending"]],
          ["[10] running", ["get running", "keep pending"]],
        ],
      ],
    ]);
  });

  test("shows a flow inside of another one without items, and attempts of a body apart", () => {
    const view = viewOf({
      child: "running",
      "child/fetch": "succeeded",
      again: "running",
      "again[0]/a": "failed",
      "again~2[0]/a": "running",
    });
    expect(shown(runItems({ graph: undefined, view, isRepeat: false }))).toEqual([
      ["child running", ["fetch succeeded"]],
      [
        "again running",
        [
          ["[0] failed", ["a failed"]],
          ["~2[0] running", ["a running"]],
        ],
      ],
    ]);
  });

  test("puts the failed ones of more than a hundred items first", () => {
    const items = Array.from({ length: 150 }, (_, at): [string, NodeState] => [
      `pages[${at}]/get`,
      at === 120 ? "failed" : "succeeded",
    ]);
    const view = viewOf(Object.fromEntries([["pages", "running"], ...items]));
    const [, pages] = runItems({ ...MAP, view });
    const ids = pages?.children?.().map(({ id }) => id);
    expect(ids?.slice(0, 3)).toEqual(["[120]", "[0]", "[1]"]);
    expect(ids).toHaveLength(150);
  });

  test("leads from the picture to the item that went worst", () => {
    const view = viewOf({ "pages[0]/get": "succeeded", "pages[7]/get": "failed" });
    expect(runPathOf(view, "pages/get")).toBe("pages[7]/get");
    expect(runPathOf(view, "pages/keep")).toBe("pages/keep");
    expect(topOf("pages~2[7]/get")).toBe("pages");
  });

  test("holds every node of the state exactly once", () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_000_000 }), (seed) => {
        const { events, graph } = legalLog(seed);
        const view = createView();
        for (const event of events) foldEvents(view, event);
        const paths: string[] = [];
        const walk = (items: readonly TreeItem[]): void => {
          for (const { path, children } of items) {
            paths.push(path);
            walk(children?.() ?? []);
          }
        };
        walk(runItems({ graph, view, isRepeat: false }));
        expect(new Set(paths).size).toBe(paths.length);
        for (const path of view.nodes.keys()) expect(paths).toContain(path);
      }),
    );
  });
});
