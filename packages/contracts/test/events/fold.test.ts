import {
  createView,
  type ExecutionEvent,
  foldEvents,
  type RunView,
  viewFromJson,
  viewToJson,
} from "@millrace/contracts";
import { casesOf } from "@millrace/test-support";
import { legalLog } from "@millrace/test-support/logs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyEvent, holds } from "./arbitrary.ts";
import {
  error,
  HASH,
  journal,
  NO_COUNTS,
  NO_USAGE,
  node,
  run,
  started,
  T0,
  type Words,
  words,
} from "./builder.ts";

function fold(events: Iterable<ExecutionEvent>, view: RunView = createView()): RunView {
  for (const event of events) foldEvents(view, event);
  return view;
}

const text = (view: RunView): string => JSON.stringify(viewToJson(view));
const nodeOf = (view: RunView, path = "a") => viewToJson(view).nodes.find((n) => n.node === path);

test("an empty view has every key of its JSON form", () => {
  expect(viewToJson(createView("r9"))).toEqual({
    v: 1,
    runId: "r9",
    seq: 0,
    state: "pending",
    startedAt: null,
    updatedAt: 0,
    flow: null,
    nodeCount: 0,
    onFailure: null,
    trigger: null,
    paused: null,
    cancelReason: null,
    nodes: [],
    confirmations: [],
    calls: [],
    counts: NO_COUNTS,
    bodyCounts: NO_COUNTS,
    usage: NO_USAGE,
    costUsd: 0,
    logs: [],
    warnings: 0,
    failures: [],
    trimmed: 0,
    summary: null,
  });
});

test("folding changes and answers the view that it was given", () => {
  const view = createView();
  expect(foldEvents(view, journal(started())[0] as ExecutionEvent)).toBe(view);
  expect(view).toMatchObject({
    runId: "r1",
    seq: 1,
    state: "running",
    startedAt: T0,
    flow: { id: "fx", hash: HASH },
    onFailure: "stop",
    trigger: "cli",
  });
});

test("a run goes through its states, and keeps why it is paused or cancelled", () => {
  const log = journal(
    started(),
    { kind: "run.paused", reason: "operator", confirmations: [] },
    { kind: "run.resumed", reason: "operator" },
    { kind: "run.cancelling", reason: "sigterm" },
  );
  const view = createView();
  const states = log.map((event) => {
    const { state, paused, cancelReason } = foldEvents(view, event);
    return [state, paused, cancelReason];
  });
  expect(states).toEqual([
    ["running", null, null],
    ["paused", { reason: "operator", since: T0 + 10 }, null],
    ["running", null, null],
    ["cancelling", null, "sigterm"],
  ]);
});

test("a node shows its attempt, its retries and what it waits for", () => {
  const log = journal(
    started(),
    { kind: "node.started", node: "a", type: "http.request" },
    { kind: "node.retrying", node: "a", error, delayMs: 500, next: 2 },
    { kind: "node.started", node: "a", attempt: 2, type: "http.request", ts: 600 },
    { kind: "node.waiting", node: "a", attempt: 2, on: "timer", until: T0 + 900 },
  );
  const view = fold(log.slice(0, 3));
  expect(nodeOf(view)).toMatchObject({
    state: "retrying",
    attempt: 1,
    retries: 1,
    nextAt: T0 + 20 + 500,
    error: { code: "http_status" },
  });
  fold(log.slice(3), view);
  expect(nodeOf(view)).toEqual({
    node: "a",
    state: "waiting",
    attempt: 2,
    type: "http.request",
    startedAt: T0 + 600,
    waitingOn: "timer",
    until: T0 + 900,
    retries: 1,
    checks: { passed: 0, failed: 0, warned: 0 },
    tools: 0,
  });
});

