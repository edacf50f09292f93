import {
  assertLog,
  checkLog,
  createView,
  type ExecutionEvent,
  foldEvents,
  makeSnapshot,
} from "@millrace/contracts";
import { expect, test } from "vitest";
import {
  broken,
  error,
  HASH,
  journal,
  NO_COUNTS,
  node,
  renumber,
  run,
  started,
  summaryAfter,
  T0,
  type Words,
  words,
} from "./builder.ts";

const delta = (offset: number, text: string): Words => ({
  ...{ kind: "llm.delta", node: "a", call: "c1", channel: "text" },
  ...{ offset, text },
});
const finish = (over: Partial<Words> = {}): Words => ({
  ...{ kind: "llm.finished", node: "a", call: "c1", finish: "stop", lengths: { text: 5 } },
  ...{ costUsd: 0.5, durationMs: 1, ...over },
});
const silent = finish({ lengths: {} });
const aborted = (reason: string, discarded: number): Words => ({
  ...{ kind: "llm.failed", node: "a", call: "c1", next: "none" },
  ...{ reason, discarded },
});
const progress = (done: number, more: object = {}): Words => ({
  ...{ kind: "node.progress", node: "a", done, ...more },
});
const [hel, lo, hello] = [delta(0, "Hel"), delta(3, "lo"), delta(0, "Hello")];
const runLog: Words = { kind: "log", level: "info", channel: "engine", text: "x" };
const nodeLog: Words = { kind: "log", node: "a", level: "info", channel: "node", text: "" };

const paused = words`begin ask wait pause answer resume back end`;
const failed = { status: "failed" } as const;
const stopped = { status: "cancelled" } as const;
const used = finish({ usage: { inputTokens: 3, outputTokens: 4 } });

test.each<[string, string, Words[], Parameters<typeof run>[1]?]>([
  ["I1", "a log numbered without gaps", node("a")],
  ["I2", "one beginning and one end", []],
  ["I3", "every state of a node", words`begin retry begin#2+200 end#2`],
  [
    "I5",
    "remarks while running, logs also while waiting",
    words`begin ask wait ${nodeLog} pause answer resume back end`,
  ],
  ["I6", "deltas that add up", words`begin call ${hel} ${lo} ${finish()} end`],
  [
    "I7",
    "calls closed before the end, one rejected",
    words`begin call ${hello} ${finish()} reject end`,
  ],
  ["I8", "an attempt after its delay, a millisecond early", words`begin retry begin#2+119 end#2`],
  ["I9", "a pause for an answer", paused],
  [
    "I9",
    "a pause while a body waits",
    words`begin:map@m begin@m[0]/a ask@m[0]/a wait@m[0]/a pause log answer@m[0]/a resume back@m[0]/a end@m[0]/a end@m`,
  ],
  ["I10", "sums of nodes, calls and time", words`begin call ${hello} ${used} end skip@b`],
  [
    "I13",
    "cancelling ends what is open",
    words`begin call cancel ${aborted("aborted", 0)} cancelled cancelled@b`,
    stopped,
  ],
  ["I13", "an operator's pause lets running nodes end", words`begin hold end resume:operator`],
  ["I15", "a failure that nobody catches", words`begin fail:none skip:run_ended@b`, failed],
  ["I15", "failures that are caught", words`begin fail:port begin@b end@b`],
  ["I16", "time that stands still", words`begin+5 end+5`],
  [
    "I17",
    "a body inside its node, at its second attempt",
    words`begin retry begin#2+200 begin@a~2[0]/x end@a~2[0]/x end#2`,
  ],
  [
    "I18",
    "progress that stays",
    words`begin ${progress(1, { total: 2 })} ${progress(1, { total: 1 })} end`,
  ],
  ["I19", "exit code of a timeout", words`cancel:timeout`, stopped],
])("%s holds: %s", (_invariant, _what, said, end) => {
  const events = run(said, end);
  expect(checkLog(events)).toEqual([]);
  expect(() => assertLog(events)).not.toThrow();
});

const change = (events: ExecutionEvent[], seq: number, over: object): ExecutionEvent[] =>
  events.map((event) => (event.seq === seq ? ({ ...event, ...over } as ExecutionEvent) : event));
const summary = (events: ExecutionEvent[], over: object): ExecutionEvent[] =>
  change(events, events.length, over);

