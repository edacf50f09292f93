import {
  assertLog,
  checkLog,
  createView,
  type ExecutionEvent,
  type FlowGraph,
  foldEvents,
  makeSnapshot,
} from "@millrace/contracts";
import { expect, test } from "vitest";
import {
  broken,
  HASH,
  journal,
  node,
  renumber,
  run,
  started,
  summaryAfter,
  T0,
  type Words,
} from "./builder.ts";

const error = { code: "http_status", message: "503", retryable: true };
const begin = (at = "a", over: Partial<Words> = {}): Words => ({
  kind: "node.started",
  node: at,
  type: "ai",
  ...over,
});
const end = (at = "a", over: Partial<Words> = {}): Words => ({
  kind: "node.succeeded",
  node: at,
  output: 1,
  ...over,
});
const fail = (at: string, routed: string): Words => ({
  kind: "node.failed",
  node: at,
  error,
  routed,
});
const retry = (over: Partial<Words> = {}): Words => ({
  kind: "node.retrying",
  node: "a",
  error,
  delayMs: 100,
  next: 2,
  ...over,
});
const call = (id = "c1"): Words => ({
  kind: "llm.started",
  node: "a",
  call: id,
  provider: "p",
  model: "m",
  target: 0,
  step: 1,
  purpose: "generate",
});
const delta = (offset: number, text: string): Words => ({
  kind: "llm.delta",
  node: "a",
  call: "c1",
  channel: "text",
  offset,
  text,
});
const finish = (over: Partial<Words> = {}): Words => ({
  kind: "llm.finished",
  node: "a",
  call: "c1",
  finish: "stop",
  lengths: { text: 5 },
  costUsd: 0.5,
  durationMs: 1,
  ...over,
});
const ask = (id = "k1", at = "a"): Words => ({
  kind: "confirm.requested",
  node: at,
  id,
  prompt: "Send?",
});
const wait = (id = "k1", at = "a"): Words => ({
  kind: "node.waiting",
  node: at,
  on: "confirm",
  ids: [id],
});
const answer = (id = "k1", at = "a"): Words => ({
  kind: "confirm.resolved",
  node: at,
  id,
  outcome: "approved",
  by: "api",
});
const back = (at = "a"): Words => ({ kind: "node.resumed", node: at });
const pause = (...confirmations: string[]): Words => ({
  kind: "run.paused",
  reason: "confirmation",
  confirmations,
});
const resume: Words = { kind: "run.resumed", reason: "confirmation" };
const cancel = (reason = "user"): Words => ({ kind: "run.cancelling", reason });
const cancelled = (at: string): Words => ({
  kind: "node.cancelled",
  node: at,
  reason: "run_cancelled",
});
const map = (at = "m"): Words => ({ kind: "node.started", node: at, type: "map" });
const runLog: Words = { kind: "log", level: "info", channel: "engine", text: "x" };

const paused = [begin(), ask(), wait(), pause("k1"), answer(), resume, back(), end()];
const failed = { status: "failed" } as const;

