/** Graphs and catalogs that want validation to hang, to throw, or to work with the square of their size. */
import { type FlowCatalog, parseFlow, validateFlow } from "@millrace/dsl";
import { expect, test } from "vitest";
import { catalog } from "../fixtures/catalog.ts";
import { codes, EMPTY, endless, times, transform } from "./graphs.ts";

/** How often each code is found. */
function counts(graph: object, known: FlowCatalog = catalog): { [code: string]: number } {
  const found: { [code: string]: number } = {};
  for (const code of codes(graph, known)) found[code] = (found[code] ?? 0) + 1;
  return found;
}

/** Lists in lists, each twice the same one: small in memory, without end when written out. */
function doubled(): unknown {
  let value: unknown = ["x"];
  for (let i = 0; i < 100; i += 1) value = [value, value];
  return value;
}

test.each([
  ["shares its parts", doubled],
  ["holds itself", endless],
])("a value that %s ends in FLOW1014 wherever it stands", (_, make) => {
  const bad = make();
  const node = { id: "a", type: "switch", fields: { on: 1, cases: bad }, policy: { retry: bad } };
  const graph = {
    ...EMPTY,
    meta: { bad },
    layout: { a: bad },
    inputs: [{ name: "i", schema: { properties: bad }, default: bad }],
    outputs: [{ name: "o", schema: { anyOf: bad }, value: bad }],
    connections: [{ name: "c", auth: "oauth", scopes: bad }],
    schedules: [{ name: "s", cron: "0 7 * * 1", inputs: bad }],
    nodes: [node, { id: "b", type: "ai", fields: { task: "chat", input: bad } }],
    edges: [{ from: "a", port: "b", to: "b", meta: { bad } }],
  };
  expect(counts(graph)["FLOW1014"]).toBe(12);
});

test("a body that is the flow itself is cut at the limit of depth", () => {
  const graph: { [key: string]: unknown } = { ...EMPTY };
  graph["nodes"] = [{ id: "m", type: "map", fields: { items: [] }, body: graph }];
  expect(counts(graph)["FLOW1014"]).toBe(1);
});

test.each<[string, unknown]>([
  ["no catalog", undefined],
  ["entries that are none", { entry: () => 5, types: () => 5, flow: () => 7, timeZones: 5 }],
  ["entries without members", { entry: () => ({}), types: () => [1, null] }],
  [
    "entries with members of other types",
    {
      entry: (type: string) => ({
        type,
        ports: [{ name: "out" }],
        examples: [],
        requires: {},
        fields: 7,
        output: [],
        portsFrom: 5,
        deprecated: {},
        version: Number.POSITIVE_INFINITY,
      }),
      types: () => [],
      flow: () => ({ inputs: [null, 5, {}], flows: [1] }),
    },
  ],
])("a catalog that answers nonsense is survived: %s", (_, known) => {
  const graph = {
    ...EMPTY,
    schedules: [{ name: "s", cron: "* * * * *", timezone: "Europe/Pari" }],
    nodes: [
      { id: "a", type: "http.request", typeVersion: 3, fields: { url: "x" } },
      { id: "b", type: "subflow", fields: { flow: "x", inputs: { a: 1 } } },
    ],
    edges: [{ from: "a", port: "zz", to: "b" }],
  };
  for (const { message } of validateFlow(graph as never, known as unknown as FlowCatalog)) {
    expect(message).not.toMatch(/undefined|\{\w+\}/);
  }
});

test.each([
  ["a list", `first([${"1,".repeat(200_000)}1])`],
  ["a call", `min(${"1,".repeat(200_000)}1)`],
  ["an object", `values({${times(120_000, (i) => `k${i}: 1`).join(",")}})`],
])("an expression with more parts than a call takes arguments: %s", (_, source) => {
  expect(counts({ ...EMPTY, nodes: [transform("a", source)] })).toEqual({});
});

test("twenty thousand readers of one node, and as many ports of one switch, are checked", () => {
  const hub = { id: "hub", type: "transform", fields: { value: 1 } };
  const readers = times(20_000, (i) => transform(`n${i}`, "hub.value"));
  expect(counts({ ...EMPTY, nodes: [hub, ...readers] })).toEqual({});
  const cases = Object.fromEntries(times(20_000, (i) => [`c${i}`, i]));
  const nodes = [{ id: "hub", type: "switch", fields: { on: 1, cases } }, ...readers];
  const edges = readers.map(({ id }, i) => ({ from: "hub", port: `c${i}`, to: id }));
  expect(counts({ ...EMPTY, nodes, edges })).toEqual({ FLOW4009: 1 });
});

test("twenty thousand reads of a join with as many edges are checked", () => {
  const nodes = [
    ...times(20_000, (i) => ({
      id: `c${i}`,
      type: "condition",
      fields: { if: { $: 'run.id == ""' } },
    })),
    { id: "j", type: "join", fields: {}, policy: { join: "all" } },
    ...times(20_000, (i) => transform(`r${i}`, "j.first")),
  ];
  const edges = times(20_000, (i) => ({ from: `c${i}`, port: "true", to: "j" }));
  expect(counts({ ...EMPTY, nodes, edges })).toEqual({ FLOW4006: 20_000 });
});

test("a text that begins like a token at every place is not searched again and again", () => {
  const message = "eyJ-".repeat(500_000);
  expect(counts({ ...EMPTY, nodes: [{ id: "a", type: "log", fields: { message } }] })).toEqual({});
});

test("a name of millions of characters in the text is an error at its place", () => {
  const { graph, document } = parseFlow(`flow 1 f\n\nnode "${"x".repeat(5_000_000)}": log {}\n`);
  const found = validateFlow(graph, catalog, { document });
  expect(found.map(({ code }) => code)).toEqual(["FLOW3002", "FLOW2015"]);
});

test("each invisible control of a long text is found in the text around it", () => {
  const item = (i: number) => `# \u202e\nnode n${i}: log {\n  message = "a\u202eb"\n}\n`;
  const { graph, document } = parseFlow(`flow 1 f\n\n${times(5_000, item).join("\n")}`);
  const found = validateFlow(graph, catalog, { document }).filter(
    ({ code }) => code === "FLOW6003",
  );
  expect(found).toHaveLength(10_000);
  expect(found.slice(0, 2).map(({ fixes }) => fixes?.[0]?.title)).toEqual([
    "remove it",
    "write \\u202e",
  ]);
});

test("an edge that is written again counts once for each time, also from other ports and to nobody", () => {
  const nodes = [transform("a", "1"), transform("b", "1")];
  const edge = (port: string, to: string) => ({ from: "a", port, to });
  const once = [edge("out", "b"), edge("error", "b"), edge("out", "nobody")];
  const found = validateFlow({ ...EMPTY, nodes, edges: [...once, ...once] } as never, catalog);
  expect(found.filter(({ code }) => code === "FLOW2006").map(({ pointer }) => pointer)).toEqual([
    "/edges/3",
    "/edges/4",
    "/edges/5",
  ]);
});