test("progress, checks and tool calls are those of the current attempt", () => {
  const said: Words[] = [
    { kind: "node.progress", node: "a", done: 4, total: 10, unit: "items" },
    { kind: "node.checked", node: "a", index: 0, check: "expr", pass: true, level: "error" },
    { kind: "node.checked", node: "a", index: 1, check: "expr", pass: false, level: "error" },
    { kind: "node.checked", node: "a", index: 2, check: "expr", pass: false, level: "warn" },
    { kind: "tool.started", node: "a", call: "t1", tool: "search" },
    { kind: "tool.finished", node: "a", call: "t1", outcome: "ok", durationMs: 1 },
  ];
  const begin: Words = { kind: "node.started", node: "a", type: "ai" };
  const view = fold(journal(started(), begin, ...said));
  expect(nodeOf(view)).toMatchObject({
    progress: { done: 4, total: 10, unit: "items" },
    checks: { passed: 1, failed: 1, warned: 1 },
    tools: 1,
  });
  fold(journal(started(), begin, ...said, { ...begin, attempt: 2 }).slice(-1), view);
  expect(nodeOf(view)).toEqual({
    node: "a",
    state: "running",
    attempt: 2,
    type: "ai",
    startedAt: T0 + 80,
    retries: 0,
    checks: { passed: 0, failed: 0, warned: 0 },
    tools: 0,
  });
});

test("top-level nodes and body nodes are counted apart", () => {
  const view = fold(run(words`begin@m node@m[0]/x node@m[1]/x skip@m[1]/y end@m skip@b`));
  expect(view.counts).toEqual({ succeeded: 1, failed: 0, skipped: 1, cancelled: 0 });
  expect(view.bodyCounts).toEqual({ succeeded: 2, failed: 0, skipped: 1, cancelled: 0 });
});

test("an output of at most 4,096 bytes is kept, a larger one as its size and its beginning", () => {
  const ending = (output: unknown): Words[] => [
    { kind: "node.started", node: "a", type: "transform" },
    { kind: "node.succeeded", node: "a", output },
  ];
  const fits = "é".repeat((4_096 - 2) / 2);
  expect(nodeOf(fold(run(ending(fits))))?.output).toBe(fits);
  const tooLong = nodeOf(fold(run(ending(`${fits}x`))));
  expect(tooLong?.output).toBeUndefined();
  expect(tooLong?.outputRef).toEqual({
    ref: "",
    bytes: 4_097,
    mediaType: "application/json",
    preview: `"${"é".repeat(1_023)}`,
  });
});

const delta = (offset: number, said: string, channel = "text", id = "c1"): Words => ({
  ...{ kind: "llm.delta", node: "a", call: id },
  ...{ channel, offset, text: said },
});
const calling = (...said: Words[]): ExecutionEvent[] =>
  journal(started(), ...words`begin call`, ...said);

test("an open call shows its texts, a closed one is gone", () => {
  const log = calling(delta(0, "Hel"), delta(0, "hm", "reasoning"), delta(3, "lo"), {
    ...{ kind: "llm.finished", node: "a", call: "c1", finish: "stop" },
    ...{ lengths: { text: 5, reasoning: 2 }, costUsd: 0.25, durationMs: 1 },
    usage: { inputTokens: 12, outputTokens: 2, cachedInputTokens: 3 },
  });
  const view = fold(log.slice(0, -1));
  const open = {
    call: "c1",
    node: "a",
    attempt: 1,
    kind: "llm",
    name: "model-c1",
    startedAt: T0 + 20,
  };
  const texts = { text: "Hello", reasoning: "hm" };
  expect(viewToJson(view).calls).toEqual([{ ...open, texts }]);
  fold(log.slice(-1), view);
  expect(viewToJson(view).calls).toEqual([]);
  expect(nodeOf(view)).toMatchObject({ text: "Hello", textCall: "c1" });
  expect(view.usage).toMatchObject({
    calls: 1,
    inputTokens: 12,
    outputTokens: 2,
    cachedInputTokens: 3,
  });
  expect(view.costUsd).toBe(0.25);
});

test("a failed call takes its text with it, for the next one begins anew", () => {
  const view = fold(
    calling(delta(0, "Hel"), {
      ...{ kind: "llm.failed", node: "a", call: "c1" },
      ...{ reason: "stream_cut", discarded: 3, next: "retry" },
    }),
  );
  expect(nodeOf(view)).not.toHaveProperty("text");
  expect(view.usage.calls).toBe(1);
  expect(view.costUsd).toBe(0);
});