test.each<[string, string, ExecutionEvent[]]>([
  ["I1", "a log numbered without gaps", run(node("a"))],
  ["I2", "one beginning and one end", run([])],
  [
    "I3",
    "every state of a node",
    run([begin(), retry(), begin("a", { attempt: 2, ts: 200 }), end("a", { attempt: 2 })]),
  ],
  [
    "I5",
    "remarks while running, logs also while waiting",
    run([
      begin(),
      ask(),
      wait(),
      { kind: "log", node: "a", level: "info", channel: "node", text: "" },
      pause("k1"),
      answer(),
      resume,
      back(),
      end(),
    ]),
  ],
  [
    "I6",
    "deltas that add up",
    run([begin(), call(), delta(0, "Hel"), delta(3, "lo"), finish(), end()]),
  ],
  [
    "I7",
    "calls closed before the end, one rejected",
    run([
      begin(),
      call(),
      delta(0, "Hello"),
      finish(),
      { kind: "llm.rejected", node: "a", call: "c1", problems: [], repair: 1 },
      end(),
    ]),
  ],
  [
    "I8",
    "an attempt after its delay, a millisecond early",
    run([begin(), retry(), begin("a", { attempt: 2, ts: 119 }), end("a", { attempt: 2 })]),
  ],
  ["I9", "a pause for an answer", run(paused)],
  [
    "I9",
    "a pause while a body waits",
    run([
      map(),
      begin("m[0]/a"),
      ask("k1", "m[0]/a"),
      wait("k1", "m[0]/a"),
      pause("k1"),
      runLog,
      answer("k1", "m[0]/a"),
      resume,
      back("m[0]/a"),
      end("m[0]/a"),
      end("m"),
    ]),
  ],
  [
    "I10",
    "sums of nodes, calls and time",
    run([
      begin(),
      call(),
      delta(0, "Hello"),
      finish({ usage: { inputTokens: 3, outputTokens: 4 } }),
      end(),
      { kind: "node.skipped", node: "b", why: "dead" },
    ]),
  ],
  [
    "I13",
    "cancelling ends what is open",
    run(
      [
        begin(),
        call(),
        cancel(),
        {
          kind: "llm.failed",
          node: "a",
          call: "c1",
          reason: "aborted",
          discarded: 0,
          next: "none",
        },
        cancelled("a"),
        cancelled("b"),
      ],
      { status: "cancelled" },
    ),
  ],
  [
    "I13",
    "an operator's pause lets running nodes end",
    run([
      begin(),
      { kind: "run.paused", reason: "operator", confirmations: [] },
      end(),
      { kind: "run.resumed", reason: "operator" },
    ]),
  ],
  [
    "I15",
    "a failure that nobody catches",
    run(
      [begin(), fail("a", "none"), { kind: "node.skipped", node: "b", why: "run_ended" }],
      failed,
    ),
  ],
  ["I15", "failures that are caught", run([begin(), fail("a", "port"), begin("b"), end("b")])],
  ["I16", "time that stands still", run([begin("a", { ts: 5 }), end("a", { ts: 5 })])],
  [
    "I17",
    "a body inside its node, at its second attempt",
    run([
      begin(),
      retry(),
      begin("a", { attempt: 2, ts: 200 }),
      begin("a~2[0]/x"),
      end("a~2[0]/x"),
      end("a", { attempt: 2 }),
    ]),
  ],
  [
    "I18",
    "progress that stays",
    run([
      begin(),
      { kind: "node.progress", node: "a", done: 1, total: 2 },
      { kind: "node.progress", node: "a", done: 1, total: 1 },
      end(),
    ]),
  ],
  ["I19", "exit code of a timeout", run([cancel("timeout")], { status: "cancelled" })],
])("%s holds: %s", (_invariant, _what, events) => {
  expect(checkLog(events)).toEqual([]);
  expect(() => assertLog(events)).not.toThrow();
});

const change = (events: ExecutionEvent[], seq: number, over: object): ExecutionEvent[] =>
  events.map((event) => (event.seq === seq ? ({ ...event, ...over } as ExecutionEvent) : event));
const summary = (events: ExecutionEvent[], over: object): ExecutionEvent[] =>
  change(events, events.length, over);

