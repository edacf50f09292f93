/** I4 and I9 with the graph of a run: a node starts after its sources, and a run that can only wait says so. */
import { checkLog, type FlowGraph } from "@millrace/contracts";
import { graphWith } from "@millrace/test-support/graph";
import { expect, test } from "vitest";
import { broken, error, node, run, type Words, words } from "./builder.ts";

const paused = words`begin ask wait pause answer resume back end`;
const failed = { status: "failed" } as const;

const graph = (nodes: object[], edges: [from: string, port: string, to: string][]): FlowGraph =>
  graphWith({
    id: "fx",
    nodes: nodes as FlowGraph["nodes"],
    edges: edges.map(([from, port, to]) => ({ from, port, to })),
  });
const plain = (id: string, over: object = {}): object => ({
  id,
  type: "transform",
  fields: {},
  ...over,
});
const abc = [plain("a"), plain("b"), plain("c")];
const ab = graph(abc, [["a", "out", "b"]]);
const joinAny = graph(
  [plain("a"), plain("b"), plain("c", { policy: { join: "any" } })],
  [
    ["a", "out", "c"],
    ["b", "out", "c"],
  ],
);
const xy = { nodes: [plain("x"), plain("y")], edges: [{ from: "x", port: "out", to: "y" }] };
const mapGraph = graph([plain("m", { type: "map", body: xy })], []);
const errorPort = graph(abc, [
  ["a", "error", "b"],
  ["a", "out", "c"],
]);
const standIn: Words = { kind: "node.failed", node: "a", error, routed: "default", output: 1 };

test.each<[string, FlowGraph, Words[]]>([
  ["a node after its source", ab, words`node@a node@b node@c`],
  ["a join of one when one leads to it", joinAny, words`begin begin@b end node@c end@b`],
  ["an exit by the error port", errorPort, words`begin fail:port skip@c node@b`],
  ["a default that stands in", ab, words`begin ${standIn} node@b node@c`],
  ["the end of a run", ab, words`begin begin@c fail:none@c cancelled skip:run_ended@b`],
  [
    "a body in its own order",
    mapGraph,
    words`begin:map@m node@m[0]/x node@m[1]/x node@m[1]/y node@m[0]/y end@m`,
  ],
  [
    "bodies that the graph does not know",
    graph([plain("s", { type: "subflow" })], []),
    words`begin@s node@s/inner end@s`,
  ],
])("I4 holds: %s", (what, flow, said) => {
  const status = what === "the end of a run" ? failed : {};
  expect(checkLog(run(said, status), { graph: flow })).toEqual([]);
});

test.each<[string, FlowGraph, Words[]]>([
  ["a node before its source", ab, words`begin node@b end node@c`],
  ["a node passed over too soon", ab, words`begin skip@b end node@c`],
  ["a node that nothing leads to", graph(abc, [["a", "other", "b"]]), words`node@a node@b node@c`],
  ["a join of one with nothing yet", joinAny, words`begin begin@b node@c end end@b`],
  [
    "a body out of order",
    mapGraph,
    words`begin:map@m node@m[0]/x begin@m[1]/x begin@m[1]/y end@m[1]/x end@m[1]/y node@m[0]/y end@m`,
  ],
])("I4 is broken: %s", (_what, flow, said) => {
  expect(broken(checkLog(run(said), { graph: flow }))).toEqual(["I4"]);
  expect(checkLog(run(said))).toEqual([]);
});

test("I4 knows what a reference implies, also from a body to what is outside", () => {
  const body = { nodes: [plain("x"), plain("y")], edges: [] };
  const flow = graph([plain("a"), plain("m", { type: "map", body })], []);
  const implied = [
    { from: "m/x", to: "m/y", pointer: "/nodes/1/body/nodes/1/fields/value" },
    { from: "a", to: "m/x", pointer: "/nodes/1/body/nodes/0/fields/value" },
  ];
  const found = (said: Words[]) => checkLog(run(said), { graph: flow, implied });
  expect(found(words`node@a begin:map@m node@m[0]/x node@m[0]/y end@m`)).toEqual([]);
  const early = words`begin begin:map@m node@m[0]/x node@m[0]/y end@m end`;
  expect(found(early)).toMatchObject([{ seq: 3, invariant: "I4" }]);
  const turned = words`node@a begin:map@m node@m[0]/y node@m[0]/x end@m`;
  expect(found(turned)).toMatchObject([{ seq: 5, invariant: "I4" }]);
});

test("I9 with the graph: a run that can only wait for an answer says so", () => {
  const flow = graph([plain("a"), plain("b")], [["a", "out", "b"]]);
  const silent = run(words`begin ask wait answer back end node@b`);
  expect(checkLog(silent)).toEqual([]);
  expect(checkLog(silent, { graph: flow })).toMatchObject([{ seq: 5, invariant: "I9" }]);
  expect(checkLog(run([...paused, ...node("b")]), { graph: flow })).toEqual([]);
  const busy = run(words`begin ask wait node@b pause answer resume back end`);
  expect(checkLog(busy, { graph: graph([plain("a"), plain("b")], []) })).toEqual([]);
});

test("a flow that a model calls as a tool may ask without a pause", () => {
  const ofTool = { node: "a", call: "t1" };
  const tool: Words = { kind: "tool.started", ...ofTool, tool: "flow:x" };
  const done: Words = { kind: "tool.finished", ...ofTool, outcome: "ok", durationMs: 1 };
  const asking = words`begin ${tool} begin@a[0]/f ask@a[0]/f wait@a[0]/f`;
  const going = words`back@a[0]/f end@a[0]/f ${done} end`;
  const flow = graph([plain("a", { type: "ai" })], []);
  const asked = run([...asking, ...words`answer@a[0]/f`, ...going]);
  expect(checkLog(asked, { graph: flow })).toEqual([]);
  const stopping = run([...asking, ...words`pause answer@a[0]/f resume`, ...going]);
  expect(broken(checkLog(stopping))).toEqual(["I9"]);
});
