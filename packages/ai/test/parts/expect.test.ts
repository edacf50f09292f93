/** Checks of `expect`, as written and carried out. */
import { type FieldValue, type Json, type JsonObject, NodeError } from "@millrace/contracts";
import { compileSchema } from "@millrace/dsl";
import { expect, test } from "vitest";
import { type CheckOutcome, checkRecord, failureText, judged } from "../../src/expect.ts";
import { expectItem, expectProblems, readCheck } from "../../src/expect-entry.ts";

const RECORD: JsonObject = {
  output: { score: 0.5, items: ["a", "B"], note: null, total: 42 },
  text: "Order 7 is late",
  label: "billing",
  finish: "stop",
  costUsd: 0.01,
};

function run(entry: FieldValue, record: JsonObject = RECORD): CheckOutcome {
  return checkRecord(readCheck(entry, 0, entry), { record, latencyMs: 250 });
}

test.each<[JsonObject, boolean]>([
  [{ kind: "contains", value: "Order" }, true],
  [{ kind: "contains", value: "order" }, false],
  [{ kind: "contains", value: "order", ignoreCase: true }, true],
  [{ kind: "contains", value: "Order", not: true }, false],
  [{ kind: "contains", value: "a", path: "output.items" }, true],
  [{ kind: "contains", value: "b", path: "output.items" }, false],
  [{ kind: "contains", value: "b", path: "output.items", ignoreCase: true }, true],
  [{ kind: "contains", value: "a", path: "output.items.0" }, true],
  [{ kind: "contains", value: "x", path: "output.items.2" }, false],
  [{ kind: "equals", value: "Order 7 is late" }, true],
  [{ kind: "equals", value: "order 7 IS late", ignoreCase: true }, true],
  [{ kind: "equals", value: 42, path: "output.total" }, true],
  [{ kind: "equals", value: "42", path: "output.total" }, false],
  [{ kind: "equals", value: null, path: "output.note" }, true],
  [{ kind: "equals", value: ["a", "B"], path: "output.items" }, true],
  [{ kind: "startsWith", value: "Order" }, true],
  [{ kind: "startsWith", value: "late" }, false],
  [{ kind: "endsWith", value: "late" }, true],
  [{ kind: "endsWith", value: "LATE", ignoreCase: true }, true],
  [{ kind: "regex", pattern: "^Order \\d+" }, true],
  [{ kind: "regex", pattern: "^order" }, false],
  [{ kind: "regex", pattern: "^order", flags: "i" }, true],
  [{ kind: "regex", pattern: "^4\\d$", path: "output.total" }, true],
  [{ kind: "jsonSchema", schema: { required: ["score"] } }, true],
  [{ kind: "jsonSchema", schema: { required: ["nothing"] } }, false],
  [{ kind: "jsonSchema", schema: { type: "string" }, path: "text" }, true],
  [{ kind: "label", in: ["billing", "other"] }, true],
  [{ kind: "label", in: ["other"] }, false],
  [{ kind: "length", max: 15 }, true],
  [{ kind: "length", max: 14 }, false],
  [{ kind: "length", min: 2, max: 2, path: "output.items" }, true],
  [{ kind: "cost", max: 0.01 }, true],
  [{ kind: "cost", max: 0.009 }, false],
  [{ kind: "latencyMs", max: 250 }, true],
  [{ kind: "latencyMs", min: 251 }, false],
  [{ kind: "finish", in: ["stop"] }, true],
  [{ kind: "finish", in: ["length"], not: true }, true],
  [{ kind: "expr", when: true }, true],
  [{ kind: "expr", when: false, not: true }, true],
])("%j passes: %j", (entry, expected) => {
  expect(run(entry).pass).toBe(expected);
});

test("what cannot be judged fails, with `not` too", () => {
  const entries: JsonObject[] = [
    { kind: "contains", value: "a", path: "output.nothing" },
    { kind: "jsonSchema", schema: {}, path: "output.nothing" },
    { kind: "length", min: 1, path: "output.nothing" },
    { kind: "contains", value: "a", path: "output.constructor" },
    { kind: "contains", value: "a", path: "output.items.length" },
    { kind: "label", in: ["a"] },
    { kind: "cost", max: 1 },
  ];
  const record = { ...RECORD, label: undefined, costUsd: null };
  for (const entry of entries) {
    expect(run(entry, record).pass).toBe(false);
    expect(run({ ...entry, not: true }, record).pass).toBe(false);
  }
});