test.each<[string, number, string, ExecutionEvent[]]>([
  ["I1", 5, "a gap in seq", change(run(node("a")), 4, { seq: 5 }).map((e) => e)],
  ["I1", 2, "another run", change(run(node("a")), 2, { runId: "r2" })],
  ["I1", 2, "another version", change(run(node("a")), 2, { v: 2 })],
  ["I1", 2, "a field that is missing", change(run(node("a")), 2, { type: undefined })],
  [
    "I1",
    3,
    "a message too long",
    run([
      begin(),
      { ...retry(), node: "a", error: { ...error, message: "x".repeat(2_049) } },
      begin("a", { attempt: 2, ts: 200 }),
      end("a", { attempt: 2 }),
    ]),
  ],
  ["I1", 3, "a line too long", change(run(paused), 3, { schema: { a: "x".repeat(300_000) } })],
  ["I2", 1, "no beginning", renumber(run(node("a")).slice(1))],
  ["I2", 3, "no end", run(node("a")).slice(0, 3)],
  [
    "I2",
    5,
    "something after the end",
    [...run(node("a")), { ...journal(runLog)[0], seq: 5, ts: T0 + 99 } as ExecutionEvent],
  ],
  ["I2", 2, "a second beginning", run([started({ nodeCount: 0 })])],
  [
    "I2",
    3,
    "success while cancelling",
    summary(run([cancel()]), { status: "succeeded", exitCode: 0 }),
  ],
  ["I3", 4, "an end that comes twice", run([begin(), end(), end("a", { ts: 20 })])],
  ["I3", 2, "an end without a beginning", run([end()])],
  ["I3", 3, "a node left open", run([begin()])],
  [
    "I5",
    4,
    "a remark after the end",
    run([begin(), end(), { kind: "node.progress", node: "a", done: 1 }]),
  ],
  [
    "I5",
    3,
    "another attempt",
    run([begin(), { kind: "node.progress", node: "a", attempt: 2, done: 1 }, end()]),
  ],
  [
    "I6",
    5,
    "an offset too far",
    run([begin(), call(), delta(0, "Hel"), delta(4, "lo"), finish(), end()]),
  ],
  ["I6", 5, "lengths that do not add up", run([begin(), call(), delta(0, "Hel"), finish(), end()])],
  [
    "I6",
    5,
    "a delta after its call",
    run([begin(), call(), finish({ lengths: {} }), delta(0, "x"), end()]),
  ],
  [
    "I6",
    5,
    "fewer units discarded",
    run([
      begin(),
      call(),
      delta(0, "Hel"),
      { kind: "llm.failed", node: "a", call: "c1", reason: "timeout", discarded: 2, next: "none" },
      end(),
    ]),
  ],
  ["I7", 4, "a call left open", run([begin(), call(), end()])],
  ["I7", 4, "a confirmation left open", run([begin(), ask(), end()])],
  [
    "I7",
    5,
    "an id used twice",
    run([begin(), call(), finish({ lengths: {} }), call(), finish({ lengths: {} }), end()]),
  ],
  [
    "I7",
    6,
    "a call that is not to be rejected any more",
    run([
      begin(),
      call(),
      finish({ lengths: {} }),
      call("c2"),
      { kind: "llm.rejected", node: "a", call: "c1", problems: [], repair: 1 },
      finish({ call: "c2", lengths: {} }),
      end(),
    ]),
  ],
  [
    "I8",
    2,
    "a first attempt that is the second",
    run([begin("a", { attempt: 2 }), end("a", { attempt: 2 })]),
  ],
  [
    "I8",
    4,
    "an attempt too early",
    run([begin(), retry(), begin("a", { attempt: 2, ts: 117 }), end("a", { attempt: 2 })]),
  ],
  [
    "I8",
    3,
    "a wrong number of the next attempt",
    run([
      begin(),
      retry({ next: 3 }),
      begin("a", { attempt: 2, ts: 200 }),
      end("a", { attempt: 2 }),
    ]),
  ],
  [
    "I9",
    5,
    "a confirmation that is not open",
    change(run(paused), 5, { confirmations: ["k1", "k2"] }),
  ],
  [
    "I9",
    6,
    "a pause while something runs",
    run([
      begin(),
      ask(),
      wait(),
      begin("b"),
      pause("k1"),
      answer(),
      resume,
      back(),
      end(),
      end("b"),
    ]),
  ],
  [
    "I9",
    6,
    "a pause that ends without an answer",
    run([begin(), ask(), wait(), pause("k1"), resume, answer(), back(), end()]),
  ],
  [
    "I9",
    7,
    "an answer that does not end the pause",
    run([begin(), ask(), wait(), pause("k1"), answer(), runLog, resume, back(), end()]),
  ],
  ["I10", 3, "a node's time", change(run(node("a")), 3, { durationMs: 7 })],
  [
    "I10",
    4,
    "counts",
    summary(run(node("a")), { counts: { succeeded: 2, failed: 0, skipped: 0, cancelled: 0 } }),
  ],
  ["I10", 4, "fewer nodes than the flow has", run(node("a"), { start: { nodeCount: 2 } })],
  [
    "I10",
    4,
    "bodies",
    summary(run(node("a")), { bodyCounts: { succeeded: 1, failed: 0, skipped: 0, cancelled: 0 } }),
  ],
  ["I10", 4, "cost", summary(run(node("a")), { costUsd: null })],
  ["I10", 4, "time", summary(run(node("a")), { durationMs: 1 })],
  [
    "I13",
    3,
    "a start while cancelling",
    run([cancel(), begin(), cancelled("a")], { status: "cancelled" }),
  ],
  [
    "I13",
    3,
    "a start in an operator's pause",
    run([
      { kind: "run.paused", reason: "operator", confirmations: [] },
      begin(),
      { kind: "run.resumed", reason: "operator" },
      end(),
    ]),
  ],
  [
    "I13",
    6,
    "a node that goes on in a confirmation's pause",
    run([
      begin(),
      ask(),
      wait(),
      pause("k1"),
      { kind: "node.skipped", node: "b", why: "when" },
      answer(),
      resume,
      back(),
      end(),
    ]),
  ],
  [
    "I15",
    4,
    "success with a failure",
    summary(run([begin(), fail("a", "none")], failed), {
      status: "succeeded",
      error: undefined,
      exitCode: 0,
    }),
  ],
  [
    "I15",
    4,
    "a failure without an error",
    summary(run([begin(), fail("a", "none")], failed), { error: undefined }),
  ],
  [
    "I15",
    4,
    "the failure of another node",
    summary(run([begin(), fail("a", "none")], failed), { error: { ...error, node: "b" } }),
  ],
  [
    "I15",
    4,
    "cancelled by nobody",
    summary(run(node("a")), { status: "cancelled", exitCode: 130 }),
  ],
  [
    "I15",
    4,
    "a start after the run failed",
    run([begin(), fail("a", "none"), begin("b"), end("b")], failed),
  ],
  [
    "I15",
    4,
    "an unrouted failure inside a body",
    run([map(), begin("m[0]/a"), fail("m[0]/a", "none"), end("m")]),
  ],
  [
    "I15",
    3,
    "a failure for a parent that is not there",
    run([begin(), fail("a", "parent")], { status: "failed", error }),
  ],
  ["I16", 4, "time that falls", change(run([...node("a"), runLog]), 4, { ts: T0 })],
  ["I17", 2, "a body without its node", run([begin("a[0]/x"), end("a[0]/x")])],
  [
    "I17",
    4,
    "a node that ends before its body",
    run([map(), begin("m[0]/a"), end("m"), end("m[0]/a")]),
  ],
  [
    "I17",
    3,
    "a body of another attempt",
    run([map(), begin("m~2[0]/a"), end("m~2[0]/a"), end("m")]),
  ],
  ["I18", 3, "no output", run([begin(), end("a", { output: undefined })])],
  [
    "I18",
    3,
    "two outputs",
    run([begin(), end("a", { outputRef: { ref: HASH, bytes: 1, mediaType: "text/plain" } })]),
  ],
  [
    "I18",
    3,
    "an output of a failure that is routed",
    run([begin(), { ...fail("a", "port"), output: 1 }]),
  ],
  [
    "I18",
    4,
    "progress that falls",
    run([
      begin(),
      { kind: "node.progress", node: "a", done: 2 },
      { kind: "node.progress", node: "a", done: 1 },
      end(),
    ]),
  ],
  [
    "I18",
    3,
    "progress beyond its total",
    run([begin(), { kind: "node.progress", node: "a", done: 2, total: 1 }, end()]),
  ],
  ["I19", 4, "another exit code", summary(run(node("a")), { exitCode: 1 })],
  [
    "I19",
    3,
    "an exit code of another reason",
    summary(run([cancel("sigterm")], { status: "cancelled" }), { exitCode: 130 }),
  ],
])("%s is broken at seq %i: %s", (invariant, seq, what, events) => {
  const found = checkLog(events);
  expect([what, broken(found), found[0]?.seq]).toEqual([what, [invariant], seq]);
  expect(() => assertLog(events)).toThrow(`${invariant} at seq ${seq}`);
});