test("only the text of a generate call is the node's text", () => {
  const log = calling(
    delta(0, "answer"),
    { ...(words`call:c2`[0] as Words), purpose: "judge" },
    delta(0, "looks fine", "text", "c2"),
  );
  expect(nodeOf(fold(log))?.text).toBe("answer");
});

test("one unknown price makes the whole cost unknown", () => {
  const finish = (id: string, costUsd: number | null): Words[] => [
    { ...(words`call`[0] as Words), call: id },
    {
      ...{ kind: "llm.finished", node: "a", call: id, finish: "stop" },
      ...{ lengths: {}, costUsd, durationMs: 1 },
    },
  ];
  const costOf = (other: number | null) =>
    fold(journal(started(), ...words`begin`, ...finish("c1", 1), ...finish("c2", other))).costUsd;
  expect(costOf(2)).toBe(3);
  expect(costOf(null)).toBeNull();
});

test.each<[string, Words[], string]>([
  ["an overlap is ignored", [delta(0, "Hello"), delta(3, "lo you")], "Hello you"],
  ["a repetition is ignored", [delta(0, "Hello"), delta(1, "ell")], "Hello"],
  ["a gap is filled", [delta(0, "He"), delta(4, "o")], "He\ufffd\ufffdo"],
  ["a gap too large to fill is left", [delta(0, "He"), delta(2 ** 50, "o")], "He"],
])("%s", (_what, deltas, expected) => {
  const view = fold(calling(...deltas));
  expect(viewToJson(view).calls[0]?.texts.text).toBe(expected);
  expect(nodeOf(view)?.text).toBe(expected);
});

test("a node keeps the last 4,096 units of its text, and never half a pair", () => {
  const pieces = ["x".repeat(3_000), "🙂".repeat(2_000), "y", "🙂".repeat(40), "z".repeat(1_000)];
  let offset = 0;
  const deltas = pieces.map((piece) => {
    offset += piece.length;
    return delta(offset - piece.length, piece);
  });
  for (let n = 1; n <= deltas.length; n += 1) {
    const whole = pieces.slice(0, n).join("");
    const shown = nodeOf(fold(calling(...deltas.slice(0, n))))?.text ?? "";
    expect(whole.endsWith(shown)).toBe(true);
    expect(shown.length).toBeGreaterThanOrEqual(Math.min(whole.length, 4_095));
    expect(shown.length).toBeLessThanOrEqual(4_096);
    expect(shown).not.toMatch(/^[\udc00-\udfff]/);
  }
});

test("confirmations show their answer, the last hundred answered ones", () => {
  const asked = Array.from({ length: 103 }, (_, n) =>
    words`ask answer`.map((event) => ({ ...event, id: `k${n}` })),
  ).flat();
  const request = { node: "a", id: "open", prompt: "?", deadline: 9 };
  const open: Words = { kind: "confirm.requested", ...request };
  const view = fold(journal(started(), ...words`begin ${open}`, ...asked));
  const { confirmations } = viewToJson(view);
  expect(confirmations.map(({ id }) => id)).toEqual([
    "open",
    ...Array.from({ length: 100 }, (_, n) => `k${n + 3}`),
  ]);
  const since = { attempt: 1, state: "requested", requestedAt: T0 + 20 };
  expect(confirmations[0]).toEqual({ ...request, ...since });
  expect(confirmations.at(-1)).toMatchObject({ state: "approved", by: "api" });
});

