import { type FlowGraph, MAX_JSON_DEPTH } from "@millrace/contracts";
import {
  catalogEntrySchema,
  diagnosticSchema,
  flowGraphSchema,
  jsonObjectSchema,
  jsonValueSchema,
} from "@millrace/contracts/schemas";
import { graphWith } from "@millrace/test-support/graph";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const graph: FlowGraph = {
  version: 1,
  id: "fx-rates",
  title: "Daily FX rates",
  meta: { owner: "fx" },
  policy: { timeoutMs: 60_000, onFailure: "finish", concurrency: 4 },
  inputs: [{ name: "base", schema: { type: "string" }, default: "EUR", description: "" }],
  nodes: [
    {
      id: "fetch",
      type: "http.request",
      typeVersion: 2,
      fields: { url: { $t: ["https://rates.example/?base=", { $: "inputs.base" }] } },
      policy: {
        timeoutMs: 10_000,
        retry: {
          max: 3,
          backoff: "exponential",
          delayMs: 500,
          on: ["server"],
          if: { $: "output.x" },
        },
        onError: { default: null },
        concurrency: { max: 1, key: "k" },
        join: 2,
        cache: { ttlMs: 1 },
        delivery: "atMostOnce",
      },
    },
    {
      id: "pages",
      type: "map",
      fields: {},
      body: { nodes: [{ id: "get", type: "log", fields: {} }], edges: [], output: { $: "get" } },
    },
  ],
  edges: [{ from: "fetch", port: "out", to: "pages", meta: { label: "x" } }],
  outputs: [{ name: "file", schema: { type: "string" }, value: { $: "save.path" } }],
  connections: [{ name: "pay", auth: "oauth", service: "s", slug: "pay-eu", scopes: ["a"] }],
  schedules: [
    { name: "m", cron: "0 7 * * 1", timezone: "Europe/Paris", inputs: {}, enabled: true },
  ],
  layout: { fetch: [1, 2] },
};

describe("a flow on the wire", () => {
  test("with every member passes and comes back equal", () => {
    expect(flowGraphSchema.parse(graph)).toEqual(graph);
  });

  test("may leave out empty lists, empty fields and the port out", () => {
    const parts = { nodes: [{ id: "a", type: "log" }], edges: [{ from: "a", to: "b" }] };
    expect(flowGraphSchema.parse({ version: 1, id: "x", ...parts })).toEqual(
      graphWith({
        id: "x",
        nodes: [{ id: "a", type: "log", fields: {} }],
        edges: [{ from: "a", port: "out", to: "b" }],
      }),
    );
  });

  test.each<[string, object, string]>([
    ["another version", { version: 2 }, "version"],
    ["no nodes", { nodes: undefined }, "nodes"],
    ["a member nobody knows", { nodez: [] }, ""],
    [
      "a field of a node that nobody knows",
      { nodes: [{ ...graph.nodes[0], retries: 3 }] },
      "nodes.0",
    ],
    ["a node without a type", { nodes: [{ id: "a", fields: {} }] }, "nodes.0.type"],
    ["fields that are a list", { nodes: [{ id: "a", type: "t", fields: [] }] }, "nodes.0.fields"],
    [
      "a function as a field",
      { nodes: [{ id: "a", type: "t", fields: { f: () => 1 } }] },
      "nodes.0.fields.f",
    ],
    [
      "a negative timeout",
      { nodes: [{ id: "a", type: "t", fields: {}, policy: { timeoutMs: -1 } }] },
      "nodes.0.policy.timeoutMs",
    ],
    [
      "a mistake within a body",
      { nodes: [{ id: "a", type: "map", fields: {}, body: { nodes: [{ id: 1 }] } }] },
      "nodes.0.body.nodes.0.id",
    ],
    ["an undefined default", { inputs: [{ name: "a", default: undefined }] }, "inputs.0.default"],
  ])("with %s is refused at its place", (_, change, path) => {
    const issues = flowGraphSchema.safeParse({ ...graph, ...change }).error?.issues;
    expect(issues?.map((issue) => issue.path.join("."))).toContain(path);
  });
});

describe("JSON values", () => {
  test("pass unchanged and uncopied", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!JSON.stringify(value).includes("__proto__"));
        expect(jsonValueSchema.parse(value)).toBe(value);
      }),
    );
  });

  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["NaN", Number.NaN],
    ["a bigint", 1n],
    ["a date", new Date(0)],
    ["a map", new Map()],
    ["undefined in a list", [undefined]],
    ["an own key __proto__", JSON.parse('{"__proto__":1}')],
  ])("%s is none", (_, value) => {
    expect(jsonValueSchema.safeParse(value).success).toBe(false);
    expect(jsonObjectSchema.safeParse({ a: { b: value } }).success).toBe(value === undefined);
  });

  test("are at most 200 levels deep, and a million levels are no danger", () => {
    const deep = (levels: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level++) value = [value];
      return value;
    };
    expect(jsonValueSchema.safeParse(deep(MAX_JSON_DEPTH)).success).toBe(true);
    expect(jsonValueSchema.safeParse(deep(MAX_JSON_DEPTH + 1)).success).toBe(false);
    expect(jsonValueSchema.safeParse(deep(1_000_000)).success).toBe(false);
  });
});

test("a diagnostic needs a place: a pointer, or a range", () => {
  const at = { line: 1, column: 1, offset: 0 };
  const found = { code: "FLOW3001", severity: "error", message: "unknown node type", hint: "look" };
  const range = { start: at, end: at };
  expect(diagnosticSchema.safeParse(found).success).toBe(false);
  expect(diagnosticSchema.parse({ ...found, pointer: "/nodes/0" })).toMatchObject(found);
  const whole = {
    ...found,
    range,
    related: [{ range, message: "x" }],
    fixes: [{ title: "y", edits: [{ range, newText: "" }] }],
  };
  expect(diagnosticSchema.parse(whole)).toEqual(whole);
});

test("a catalog entry comes from core or from a pinned package, never from an unpinned one", () => {
  const entry = {
    ...{ type: "t", version: 1, kind: "action", title: "", summary: "", category: "t", tags: [] },
    ...{ fields: {}, output: {}, ports: [], body: false, effect: "pure", defaults: {} },
    ...{ requires: { secrets: [], permissions: {} }, examples: [], state: "ready" },
  };
  const isEntry = (source: object) => catalogEntrySchema.safeParse({ ...entry, source }).success;
  expect([isEntry({ package: "core" }), isEntry({ package: "@a/b" })]).toEqual([true, false]);
});