const graph = (nodes: object[], edges: [from: string, port: string, to: string][]): FlowGraph => ({
  version: 1,
  id: "fx",
  inputs: [],
  nodes: nodes as FlowGraph["nodes"],
  edges: edges.map(([from, port, to]) => ({ from, port, to })),
  outputs: [],
  connections: [],
  schedules: [],
  layout: {},
});
const plain = (id: string, over: object = {}): object => ({
  id,
  type: "transform",
  fields: {},
  ...over,
});
const skip = (at: string, why = "dead"): Words => ({ kind: "node.skipped", node: at, why });

const abc = [plain("a"), plain("b"), plain("c")];
const joinAny = [plain("a"), plain("b"), plain("c", { policy: { join: "any" } })];
const mapGraph = graph(
  [
    plain("m", {
      type: "map",
      body: { nodes: [plain("x"), plain("y")], edges: [{ from: "x", port: "out", to: "y" }] },
    }),
  ],
  [],
);

test.each<[string, FlowGraph, Words[]]>([
  [
    "a node after its source",
    graph(abc, [["a", "out", "b"]]),
    [...node("a"), ...node("b"), ...node("c")],
  ],
  [
    "a join of one when one leads to it",
    graph(joinAny, [
      ["a", "out", "c"],
      ["b", "out", "c"],
    ]),
    [begin(), begin("b"), end(), ...node("c"), end("b")],
  ],
  [
    "an exit by the error port",
    graph(abc, [
      ["a", "error", "b"],
      ["a", "out", "c"],
    ]),
    [begin(), fail("a", "port"), skip("c"), ...node("b")],
  ],
  [
    "a default that stands in",
    graph(abc, [["a", "out", "b"]]),
    [begin(), { ...fail("a", "default"), output: 1 }, ...node("b"), ...node("c")],
  ],
  [
    "the end of a run",
    graph(abc, [["a", "out", "b"]]),
    [begin(), begin("c"), fail("c", "none"), cancelled("a"), skip("b", "run_ended")],
  ],
  [
    "a body in its own order",
    mapGraph,
    [map(), ...node("m[0]/x"), ...node("m[1]/x"), ...node("m[1]/y"), ...node("m[0]/y"), end("m")],
  ],
  [
    "bodies that the graph does not know",
    graph([plain("s", { type: "subflow" })], []),
    [begin("s"), ...node("s/inner"), end("s")],
  ],
])("I4 holds: %s", (what, flow, words) => {
  const status = what === "the end of a run" ? failed : {};
  expect(checkLog(run(words, status), { graph: flow })).toEqual([]);
});