const log = (...given: Parameters<typeof words>) => run(words(...given));
const one = run(node("a"));
const unrouted = run(words`begin fail:none`, failed);
const longError = { ...error, message: "x".repeat(2_049) };
const outputRef = { ref: HASH, bytes: 1, mediaType: "text/plain" };
const afterIt = { ...journal(runLog)[0], seq: 5, ts: T0 + 99 } as ExecutionEvent;
const only = { ...NO_COUNTS, succeeded: 1 };

test.each<[string, string, ExecutionEvent[]]>([
  ["I1 at seq 5", "a gap in seq", change(one, 4, { seq: 5 })],
  ["I1 at seq 2", "another run", change(one, 2, { runId: "r2" })],
  ["I1 at seq 2", "another version", change(one, 2, { v: 2 })],
  ["I1 at seq 2", "a field that is missing", change(one, 2, { type: undefined })],
  [
    "I1 at seq 3",
    "a message too long",
    change(log`begin retry begin#2+200 end#2`, 3, { error: longError }),
  ],
  [
    "I1 at seq 3",
    "a line too long",
    change(run(paused), 3, { schema: { a: "x".repeat(300_000) } }),
  ],
  ["I2 at seq 1", "no beginning", renumber(one.slice(1))],
  ["I2 at seq 3", "no end", one.slice(0, 3)],
  ["I2 at seq 5", "something after the end", [...one, afterIt]],
  ["I2 at seq 2", "a second beginning", run([started({ nodeCount: 0 })])],
  [
    "I2 at seq 3",
    "success while cancelling",
    summary(log`cancel`, { status: "succeeded", exitCode: 0 }),
  ],
  ["I3 at seq 4", "an end that comes twice", log`begin end end+20`],
  ["I3 at seq 2", "an end without a beginning", log`end`],
  ["I3 at seq 3", "a node left open", log`begin`],
  ["I5 at seq 4", "a remark after the end", log`begin end ${progress(1)}`],
  ["I5 at seq 3", "another attempt", log`begin ${progress(1, { attempt: 2 })} end`],
  ["I6 at seq 5", "an offset too far", log`begin call ${hel} ${delta(4, "lo")} ${finish()} end`],
  ["I6 at seq 5", "lengths that do not add up", log`begin call ${hel} ${finish()} end`],
  ["I6 at seq 5", "a delta after its call", log`begin call ${silent} ${delta(0, "x")} end`],
  ["I6 at seq 5", "fewer units discarded", log`begin call ${hel} ${aborted("timeout", 2)} end`],
  ["I7 at seq 4", "a call left open", log`begin call end`],
  ["I7 at seq 4", "a confirmation left open", log`begin ask end`],
  ["I7 at seq 5", "an id used twice", log`begin call ${silent} call ${silent} end`],
  [
    "I7 at seq 6",
    "a call that is not to be rejected any more",
    log`begin call ${silent} call:c2 reject ${{ ...silent, call: "c2" }} end`,
  ],
  ["I8 at seq 2", "a first attempt that is the second", log`begin#2 end#2`],
  ["I8 at seq 4", "an attempt too early", log`begin retry begin#2+117 end#2`],
  ["I8 at seq 3", "a wrong number of the next attempt", log`begin retry:3 begin#2+200 end#2`],
  [
    "I9 at seq 5",
    "a confirmation that is not open",
    change(run(paused), 5, { confirmations: ["k1", "k2"] }),
  ],
  [
    "I9 at seq 6",
    "a pause while something runs",
    log`begin ask wait begin@b pause answer resume back end end@b`,
  ],
  [
    "I9 at seq 6",
    "a pause that ends without an answer",
    log`begin ask wait pause resume answer back end`,
  ],
  [
    "I9 at seq 7",
    "an answer that does not end the pause",
    log`begin ask wait pause answer log resume back end`,
  ],
  ["I10 at seq 3", "a node's time", change(one, 3, { durationMs: 7 })],
  ["I10 at seq 4", "counts", summary(one, { counts: { ...only, succeeded: 2 } })],
  ["I10 at seq 4", "fewer nodes than the flow has", run(node("a"), { start: { nodeCount: 2 } })],
  ["I10 at seq 4", "bodies", summary(one, { bodyCounts: only })],
  ["I10 at seq 4", "cost", summary(one, { costUsd: null })],
  ["I10 at seq 4", "time", summary(one, { durationMs: 1 })],
  ["I13 at seq 3", "a start while cancelling", run(words`cancel begin cancelled`, stopped)],
  ["I13 at seq 3", "a start in an operator's pause", log`hold begin resume:operator end`],
  [
    "I13 at seq 6",
    "a node that goes on in a confirmation's pause",
    log`begin ask wait pause skip:when@b answer resume back end`,
  ],
  [
    "I15 at seq 4",
    "success with a failure",
    summary(unrouted, { status: "succeeded", error: undefined, exitCode: 0 }),
  ],
  ["I15 at seq 4", "a failure without an error", summary(unrouted, { error: undefined })],
  [
    "I15 at seq 4",
    "the failure of another node",
    summary(unrouted, { error: { ...error, node: "b" } }),
  ],
  ["I15 at seq 4", "cancelled by nobody", summary(one, { status: "cancelled", exitCode: 130 })],
  [
    "I15 at seq 4",
    "a start after the run failed",
    run(words`begin fail:none begin@b end@b`, failed),
  ],
  [
    "I15 at seq 4",
    "an unrouted failure inside a body",
    log`begin:map@m begin@m[0]/a fail:none@m[0]/a end@m`,
  ],
  [
    "I15 at seq 3",
    "a failure for a parent that is not there",
    run(words`begin fail:parent`, { ...failed, error }),
  ],
  ["I16 at seq 4", "time that falls", change(run([...node("a"), runLog]), 4, { ts: T0 })],
  ["I17 at seq 2", "a body without its node", log`begin@a[0]/x end@a[0]/x`],
  [
    "I17 at seq 4",
    "a node that ends before its body",
    log`begin:map@m begin@m[0]/a end@m end@m[0]/a`,
  ],
  ["I17 at seq 3", "a body of another attempt", log`begin:map@m begin@m~2[0]/a end@m~2[0]/a end@m`],
  ["I18 at seq 3", "no output", change(one, 3, { output: undefined })],
  ["I18 at seq 3", "two outputs", change(one, 3, { outputRef })],
  [
    "I18 at seq 3",
    "an output of a failure that is routed",
    change(log`begin fail:port`, 3, { output: 1 }),
  ],
  ["I18 at seq 4", "progress that falls", log`begin ${progress(2)} ${progress(1)} end`],
  ["I18 at seq 3", "progress beyond its total", log`begin ${progress(2, { total: 1 })} end`],
  ["I19 at seq 4", "another exit code", summary(one, { exitCode: 1 })],
  [
    "I19 at seq 3",
    "an exit code of another reason",
    summary(run(words`cancel:sigterm`, stopped), { exitCode: 130 }),
  ],
])("%s is broken: %s", (place, _what, events) => {
  const found = checkLog(events);
  expect(broken(found).map((invariant) => `${invariant} at seq ${found[0]?.seq}`)).toEqual([place]);
  expect(() => assertLog(events)).toThrow(place);
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

const parting = (code: string): object => ({
  status: "failed",
  error: { code, message: "nobody can answer here", retryable: false },
});

const open = journal(started({ nodeCount: 3 }), ...words`node@b begin ask wait pause`);

test.each(["confirmation_required", "unavailable"])(
  "a parting summary (%s) may leave things open",
  (code) => {
    const last = summaryAfter(open, parting(code));
    expect(checkLog([...open, last])).toEqual([]);
    const counts = { ...only, succeeded: 2 };
    expect(broken(checkLog([...open, { ...last, counts } as ExecutionEvent]))).toEqual(["I10"]);
  },
);

test("any other summary of an open run is wrong", () => {
  expect(broken(checkLog([...open, summaryAfter(open, parting("http_status"))]))).toContain("I2");
});

test.each<[string, object, string[]]>([
  ["success", { status: "succeeded", error: undefined, exitCode: 0 }, ["I2"]],
  ["a duration", { durationMs: 5 }, ["I10"]],
  ["nodes", { counts: only }, ["I10"]],
  ["no error", { error: undefined }, ["I15"]],
  ["another exit code", { exitCode: 0 }, ["I19"]],
  ["another seq", { seq: 2 }, ["I1"]],
])("the only event of a run that never began has not %s", (_what, over, expected) => {
  const invalid = summaryAfter([], { status: "invalid", ts: T0 });
  const event = { ...invalid, seq: 1, durationMs: 0, ...over } as ExecutionEvent;
  expect(broken(checkLog([event]))).toEqual(expected);
});

test("merged deltas prove that nothing is missing", () => {
  const log = run(words`begin call ${hel} ${lo} ${finish()} end`);
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
    const log = run(words`begin call ${said} ${more} ${finish({ lengths })} end`);
    expect(checkLog(log)).toEqual([]);
    expect(broken(checkLog(change(log, 6, { lengths: {} })))).toEqual(["I6"]);
    expect(foldEvents(createView(), log[4] as ExecutionEvent).seq).toBe(5);
  }
});