test("logs keep the last two hundred, failures the first hundred, warnings are counted", () => {
  const remark = { channel: "engine", code: "c" };
  const broke = { message: "m", retryable: false };
  const said = Array.from({ length: 150 }, (_, n): Words[] => [
    { kind: "log", level: n % 2 === 0 ? "warn" : "info", text: `${n}`, ...remark },
    { kind: "log", node: `n${n}`, level: "info", channel: "node", text: "said" },
    { kind: "node.failed", node: `n${n}`, error: { code: `e${n}`, ...broke }, routed: "port" },
  ]).flat();
  const json = viewToJson(fold(journal(started(), ...said)));
  expect(json.logs).toHaveLength(200);
  const last = { seq: 449, ts: T0 + 4_480, level: "info", text: "149" };
  expect(json.logs.at(-2)).toEqual({ ...last, ...remark });
  expect(json.logs.at(-1)).toMatchObject({ node: "n149", text: "said" });
  expect(json.warnings).toBe(75);
  expect(json.failures).toHaveLength(100);
  const first = { node: "n0", attempt: 1, code: "e0", message: "m", routed: "port" };
  expect(json.failures[0]).toEqual(first);
});

test("settled body nodes are forgotten, the oldest first; open ones and counts stay", () => {
  const settled = Array.from({ length: 2_005 }, (_, i) => node(`m[${i + 1}]/x`)).flat();
  const view = fold(journal(started(), ...words`begin@m begin@m[0]/x`, ...settled));
  const paths = [...view.nodes.keys()];
  expect(paths.slice(0, 3)).toEqual(["m", "m[0]/x", "m[6]/x"]);
  expect(paths).toHaveLength(2_002);
  expect(view.trimmed).toBe(5);
  expect(view.bodyCounts.succeeded).toBe(2_005);
});

test("what happens within one millisecond is forgotten in order of appearance, so a restored view does the same", () => {
  const count = 2_100;
  const begin = Array.from(
    { length: count },
    (_, i): Words => ({ kind: "node.started", node: `m[${i}]/x`, type: "t", ts: 5 }),
  );
  const end = Array.from(
    { length: count },
    (_, i): Words => ({ kind: "node.skipped", node: `m[${count - 1 - i}]/x`, why: "when", ts: 5 }),
  );
  const log = journal(started(), ...words`begin@m`, ...begin, ...end);
  const whole = fold(log);
  const half = log.length - 600;
  const restored = viewFromJson(JSON.parse(text(fold(log.slice(0, half)))));
  expect(text(fold(log.slice(half), restored))).toBe(text(whole));
});

test("an event that was folded before changes nothing", () => {
  const { events } = legalLog(11);
  const view = fold(events);
  const before = text(view);
  fold(events, view);
  expect(text(view)).toBe(before);
});

test("an illegal step is shown as the event states it", () => {
  const view = fold(journal(started(), ...words`end@m[0]/a fail:parent@m[0]/a begin@m[0]/a#9`));
  expect(nodeOf(view, "m[0]/a")).toMatchObject({ state: "running", attempt: 9 });
  expect(view.bodyCounts).toEqual(NO_COUNTS);
});

test("nothing that can be parsed makes the fold throw, and the view stays JSON", () => {
  const garbage = fc.record({
    v: fc.constant(1),
    kind: fc.constantFrom(...new Set(legalLog(3).events.map(({ kind }) => kind)), "snapshot", "x"),
    runId: fc.constant("r1"),
    node: fc.constantFrom("a", "m[0]/a", 7, null, undefined),
    call: fc.constantFrom("c1", null),
    channel: fc.constantFrom("text", "__proto__", null),
    offset: fc.oneof(fc.integer(), fc.anything()),
    text: fc.oneof(fc.string(), fc.anything()),
    error: fc.anything(),
    view: fc.oneof(
      fc.anything(),
      fc.record({ nodes: fc.anything(), calls: fc.array(fc.anything()) }),
    ),
    output: fc.jsonValue(),
    flow: fc.anything(),
    id: fc.constantFrom("k1", "k2"),
    usage: fc.anything(),
  });
  holds(
    fc.property(fc.array(fc.oneof(garbage, anyEvent), { maxLength: 20 }), (found) => {
      const view = createView();
      found.forEach((event, i) => {
        foldEvents(view, { ...event, seq: i + 1, ts: i } as unknown as ExecutionEvent);
        expect(view.seq).toBeLessThanOrEqual(i + 1);
      });
      viewToJson(view);
    }),
    { numRuns: casesOf(500) },
  );
});