test.each<[string, FlowGraph, Words[]]>([
  [
    "a node before its source",
    graph(abc, [["a", "out", "b"]]),
    [begin(), ...node("b"), end(), ...node("c")],
  ],
  [
    "a node passed over too soon",
    graph(abc, [["a", "out", "b"]]),
    [begin(), skip("b"), end(), ...node("c")],
  ],
  [
    "a node that nothing leads to",
    graph(abc, [["a", "other", "b"]]),
    [...node("a"), ...node("b"), ...node("c")],
  ],
  [
    "a join of one with nothing yet",
    graph(joinAny, [
      ["a", "out", "c"],
      ["b", "out", "c"],
    ]),
    [begin(), begin("b"), ...node("c"), end(), end("b")],
  ],
  [
    "a body out of order",
    mapGraph,
    [
      map(),
      ...node("m[0]/x"),
      begin("m[1]/x"),
      begin("m[1]/y"),
      end("m[1]/x"),
      end("m[1]/y"),
      ...node("m[0]/y"),
      end("m"),
    ],
  ],
])("I4 is broken: %s", (_what, flow, words) => {
  expect(broken(checkLog(run(words), { graph: flow }))).toEqual(["I4"]);
  expect(checkLog(run(words))).toEqual([]);
});

test("I4 knows what a reference implies, also from a body to what is outside", () => {
  const flow = graph(
    [plain("a"), plain("m", { type: "map", body: { nodes: [plain("x"), plain("y")], edges: [] } })],
    [],
  );
  const implied = [
    { from: "m/x", to: "m/y", pointer: "/nodes/1/body/nodes/1/fields/value" },
    { from: "a", to: "m/x", pointer: "/nodes/1/body/nodes/0/fields/value" },
  ];
  const body = [...node("m[0]/x"), ...node("m[0]/y")];
  expect(checkLog(run([...node("a"), map(), ...body, end("m")]), { graph: flow, implied })).toEqual(
    [],
  );
  const early = run([begin(), map(), ...body, end("m"), end()]);
  expect(checkLog(early, { graph: flow, implied })).toMatchObject([{ seq: 3, invariant: "I4" }]);
  const turned = run([...node("a"), map(), ...node("m[0]/y"), ...node("m[0]/x"), end("m")]);
  expect(checkLog(turned, { graph: flow, implied })).toMatchObject([{ seq: 5, invariant: "I4" }]);
});

