/** Graphs that leave out what is empty are read like those that say it. */
import type { FlowGraph } from "@millrace/contracts";
import {
  completeGraph,
  digest,
  impliedEdges,
  normalizeGraph,
  parseFlow,
  printFlow,
  reconcile,
  validateFlow,
} from "@millrace/dsl";
import { expect, test } from "vitest";
import { catalog } from "../fixtures/catalog.ts";

const inner = { id: "b", type: "transform", fields: { value: 1 } };
const nodes = [
  { id: "a", type: "join", fields: {} },
  { id: "m", type: "map", fields: { items: [] }, body: { nodes: [inner], edges: [] } },
];
const whole = {
  ...{ version: 1 as const, id: "g", inputs: [], nodes },
  ...{ edges: [{ from: "a", port: "out", to: "m" }], outputs: [] },
  ...{ connections: [], schedules: [], layout: {} },
};

/** The same graph with one thing, or all, left out. */
const { inputs: _i, outputs: _o, connections: _c, schedules: _s, layout: _l, ...bare } = whole;
const edges = [{ from: "a", to: "m" }];
const withoutBodyEdges = [nodes[0], { ...nodes[1], body: { nodes: [inner] } }];
const ABSENT: readonly (readonly [string, object])[] = [
  ...["inputs", "outputs", "connections", "schedules", "layout"].map((name): [string, object] => [
    name,
    Object.fromEntries(Object.entries(whole).filter(([key]) => key !== name)),
  ]),
  ["the port of an edge", { ...whole, edges }],
  ["the edges of a body", { ...whole, nodes: withoutBodyEdges }],
  ["all of it", { ...bare, edges, nodes: withoutBodyEdges }],
];

test.each(ABSENT)("without %s a graph means the same", (_, absent) => {
  const graph = absent as FlowGraph;
  const before = JSON.stringify(graph);
  expect(completeGraph(graph)).toEqual(whole);
  expect(validateFlow(graph, catalog)).toEqual(validateFlow(whole, catalog));
  expect(digest(graph)).toBe(digest(whole));
  expect(normalizeGraph(graph)).toEqual(normalizeGraph(whole));
  expect(printFlow(graph)).toBe(printFlow(whole));
  expect(impliedEdges(graph)).toEqual(impliedEdges(whole));
  const { document } = parseFlow(printFlow(whole));
  expect(printFlow(reconcile(document, graph))).toBe(printFlow(whole));
  expect(JSON.stringify(graph)).toBe(before);
});

test("edges that are absent are none", () => {
  const { edges: _, ...absent } = whole;
  const none = { ...whole, edges: [] };
  expect(digest(absent as unknown as FlowGraph)).toBe(digest(none));
  expect(validateFlow(absent as unknown as FlowGraph, catalog)).toEqual(
    validateFlow(none, catalog),
  );
  expect(printFlow(absent as unknown as FlowGraph)).toBe(printFlow(none));
});

test("a whole graph is taken as it is, and null is not absent", () => {
  expect(completeGraph(whole)).toBe(whole);
  for (const name of ["inputs", "edges", "layout"]) {
    const found = validateFlow({ ...whole, [name]: null } as never, catalog);
    expect(found).toContainEqual(
      expect.objectContaining({ code: "FLOW1006", pointer: `/${name}` }),
    );
  }
});

test("a body that is its own flow is completed once", () => {
  const graph: { [key: string]: unknown } = { version: 1, id: "g" };
  graph["nodes"] = [
    { id: "m", type: "map", body: graph },
    { id: "n", type: "map", body: graph },
  ];
  expect(completeGraph(graph as never)).toMatchObject({ edges: [], inputs: [] });
});

test("an empty list is taken wherever a list is", () => {
  const source = `flow 1 empty

input names: string[] = []
input rows: { a: int }[] = []

connection c: oauth {
  scopes = []
}

schedule s {
  cron = "0 7 * * 1"
  inputs = { names: [], rows: [] }
}

node m: map {
  items = []
  body {
    node t: transform {
      value = []
    }
  }
}

node w: switch {
  on = []
  cases = { none: [] }
}

node h: http.request {
  url = "https://shop.example/"
  query = { tag: [] }
  body = []
  @retry = { max: 1, on: [] }
}

node p: shell.exec {
  program = "git"
  args = []
}

node q: ai {
  input = []
  tools = []
  stop = []
  expect = []
  failover = []
  failoverOn = []
}

node r: transform {
  value = [[], { a: [] }, sortBy([], x, x.name), [] + inputs.names, "\${join([], ",")}"]
}

output names: string[] = []
output size: int = size([])
`;
  const { graph, document, diagnostics } = parseFlow(source);
  const errors = [...diagnostics, ...validateFlow(graph, catalog, { document })].filter(
    ({ severity }) => severity === "error",
  );
  expect(errors).toEqual([]);
});
