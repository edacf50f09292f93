import { type LlmDelta, mergeDeltas, serialiseEvent } from "@millrace/contracts";
import { expect, test } from "vitest";

const delta = (over: Partial<LlmDelta> = {}): LlmDelta => ({
  v: 1,
  kind: "llm.delta",
  runId: "r1",
  seq: 11,
  ts: 100,
  node: "ask",
  attempt: 1,
  call: "c1",
  channel: "text",
  offset: 0,
  text: "Hel",
  ...over,
});
const next = (over: Partial<LlmDelta> = {}): LlmDelta =>
  delta({ seq: 12, ts: 110, offset: 3, text: "lo", ...over });

test("two neighbours become one with the place of the first and the position of the last", () => {
  const merged = mergeDeltas(delta(), next());
  expect(merged).toEqual(delta({ seq: 12, ts: 110, text: "Hello", merged: 2 }));
  expect(serialiseEvent(merged as LlmDelta)).toMatch(/"offset":0,"text":"Hello","merged":2\}$/);
});

test("merging goes on, and says for how many events it stands", () => {
  const two = mergeDeltas(delta(), next()) as LlmDelta;
  const three = mergeDeltas(two, next({ seq: 13, offset: 5, text: "!" }));
  expect(three).toMatchObject({ seq: 13, text: "Hello!", merged: 3 });
  const pair = mergeDeltas(next({ seq: 12 }), next({ seq: 13, offset: 5 })) as LlmDelta;
  expect(mergeDeltas(delta(), pair)).toMatchObject({ seq: 13, merged: 3 });
});

test.each<[string, Partial<LlmDelta>]>([
  ["another node", { node: "other" }],
  ["another attempt", { attempt: 2 }],
  ["another call", { call: "c2" }],
  ["another channel", { channel: "reasoning" }],
  ["another run", { runId: "r2" }],
  ["something between", { seq: 13 }],
  ["the order turned", { seq: 10 }],
  ["a gap in the text", { offset: 4 }],
  ["too much text", { text: "x".repeat(4_094) }],
])("%s keeps them apart", (_what, over) => {
  expect(mergeDeltas(delta(), next(over))).toBeNull();
});

test("4,096 units together are the most", () => {
  expect(mergeDeltas(delta(), next({ text: "x".repeat(4_093) }))?.text).toHaveLength(4_096);
});