test("I9 with the graph: a run that can only wait for an answer says so", () => {
  const flow = graph([plain("a"), plain("b")], [["a", "out", "b"]]);
  const silent = run([begin(), ask(), wait(), answer(), back(), end(), ...node("b")]);
  expect(checkLog(silent)).toEqual([]);
  expect(checkLog(silent, { graph: flow })).toMatchObject([{ seq: 5, invariant: "I9" }]);
  expect(checkLog(run([...paused, ...node("b")]), { graph: flow })).toEqual([]);
  const busy = run([
    begin(),
    ask(),
    wait(),
    ...node("b"),
    pause("k1"),
    answer(),
    resume,
    back(),
    end(),
  ]);
  expect(checkLog(busy, { graph: graph([plain("a"), plain("b")], []) })).toEqual([]);
});

test("a flow that a model calls as a tool may ask without a pause", () => {
  const tool: Words = { kind: "tool.started", node: "a", call: "t1", tool: "flow:x" };
  const done: Words = {
    kind: "tool.finished",
    node: "a",
    call: "t1",
    outcome: "ok",
    durationMs: 1,
  };
  const inner = "a[0]/f";
  const asking = [begin(inner), ask("k1", inner), wait("k1", inner)];
  const going = [answer("k1", inner), back(inner), end(inner), done, end()];
  const flow = graph([plain("a", { type: "ai" })], []);
  expect(checkLog(run([begin(), tool, ...asking, ...going]), { graph: flow })).toEqual([]);
  expect(
    broken(
      checkLog(
        run([
          begin(),
          tool,
          ...asking,
          pause("k1"),
          ...going.slice(0, 1),
          resume,
          ...going.slice(1),
        ]),
      ),
    ),
  ).toEqual(["I9"]);
});

test.each<[string, string]>([
  ["as it is", "hunter2 & co"],
  ["escaped", 'pass"word\\1'],
  ["percent-encoded", "a%20b/ü"],
])("I11: a secret is found %s", (_form, secret) => {
  const said = (text: string): ExecutionEvent[] => run([{ ...runLog, text }]);
  const bytes = new TextEncoder().encode(secret);
  const forms = [
    secret,
    JSON.stringify(secret),
    encodeURIComponent(secret),
    encodeURIComponent(secret).toLowerCase(),
    Buffer.from(bytes).toString("base64"),
    Buffer.from(bytes).toString("base64url"),
    Buffer.from(`user:${secret}:x`).toString("base64"),
    Buffer.from(`me:${secret}`).toString("base64"),
    Buffer.from(`x:${secret}`).toString("base64"),
  ];
  for (const form of forms) {
    expect([form, broken(checkLog(said(`see ${form}.`), { secrets: [secret] }))]).toEqual([
      form,
      ["I11"],
    ]);
  }
  expect(checkLog(said("see [redacted]"), { secrets: [secret] })).toEqual([]);
  expect(checkLog(said(secret))).toEqual([]);
});

test("I11: what is too short to be a secret is not looked for", () => {
  expect(checkLog(run([{ ...runLog, text: "ab12" }]), { secrets: ["ab12", ""] })).toEqual([]);
});

test("I12: a snapshot in a capture must be the fold of what came before it, and has no place in a journal", () => {
  const log = run(node("a"));
  const view = createView();
  for (const event of log.slice(0, 2)) foldEvents(view, event);
  const snapshot = makeSnapshot(view, T0 + 10);
  const capture = (over: object): ExecutionEvent[] =>
    [...log.slice(0, 2), { ...snapshot, ...over }, ...log.slice(2)] as ExecutionEvent[];
  expect(broken(checkLog(capture({})))).toEqual(["I1"]);
  expect(broken(checkLog(capture({ view: { ...snapshot.view, warnings: 1 } })))).toEqual(["I12"]);
  expect(broken(checkLog(capture({ seq: 3 })))).toEqual(["I12"]);
});

test("a run that goes on has no summary yet", () => {
  const log = run(paused).slice(0, 5);
  expect(broken(checkLog(log))).toEqual(["I2"]);
  expect(checkLog(log, { unfinished: true })).toEqual([]);
  expect(checkLog([], { unfinished: true })).toEqual([]);
  expect(checkLog([])).toMatchObject([{ invariant: "I2" }]);
});

const parting = (code: string, over: object = {}): object => ({
  status: "failed",
  error: { code, message: "nobody can answer here", retryable: false },
  ...over,
});