test("several labels all have to be allowed", () => {
  const record = { labels: ["a", "b"] };
  expect(run({ kind: "label", in: ["a", "b", "c"] }, record).pass).toBe(true);
  expect(run({ kind: "label", in: ["a"] }, record).pass).toBe(false);
});

test("characters are counted, not units", () => {
  expect(run({ kind: "length", max: 2 }, { text: "😀😀" }).pass).toBe(true);
});

test("the plain form passes with true alone", () => {
  const source = { $: "output.score > 0.4" };
  const outcome = (value: Json) =>
    checkRecord(readCheck(source, 0, value), { record: RECORD, latencyMs: 0 });
  expect(outcome(true)).toEqual({ pass: true, rule: "must be true" });
  expect(outcome(false)).toEqual({ pass: false, rule: "must be true" });
  for (const value of [1, "true", null, { kind: "contains", value: "Order" }]) {
    expect(outcome(value)).toEqual({ pass: false, rule: "must be true or false" });
  }
});

test("a pattern that would take too long fails and says so", () => {
  let state = 1;
  const text = Array.from({ length: 400_000 }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state < 1_073_741_824 ? "a" : "b";
  }).join("");
  for (const not of [false, true]) {
    const outcome = run({ kind: "regex", pattern: "a[ab]{220}c", not }, { text });
    expect(outcome.pass).toBe(false);
    expect(outcome.rule).toContain("takes too many steps");
  }
});

test("an outcome holds the place, the rule and the value apart", () => {
  expect(run({ kind: "startsWith", value: "Hi" })).toEqual({
    pass: false,
    rule: 'must start with "Hi"',
    path: "text",
    value: "Order 7 is late",
  });
  expect(
    run({ kind: "jsonSchema", schema: { properties: { total: { maximum: 9 } } } }),
  ).toMatchObject({
    rule: "must fit its schema: /total must be at most 9",
    path: "output",
  });
});

test("what was computed is no part of a rule that logs may keep", () => {
  const source = {
    kind: "contains",
    value: { $: "start.code" },
    message: { $t: ["no ", { $: "start.code" }] },
  };
  const check = readCheck(source, 0, { kind: "contains", value: "TOP", message: "no TOP" });
  const outcome = checkRecord(check, { record: RECORD, latencyMs: 0 });
  expect(outcome).toMatchObject({ pass: false, rule: "must contain", wanted: '"TOP"' });
  expect(failureText(check, outcome, "log")).toBe("text must contain");
  expect(failureText(check, outcome, "model")).toBe("no TOP");
  const { message: _, ...bare } = check;
  expect(failureText({ ...bare, message: undefined }, outcome, "model")).toBe(
    'text must contain "TOP"',
  );
});

test("what the author wrote out stands in every sentence", () => {
  const source = { kind: "contains", value: "Refund" };
  const check = readCheck(source, 0, source);
  const outcome = checkRecord(check, { record: RECORD, latencyMs: 0 });
  for (const reader of ["log", "model"] as const) {
    expect(failureText(check, outcome, reader)).toBe('text must contain "Refund"');
    expect(failureText({ ...check, message: "Name the refund." }, outcome, reader)).toBe(
      "Name the refund.",
    );
  }
});

test("a check whose expression failed still says how it is meant", () => {
  const source = {
    kind: "contains",
    value: { $: "missing.x" },
    level: "warn",
    onFail: "retry",
    not: true,
  };
  expect(readCheck(source, 0)).toMatchObject({
    kind: "contains",
    level: "warn",
    onFail: "retry",
    not: true,
  });
  expect(readCheck({ $: "missing.x" }, 0)).toMatchObject({
    kind: "expr",
    level: "error",
    onFail: "fail",
  });
});

test("a judge passes from its threshold, 0.7 by default", () => {
  const target = { provider: "openai", modelId: "gpt-mini" };
  const check = (more: JsonObject) => {
    const entry = { kind: "judge", rubric: "polite", target, ...more };
    return readCheck(entry, 0, entry);
  };
  expect(judged(check({}), 0.7)).toEqual({
    pass: true,
    rule: "score must be at least 0.7",
    score: 0.7,
  });
  expect(judged(check({}), 0.69).pass).toBe(false);
  expect(judged(check({ threshold: 0.2 }), 0.2).pass).toBe(true);
  expect(judged(check({ not: true }), 0.7)).toMatchObject({
    pass: false,
    rule: "score must be below 0.7",
  });
  for (const not of [true, false]) expect(judged(check({ not }), undefined).pass).toBe(false);
});

