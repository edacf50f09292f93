import {
  createTrace,
  createView,
  type ExecutionEvent,
  foldEvents,
  foldTrace,
  makeSnapshot,
  type SpanView,
  type Trace,
  type TraceJson,
  traceFromJson,
  traceToJson,
} from "@millrace/contracts";
import { casesOf } from "@millrace/test-support";
import { legalLog } from "@millrace/test-support/logs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyEvent, holds } from "./arbitrary.ts";
import { journal, node, run, started, T0, type Words } from "./builder.ts";

function fold(events: Iterable<ExecutionEvent>, trace: Trace = createTrace()): Trace {
  for (const event of events) foldTrace(trace, event);
  return trace;
}
const text = (trace: Trace): string => JSON.stringify(traceToJson(trace));
const spansOf = (events: Iterable<ExecutionEvent>): readonly SpanView[] =>
  traceToJson(fold(events)).spans;

test("an empty trace has every key of its JSON form", () => {
  expect(traceToJson(createTrace("r9"))).toEqual({
    v: 1,
    runId: "r9",
    seq: 0,
    since: 0,
    startedAt: null,
    updatedAt: 0,
    spans: [],
    trimmed: 0,
  });
});

const ERROR = { code: "http_status", message: "503", retryable: true };

test("each attempt is a span, and the time to the next one a wait", () => {
  const log = journal(
    started(),
    { kind: "node.started", node: "a", type: "http.request" },
    { kind: "node.retrying", node: "a", error: ERROR, delayMs: 500, next: 2 },
    { kind: "node.started", node: "a", attempt: 2, type: "http.request", ts: 600 },
    { kind: "node.succeeded", node: "a", attempt: 2, output: 1, ts: 700 },
    { kind: "node.skipped", node: "b", why: "when", ts: 701 },
  );
  const one = { node: "a", attempt: 1 };
  expect(spansOf(log)).toEqual([
    {
      ...one,
      kind: "node",
      name: "http.request",
      startedAt: T0 + 10,
      endedAt: T0 + 20,
      state: "failed",
      firstSeq: 2,
      lastSeq: 3,
    },
    {
      ...one,
      kind: "wait",
      name: "retry",
      startedAt: T0 + 20,
      endedAt: T0 + 600,
      state: "succeeded",
      firstSeq: 3,
      lastSeq: 4,
    },
    {
      node: "a",
      attempt: 2,
      kind: "node",
      name: "http.request",
      startedAt: T0 + 600,
      endedAt: T0 + 700,
      state: "succeeded",
      firstSeq: 4,
      lastSeq: 5,
    },
  ]);
});

test("a waiting node is open in both of its spans, and its wait ends when it goes on or is cancelled", () => {
  const words: Words[] = [
    started(),
    { kind: "node.started", node: "a", type: "confirm" },
    { kind: "node.waiting", node: "a", on: "confirm", ids: ["k1"] },
    { kind: "node.resumed", node: "a" },
    { kind: "node.waiting", node: "a", on: "timer", until: T0 + 900 },
    { kind: "node.cancelled", node: "a", reason: "run_cancelled" },
  ];
  const states = (count: number) =>
    spansOf(journal(...words.slice(0, count))).map(({ kind, name, state }) => [kind, name, state]);
  expect(states(3)).toEqual([
    ["node", "confirm", "waiting"],
    ["wait", "confirm", "waiting"],
  ]);
  expect(states(4)).toEqual([
    ["node", "confirm", "running"],
    ["wait", "confirm", "succeeded"],
  ]);
  expect(states(6)).toEqual([
    ["node", "confirm", "cancelled"],
    ["wait", "confirm", "succeeded"],
    ["wait", "timer", "cancelled"],
  ]);
});

const call = (id: string): Words => ({
  kind: "llm.started",
  node: "a",
  call: id,
  provider: "mock",
  model: `model-${id}`,
  target: 0,
  step: 1,
  purpose: "generate",
});

test("calls have their tokens and money, and the attempt has their sums", () => {
  const log = journal(
    started(),
    { kind: "node.started", node: "a", type: "ai" },
    call("c1"),
    { kind: "llm.delta", node: "a", call: "c1", channel: "text", offset: 0, text: "Hel" },
    { kind: "llm.failed", node: "a", call: "c1", reason: "timeout", discarded: 3, next: "retry" },
    call("c2"),
    {
      kind: "llm.finished",
      node: "a",
      call: "c2",
      finish: "tool_calls",
      lengths: {},
      usage: { inputTokens: 12, outputTokens: 2, cachedInputTokens: 3 },
      costUsd: 0.25,
      durationMs: 10,
    },
    { kind: "tool.started", node: "a", call: "t1", tool: "search", llmCall: "c2" },
    { kind: "tool.finished", node: "a", call: "t1", outcome: "denied", durationMs: 10 },
    call("c3"),
    {
      kind: "llm.finished",
      node: "a",
      call: "c3",
      finish: "stop",
      lengths: {},
      usage: { inputTokens: 20, outputTokens: 4, reasoningTokens: 1 },
      costUsd: 0.5,
      durationMs: 10,
    },
  );
  const sums = { inputTokens: 32, outputTokens: 6, cachedInputTokens: 3, reasoningTokens: 1 };
  expect(spansOf(log)).toMatchObject([
    { kind: "node", state: "running", lastSeq: 11, usage: sums, costUsd: 0.75 },
    { kind: "llm", call: "c1", state: "failed", firstSeq: 3, lastSeq: 5 },
    { kind: "llm", call: "c2", name: "model-c2", usage: { inputTokens: 12 }, costUsd: 0.25 },
    { kind: "tool", call: "t1", name: "search", state: "failed" },
    { kind: "llm", call: "c3", state: "succeeded", usage: { inputTokens: 20 }, costUsd: 0.5 },
  ]);
  const unpriced = journal(started(), { kind: "node.started", node: "a", type: "ai" }, call("c1"), {
    kind: "llm.finished",
    node: "a",
    call: "c1",
    finish: "stop",
    lengths: {},
    costUsd: null,
    durationMs: 1,
  });
  expect(spansOf(unpriced)[0]?.costUsd).toBeNull();
});