test.each(["confirmation_required", "unavailable"])(
  "a parting summary (%s) may leave things open",
  (code) => {
    const log = journal(
      started({ nodeCount: 3 }),
      ...node("b"),
      begin(),
      ask(),
      wait(),
      pause("k1"),
    );
    const last = summaryAfter(log, parting(code));
    expect(checkLog([...log, last])).toEqual([]);
    const counts = { succeeded: 2, failed: 0, skipped: 0, cancelled: 0 };
    expect(broken(checkLog([...log, { ...last, counts } as ExecutionEvent]))).toEqual(["I10"]);
  },
);

test("any other summary of an open run is wrong", () => {
  const log = journal(started({ nodeCount: 3 }), ...node("b"), begin(), ask(), wait(), pause("k1"));
  expect(broken(checkLog([...log, summaryAfter(log, parting("http_status"))]))).toContain("I2");
});

test.each<[string, object, string[]]>([
  ["success", { status: "succeeded", error: undefined, exitCode: 0 }, ["I2"]],
  ["a duration", { durationMs: 5 }, ["I10"]],
  ["nodes", { counts: { succeeded: 1, failed: 0, skipped: 0, cancelled: 0 } }, ["I10"]],
  ["no error", { error: undefined }, ["I15"]],
  ["another exit code", { exitCode: 0 }, ["I19"]],
  ["another seq", { seq: 2 }, ["I1"]],
])("the only event of a run that never began has not %s", (_what, over, expected) => {
  const only = summaryAfter([], { status: "invalid", ts: T0 });
  const event = { ...only, seq: 1, durationMs: 0, ...over } as ExecutionEvent;
  expect(broken(checkLog([event]))).toEqual(expected);
});

test("merged deltas prove that nothing is missing", () => {
  const log = run([begin(), call(), delta(0, "Hel"), delta(3, "lo"), finish(), end()]);
  const [one, two] = log.slice(3, 5) as [ExecutionEvent, ExecutionEvent];
  const merged = { ...two, offset: 0, text: "Hello", merged: 2 } as ExecutionEvent;
  const capture = log
    .filter((event) => event !== one)
    .map((event) => (event === two ? merged : event));
  expect(checkLog(capture)).toEqual([]);
  expect(broken(checkLog(change(capture, 5, { merged: 3 })))).toEqual(["I1"]);
});

test("garbage is judged, never thrown at", () => {
  const garbage = [
    null,
    7,
    {},
    { v: 1 },
    { v: 1, kind: "log" },
    { v: 1, kind: { toString: 1, valueOf: 1 } },
    { v: 1, kind: "node.started", runId: "r1", seq: 1, ts: 1, node: { toString: 1, valueOf: 1 } },
    {
      v: 1,
      kind: "foo",
      runId: "r1",
      seq: 8,
      ts: 1,
      deep: JSON.parse(`${"[".repeat(150_000)}${"]".repeat(150_000)}`),
    },
    { ...started(), v: 1, runId: "r1", seq: 9, ts: 1, flow: null },
    { v: 1, kind: "summary", runId: "r1", seq: 10, ts: 1 },
  ];
  const found = checkLog(garbage as unknown as ExecutionEvent[]);
  expect(found.length).toBeGreaterThan(4);
  expect(found[0]?.invariant).toBe("I1");
});

test("exits of any length make a line too long, although most ends of nodes are not measured", () => {
  const log = run(node("a"));
  const end = log.findIndex(({ kind }) => kind === "node.succeeded") + 1;
  expect(broken(checkLog(change(log, end, { ports: ["x".repeat(300_000)] })))).toEqual(["I1"]);
  expect(checkLog(change(log, end, { ports: ["x".repeat(3_000)] }))).toEqual([]);
});

test("a channel of a newer writer is counted like every other, whatever its name", () => {
  for (const channel of ["audio", "constructor", "__proto__"]) {
    const said = { ...delta(0, "Hel"), channel };
    const more = { ...delta(3, "lo"), channel };
    const lengths = Object.fromEntries([[channel, 5]]);
    const log = run([begin(), call(), said, more, { ...finish(), lengths }, end()]);
    expect(checkLog(log)).toEqual([]);
    expect(broken(checkLog(change(log, 6, { lengths: {} })))).toEqual(["I6"]);
    expect(foldEvents(createView(), log[4] as ExecutionEvent).seq).toBe(5);
  }
});
