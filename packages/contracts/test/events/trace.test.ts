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
import { journal, node, run, started, T0, type Words, words } from "./builder.ts";

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

test("each attempt is a span, and the time to the next one a wait", () => {
  const said = words`begin:http retry begin:http#2+600 end#2+700 skip:when@b+701`;
  const span = (attempt: number, kind: string, name: string) => ({
    node: "a",
    attempt,
    kind,
    name,
  });
  const from = (startedAt: number, endedAt: number) => ({
    startedAt: T0 + startedAt,
    endedAt: T0 + endedAt,
  });
  expect(spansOf(journal(started(), ...said))).toEqual([
    { ...span(1, "node", "http"), ...from(10, 20), state: "failed", firstSeq: 2, lastSeq: 3 },
    { ...span(1, "wait", "retry"), ...from(20, 600), state: "succeeded", firstSeq: 3, lastSeq: 4 },
    { ...span(2, "node", "http"), ...from(600, 700), state: "succeeded", firstSeq: 4, lastSeq: 5 },
  ]);
});

test("a waiting node is open in both of its spans, and its wait ends when it goes on or is cancelled", () => {
  const timer: Words = { kind: "node.waiting", node: "a", on: "timer", until: T0 + 900 };
  const said = [started(), ...words`begin:confirm wait back ${timer} cancelled`];
  const states = (count: number) =>
    spansOf(journal(...said.slice(0, count))).map(({ kind, name, state }) => [kind, name, state]);
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

const finished = (call: string, more: object): Words => ({
  ...{ kind: "llm.finished", node: "a", call, finish: "stop", lengths: {}, durationMs: 10 },
  ...more,
});

test("calls have their tokens and money, and the attempt has their sums", () => {
  const ofNode = { node: "a", call: "c1" };
  const delta: Words = { kind: "llm.delta", ...ofNode, channel: "text", offset: 0, text: "Hel" };
  const failed: Words = {
    ...{ kind: "llm.failed", ...ofNode, reason: "timeout", discarded: 3, next: "retry" },
  };
  const ofTool = { node: "a", call: "t1" };
  const tool: Words = { kind: "tool.started", ...ofTool, tool: "search", llmCall: "c2" };
  const denied: Words = { kind: "tool.finished", ...ofTool, outcome: "denied", durationMs: 10 };
  const second = { inputTokens: 12, outputTokens: 2, cachedInputTokens: 3 };
  const third = { inputTokens: 20, outputTokens: 4, reasoningTokens: 1 };
  const log = journal(
    started(),
    ...words`begin call ${delta} ${failed}`,
    ...words`call:c2 ${finished("c2", { finish: "tool_calls", usage: second, costUsd: 0.25 })}`,
    ...words`${tool} ${denied} call:c3 ${finished("c3", { usage: third, costUsd: 0.5 })}`,
  );
  const sums = { inputTokens: 32, outputTokens: 6, cachedInputTokens: 3, reasoningTokens: 1 };
  expect(spansOf(log)).toMatchObject([
    { kind: "node", state: "running", lastSeq: 11, usage: sums, costUsd: 0.75 },
    { kind: "llm", call: "c1", name: "model-c1", state: "failed", firstSeq: 3, lastSeq: 5 },
    { kind: "llm", call: "c2", name: "model-c2", usage: { inputTokens: 12 }, costUsd: 0.25 },
    { kind: "tool", call: "t1", name: "search", state: "failed" },
    { kind: "llm", call: "c3", name: "model-c3", usage: { inputTokens: 20 }, costUsd: 0.5 },
  ]);
  const unpriced = journal(started(), ...words`begin call ${finished("c1", { costUsd: null })}`);
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
  const log = journal(started(), ...words`node@a begin@b call`);
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