test("I12: from the JSON of any moment the rest of the log leads to the same trace", () => {
  for (let seed = 0; seed < casesOf(200); seed += 1) {
    const { events } = legalLog(seed);
    const whole = text(fold(events));
    const trace = createTrace();
    for (const [k, event] of events.entries()) {
      foldTrace(trace, event);
      const restored = traceFromJson(JSON.parse(text(trace)) as TraceJson);
      expect(text(restored)).toBe(text(trace));
      expect(text(fold(events.slice(k + 1), restored))).toBe(whole);
    }
  }
});

test("the spans of a whole log agree with its view: attempts, states, tokens and money; none is open at its end", () => {
  for (let seed = 0; seed < casesOf(200); seed += 1) {
    const { events } = legalLog(seed);
    const { spans } = traceToJson(fold(events));
    const view = createView();
    for (const event of events) foldEvents(view, event);
    const attempts = spans.filter(({ kind }) => kind === "node");
    expect(spans.every(({ endedAt }) => endedAt !== undefined)).toBe(true);
    expect(attempts.length).toBe(events.filter(({ kind }) => kind === "node.started").length);
    for (const known of view.nodes.values()) {
      if (known.startedAt === undefined) continue;
      const last = attempts.filter(({ node }) => node === known.node).at(-1);
      expect(last).toMatchObject({ attempt: known.attempt, startedAt: known.startedAt });
      expect([known.node, last?.state]).toEqual([known.node, known.state]);
    }
    const calls = spans.filter(({ kind }) => kind === "llm");
    expect(calls.length).toBe(view.usage.calls);
    for (const of of [calls, attempts]) {
      const tokens = of.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0);
      expect(tokens).toBe(view.usage.inputTokens);
    }
  }
});

test("an event that was folded before changes nothing, nor does a snapshot that tells nothing new", () => {
  const { events } = legalLog(11, { maxNodes: 12 });
  const view = createView();
  const trace = createTrace();
  for (const [k, event] of events.entries()) {
    foldEvents(view, event);
    foldTrace(trace, event);
    const before = text(trace);
    foldTrace(trace, events[Math.floor(k / 2)] as ExecutionEvent);
    foldTrace(trace, makeSnapshot(view, event.ts));
    expect(text(trace)).toBe(before);
  }
});

test("it never throws, whatever the events are", () => {
  holds(
    fc.property(fc.array(anyEvent, { maxLength: 40 }), (events) => {
      const trace = createTrace();
      for (const [k, event] of events.entries()) {
        expect(foldTrace(trace, { ...event, seq: k + 1 } as ExecutionEvent)).toBe(trace);
      }
      const json = text(trace);
      expect(text(traceFromJson(JSON.parse(json) as TraceJson))).toBe(json);
    }),
  );
});

test("an unknown kind moves the position only", () => {
  const [first] = journal(started());
  const trace = fold([first as ExecutionEvent]);
  const strange = { v: 1, kind: "node.dreamt", runId: "r1", seq: 2, ts: T0 + 5, node: "a" };
  foldTrace(trace, strange as never);
  expect(traceToJson(trace)).toMatchObject({ seq: 2, updatedAt: T0 + 5, spans: [] });
});

test("a later snapshot stands for what was missed: last attempts and open calls, from there on", () => {
  const log = journal(
    started(),
    ...node("a"),
    { kind: "node.started", node: "b", type: "ai" },
    call("c1"),
  );
  const view = createView();
  for (const event of log) foldEvents(view, event);
  const trace = fold(log.slice(0, 2));
  foldTrace(trace, makeSnapshot(view, T0 + 99));
  const { since, spans } = traceToJson(trace);
  expect(since).toBe(5);
  expect(spans).toMatchObject([
    { node: "a", state: "succeeded", firstSeq: 5, endedAt: T0 + 20 },
    { node: "b", state: "running", firstSeq: 5 },
    { node: "a", kind: "llm", call: "c1", state: "running" },
  ]);
});

test("at most 50,000 spans are kept: the oldest settled ones of bodies leave, those of top-level nodes never", () => {
  const items = 50_100;
  const log = run([
    { kind: "node.started", node: "m", type: "map" },
    ...Array.from({ length: items }, (_, k) => node(`m[${k}]/x`)).flat(),
    { kind: "node.started", node: `m[${items}]/x`, type: "ai" },
  ]);
  const half = fold(log.slice(0, 90_000));
  const trace = fold(log);
  const { spans, trimmed } = traceToJson(trace);
  expect(spans.length).toBe(50_000);
  expect(trimmed).toBe(items + 2 - 50_000);
  expect(spans[0]).toMatchObject({ node: "m", state: "running" });
  expect(spans[1]?.node).toBe(`m[${trimmed}]/x`);
  expect(text(fold(log, traceFromJson(traceToJson(half))))).toBe(text(trace));
});
