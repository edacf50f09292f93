import type { FlowGraph } from "@millrace/contracts";
import { DslError, digest, normalizeGraph, parseFlow, printFlow } from "@millrace/dsl";
import { describe, expect, test } from "vitest";
import { endless } from "../check/graphs.ts";
import { flow } from "./cases.ts";

const NODE = { id: "a", type: "t", fields: {} };
const GRAPH = { version: 1, id: "x", nodes: [NODE] };
const withNode = (change: object): object => ({ ...GRAPH, nodes: [{ ...NODE, ...change }] });

test("a graph whose objects are of a class prints as one of plain objects", () => {
  class Node {
    readonly id = "a";
    readonly type = "t";
    readonly fields = {};
  }
  const graph = { ...GRAPH, nodes: [new Node()] } as never;
  expect(printFlow(graph)).toBe(printFlow(GRAPH as never));
});

describe("a value that is no graph", () => {
  test.each<[string, unknown, string]>([
    ["nothing", undefined, ""],
    ["a list", [], ""],
    ["another version", { ...GRAPH, version: 2 }, "/version"],
    ["no id", { version: 1, nodes: [] }, "/id"],
    ["no nodes", { version: 1, id: "x" }, "/nodes"],
    ["a member that nobody knows", { ...GRAPH, note: 1 }, "/note"],
    ["a title that is no text", { ...GRAPH, title: 1 }, "/title"],
    ["a title in meta", { ...GRAPH, meta: { title: "x" } }, "/meta/title"],
    ["a policy that there is not", { ...GRAPH, policy: { retry: {} } }, "/policy/retry"],
    ["an input without a name", { ...GRAPH, inputs: [{}] }, "/inputs/0/name"],
    [
      "a schema that is no object",
      { ...GRAPH, inputs: [{ name: "a", schema: 1 }] },
      "/inputs/0/schema",
    ],
    ["an output without a value", { ...GRAPH, outputs: [{ name: "a" }] }, "/outputs/0/value"],
    ["an edge without an end", { ...GRAPH, edges: [{ from: "a" }] }, "/edges/0/to"],
    ["a node that is text", { ...GRAPH, nodes: ["a"] }, "/nodes/0"],
    ["a node without a type", { ...GRAPH, nodes: [{ id: "a" }] }, "/nodes/0/type"],
    ["a version of a type that is none", withNode({ typeVersion: 0 }), "/nodes/0/typeVersion"],
    ["fields that are a list", withNode({ fields: [] }), "/nodes/0/fields"],
    ["an expression with errors", withNode({ fields: { v: { $: "1 +" } } }), "/nodes/0/fields/v/$"],
    [
      "an expression that is no text",
      withNode({ fields: { "a/b": { $: 1 } } }),
      "/nodes/0/fields/a~1b/$",
    ],
    ["a template that is no list", withNode({ fields: { v: { $t: 1 } } }), "/nodes/0/fields/v/$t"],
    [
      "a part of a template that is neither",
      withNode({ fields: { v: { $t: [1] } } }),
      "/nodes/0/fields/v/$t/0",
    ],
    [
      "a time that is negative",
      withNode({ policy: { timeoutMs: -1 } }),
      "/nodes/0/policy/timeoutMs",
    ],
    ["a join that there is not", withNode({ policy: { join: "some" } }), "/nodes/0/policy/join"],
    ["a retry that is no object", withNode({ policy: { retry: 3 } }), "/nodes/0/policy/retry"],
    [
      "a keyed concurrency without its key",
      withNode({ policy: { concurrency: { max: 1 } } }),
      "/nodes/0/policy/concurrency/key",
    ],
    ["a body without nodes", withNode({ body: {} }), "/nodes/0/body/nodes"],
    [
      "a schedule with a broken period",
      { ...GRAPH, schedules: [{ name: "s", everyMs: 0.5 }] },
      "/schedules/0/everyMs",
    ],
    [
      "scopes that are no texts",
      { ...GRAPH, connections: [{ name: "c", auth: "o", scopes: [1] }] },
      "/connections/0/scopes/0",
    ],
  ])("(%s) is refused with its place", (_, value, pointer) => {
    let thrown: unknown;
    try {
      printFlow(value as FlowGraph);
    } catch (error) {
      thrown = error;
    }
    expect(DslError.isInstance(thrown)).toBe(true);
    expect(thrown).toMatchObject({ code: "graph_invalid", pointer });
  });

  test("is never a reason to throw for normalizing, nor for the digest when it is an object of JSON", () => {
    for (const value of [null, 1, {}, { nodes: [1, { fields: 2, body: { nodes: {} } }] }]) {
      expect(() => normalizeGraph(value as never)).not.toThrow();
    }
    expect(digest({ nodes: [{ id: {} }] } as never)).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test.each<[string, unknown, string, string]>([
    ["nothing", undefined, "", "the graph must be JSON, found undefined"],
    ["a list", [], "", "the graph must be an object"],
    [
      "a whole number of another kind",
      withNode({ fields: { "a/b": 1n } }),
      "/nodes/0/fields/a~1b",
      "must be JSON, found bigint",
    ],
    ["a function", { ...GRAPH, meta: { f: () => 1 } }, "/meta/f", "must be JSON, found function"],
    [
      "a number without end",
      { ...GRAPH, meta: { n: [1, Infinity] } },
      "/meta/n/1",
      "must be a finite number",
    ],
    [
      "an object of a class",
      { ...GRAPH, meta: { at: new Date(0) } },
      "/meta/at",
      "must be a plain object",
    ],
    [
      "what holds itself",
      { ...GRAPH, meta: { self: endless() } },
      "/meta/self/x",
      "must not hold itself",
    ],
  ])("has no digest when it is no object of JSON: %s", (_, value, pointer, says) => {
    let thrown: unknown;
    try {
      digest(value as FlowGraph);
    } catch (error) {
      thrown = error;
    }
    expect(DslError.isInstance(thrown)).toBe(true);
    expect(thrown).toMatchObject({ code: "graph_invalid", pointer });
    expect(String(thrown)).toContain(says);
  });

  test("has a digest when parts of it are shared, and however deep it is", () => {
    const shared = { a: [1] };
    expect(digest({ ...GRAPH, meta: { one: shared, two: shared } } as never)).toBe(
      digest({ ...GRAPH, meta: { one: { a: [1] }, two: { a: [1] } } } as never),
    );
    let deep: unknown[] = [];
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    expect(digest({ ...GRAPH, meta: { deep } } as never)).toMatch(/^sha256:/);
  });
});

describe("a graph that leaves out what is empty", () => {
  test("prints, and is normalized to what its text says", () => {
    const graph = { ...GRAPH, edges: [{ from: "a", to: "a" }], meta: {} } as unknown as FlowGraph;
    expect(printFlow(graph)).toBe(flow("node a: t\n\na -> a\n"));
    expect(normalizeGraph(graph)).toEqual(parseFlow(printFlow(graph)).graph);
  });

  test("needs no quotes in the text but where a name asks for them", () => {
    const graph = {
      version: 1,
      id: "two words",
      nodes: [{ id: "", type: "odd type", typeVersion: 3, fields: { __proto__: null } }],
    } as unknown as FlowGraph;
    const own = { ...graph, nodes: [{ ...graph.nodes[0], fields: JSON.parse('{"__proto__":1}') }] };
    expect(printFlow(own as FlowGraph)).toBe(
      'flow 1 "two words"\n\nnode "": "odd type"@3 {\n  __proto__ = 1\n}\n',
    );
  });
});

describe("digest", () => {
  const graph = parseFlow(
    flow("node a: t {\n  v = [1, x]\n  w = { a: 1, b: 2 }\n}\nnode b: t\n\na -> b\n"),
  ).graph;

  test("is stable across versions of this package", () => {
    expect(digest(parseFlow("flow 1 x\n").graph)).toBe(
      "sha256:9e7da2664113d981544f2feadf526394913edc9319b8b384a4ea11a1356667bc",
    );
  });

  test("leaves out the layout, the order of nodes and the spelling of expressions", () => {
    const same: FlowGraph = {
      ...graph,
      layout: { a: [1, 2] },
      nodes: [
        { id: "b", type: "t", fields: {} },
        { id: "a", type: "t", fields: { w: { b: 2, a: 1 }, v: { $: "[ 1,(x) ]" } } },
      ],
    };
    expect(digest(same)).toBe(digest(graph));
  });

  test.each<[string, (graph: FlowGraph) => object]>([
    ["an id", () => ({ id: "y" })],
    ["a title", () => ({ title: "t" })],
    [
      "a value in a list",
      () => ({ nodes: [{ ...graph.nodes[0], fields: { v: [{ $: "x" }, 1] } }] }),
    ],
    ["a port", () => ({ edges: [{ from: "a", port: "error", to: "b" }] })],
    [
      "a policy",
      () => ({ nodes: [{ ...graph.nodes[0], policy: { timeoutMs: 1 } }, graph.nodes[1]] }),
    ],
  ])("changes with %s", (_, edit) => {
    expect(digest({ ...graph, ...edit(graph) } as FlowGraph)).not.toBe(digest(graph));
  });
});