test.each<[Json, string, string]>([
  [
    { kind: "contain", value: "x" },
    "/0/kind",
    "must be one of expr contains equals startsWith endsWith regex jsonSchema label length cost latencyMs finish judge",
  ],
  [
    { value: "x" },
    "/0/kind",
    "must be one of expr contains equals startsWith endsWith regex jsonSchema label length cost latencyMs finish judge",
  ],
  [{ kind: "contains" }, "/0", "needs value"],
  [
    { kind: "contains", value: "x", pattern: "y" },
    "/0/pattern",
    "the kind contains has no such field",
  ],
  [{ kind: "startsWith", value: 5 }, "/0/value", "must be string, found number"],
  [{ kind: "regex", pattern: "(a)\\1" }, "/0/pattern", "is refused: no backreference"],
  [
    { kind: "regex", pattern: "a".repeat(513) },
    "/0/pattern",
    "is refused: a pattern has at most 512 characters",
  ],
  [{ kind: "regex", pattern: "a", flags: "g" }, "/0/flags", 'must be one of "", "i"'],
  [{ kind: "jsonSchema", schema: { if: {} } }, "/0/schema/if", "`if` is not supported"],
  [{ kind: "length" }, "/0", "needs min or max"],
  [{ kind: "length", min: -1 }, "/0/min", "must be at least 0"],
  [{ kind: "label", in: [] }, "/0/in", "must have at least 1 elements"],
  [{ kind: "expr", when: true, level: "info" }, "/0/level", 'must be one of "error", "warn"'],
  [
    { kind: "expr", when: true, onFail: "again" },
    "/0/onFail",
    'must be one of "fail", "retry", "failover"',
  ],
  [
    { kind: "expr", when: true, message: "x".repeat(201) },
    "/0/message",
    "must have at most 200 characters",
  ],
  [{ kind: "judge", rubric: "x" }, "/0", "needs target"],
  [
    { kind: "judge", rubric: "x", target: { provider: "a" } },
    "/0/target",
    'needs the member "modelId"',
  ],
  [
    { kind: "judge", rubric: "x", threshold: 2, target: { provider: "a", modelId: "b" } },
    "/0/threshold",
    "must be at most 1",
  ],
  [5, "/0", "must be true, false or { kind, … }"],
  ["x", "/0", "must be true, false or { kind, … }"],
])("%j is refused before a run", (entry, pointer, message) => {
  expect(expectProblems([entry])).toEqual([{ pointer, message }]);
  const read = () => readCheck(entry, 3, entry);
  expect(read).toThrow(NodeError);
  expect(read).toThrow(/^expect\[3\]/);
});

test("what needs a run is left alone before it, and checked in it", () => {
  const source: FieldValue = [
    { $: "output.score > 1" },
    true,
    { kind: "regex", pattern: { $: "start.pattern" } },
    { kind: "length", min: { $: "start.min" } },
    {
      kind: "judge",
      rubric: { $t: ["a ", { $: "b" }] },
      target: { provider: { $: "c" }, modelId: "d" },
    },
  ];
  expect(expectProblems(source)).toEqual([]);
  const read = () => readCheck(source[2] as FieldValue, 2, { kind: "regex", pattern: "(?=a)" });
  expect(read).toThrow("expect[2].pattern is refused: no lookahead");
});

test("the schema of the catalog takes every kind and nothing else", () => {
  const compiled = compileSchema(expectItem);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const good: Json[] = [
    true,
    { kind: "contains", value: 1, ignoreCase: true, not: true, path: "output", message: "m" },
    { kind: "jsonSchema", schema: {} },
    { kind: "judge", rubric: "x", target: { provider: "a", modelId: "b" } },
    { kind: "length", min: 1, level: "warn", onFail: "retry" },
  ];
  for (const entry of good) expect(compiled.check(entry)).toEqual([]);
  for (const entry of ["x", {}, { kind: "contain" }, { kind: "expr", other: 1 }]) {
    expect(compiled.check(entry)).not.toEqual([]);
  }
});
