/** Graphs that never were text: whatever they hold, validation answers. */

import type { FlowGraph } from "@millrace/contracts";
import { digest, impliedEdges, validateFlow } from "@millrace/dsl";
import { casesOf } from "@millrace/test-support";
import fc from "fast-check";
import { expect, test } from "vitest";
import { catalog } from "../fixtures/catalog.ts";
import { codes, EMPTY, endless, times } from "./graphs.ts";

/** Words that mean something somewhere in a graph, so that chance reaches deep. */
const word = fc.constantFrom(
  ..."id type fields body nodes edges output from to port policy inputs outputs value schema default name $ $t $lit map loop ai switch transform http.request url items cases labels until retry when onError join __proto__ constructor a b".split(
    " ",
  ),
);

const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    word,
    fc.constantFrom(null, true, false, 0, 1, -1, Number.NaN, undefined, "a.value", "a ??", "a b"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(word, tie("value"), { maxKeys: 5 }),
  ),
})).value;

const graphLike = fc.record(
  {
    version: fc.constantFrom(1, 2, "1"),
    id: anything,
    inputs: fc.oneof(fc.array(anything, { maxLength: 3 }), anything),
    nodes: fc.oneof(
      fc.array(
        fc.oneof(
          anything,
          fc.record(
            { id: word, type: word, fields: anything, body: anything, policy: anything },
            { requiredKeys: ["id", "type"] },
          ),
        ),
        { maxLength: 4 },
      ),
      anything,
    ),
    edges: fc.oneof(fc.array(fc.record({ from: word, port: word, to: word })), anything),
    outputs: fc.oneof(
      fc.array(fc.record({ name: word, value: anything, schema: anything })),
      anything,
    ),
    schedules: anything,
    connections: anything,
    policy: anything,
    layout: anything,
    meta: anything,
  },
  { requiredKeys: [] },
);

test("validation and implied edges never throw, whatever they are given", () => {
  fc.assert(
    fc.property(fc.oneof(anything, graphLike), (graph) => {
      for (const { severity, message } of validateFlow(graph as FlowGraph, catalog, {
        lint: true,
      })) {
        expect(severity).toMatch(/^(?:error|warning|info)$/);
        expect(message).not.toMatch(/\{\w+\}|undefined/);
      }
      impliedEdges(graph as FlowGraph);
    }),
    { numRuns: casesOf(2000) },
  );
});

test("each place that is not of a graph's shape is an error at that place", () => {
  const graph = { ...EMPTY, id: 7, nodes: [{ id: "a", type: "transform" }, 3], edges: "none" };
  const found = validateFlow(graph as unknown as FlowGraph, catalog);
  expect(found.filter(({ code }) => code === "FLOW1006")).toMatchObject([
    { pointer: "/id", message: "expected a string in id, found number" },
    { pointer: "/nodes/0/fields", message: "expected an object in fields, found nothing" },
    { pointer: "/nodes/1", message: "expected a node, found number" },
    { pointer: "/edges", message: "expected a list in edges, found string" },
  ]);
});

test("an expression that is none is an error at its place", () => {
  const nodes = [{ id: "a", type: "transform", fields: { value: { $: "1 +" } } }];
  const [found] = validateFlow({ ...EMPTY, nodes } as unknown as FlowGraph, catalog);
  expect(found).toMatchObject({ severity: "error", pointer: "/nodes/0/fields/value" });
  expect(found?.code).toMatch(/^FLOW1/);
});

test("a value that holds itself ends in FLOW1014", () => {
  const nodes = [{ id: "a", type: "transform", fields: { value: endless() } }];
  expect(codes({ ...EMPTY, nodes })).toContain("FLOW1014");
});

/** Deeper than the stack of any function that calls itself. */
const DEEP = 30_000;

test("a long chain of edges and references is checked without recursion", () => {
  const nodes = times(DEEP, (i) => ({
    id: `n${i}`,
    type: "transform",
    fields: { value: i === 0 ? 1 : { $: `n${i - 1}.value` } },
  }));
  const edges = nodes.slice(1).map(({ id }, i) => ({ from: `n${i}`, port: "out", to: id }));
  const graph = { ...EMPTY, nodes, edges } as unknown as FlowGraph;
  expect(validateFlow(graph, catalog)).toEqual([]);
  expect(impliedEdges(graph)).toHaveLength(DEEP - 1);
  expect(digest(graph)).toMatch(/^sha256:/);
});

test("a long cycle of nodes is one finding", () => {
  const nodes = times(DEEP, (i) => ({
    id: `n${i}`,
    type: "transform",
    fields: { value: 1 },
  }));
  const edges = nodes.map(({ id }, i) => ({
    from: id,
    port: "out",
    to: `n${(i + 1) % nodes.length}`,
  }));
  expect(codes({ ...EMPTY, nodes, edges })).toEqual(["FLOW4003"]);
});

test("bodies nested without end are cut at the limit of depth", () => {
  let body: unknown = { nodes: [], edges: [] };
  for (let i = 0; i < 20_000; i += 1) {
    body = { nodes: [{ id: "a", type: "map", fields: { items: [] }, body }], edges: [] };
  }
  expect(codes({ ...EMPTY, ...(body as object) })).toEqual(["FLOW1014"]);
});
