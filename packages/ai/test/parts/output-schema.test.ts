/** Answers against their schema. */
import type { JsonSchema } from "@millrace/contracts";
import { expect, test } from "vitest";
import { answerProblems } from "../../src/read-answer.ts";

const INVOICE: JsonSchema = {
  type: "object",
  required: ["total", "currency"],
  properties: {
    total: { type: "number", minimum: 0 },
    currency: { enum: ["EUR", "USD"] },
    lines: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
  },
  additionalProperties: false,
};

test("an answer that fits has no problem", () => {
  expect(answerProblems(INVOICE, { total: 1, currency: "EUR", lines: [{ name: "x" }] })).toEqual(
    [],
  );
});

test("a problem is a pointer and a rule, never the value", () => {
  const answer = { total: "SECRET-1", currency: "SECRET-2", lines: [{ name: 7 }, "SECRET-3"] };
  const problems = answerProblems(INVOICE, answer);
  expect(problems).toEqual([
    { path: "/total", message: "must be number" },
    { path: "/currency", message: 'must be one of "EUR", "USD"' },
    { path: "/lines/0/name", message: "must be string" },
    { path: "/lines/1", message: "must be object" },
  ]);
  expect(JSON.stringify(problems)).not.toContain("SECRET");
});

test("missing and unknown members are named", () => {
  expect(answerProblems(INVOICE, { total: 1, "a/b": 2 })).toEqual([
    { path: "", message: 'needs the member "currency"' },
    { path: "/a~1b", message: 'has no member "a/b"' },
  ]);
});

test("at most ten problems of at most 200 units travel", () => {
  const names = Array.from({ length: 30 }, (_, i) => `member-${i}`);
  const required = answerProblems({ type: "object", required: names }, {});
  expect(required.map(({ message }) => message)).toEqual(
    names.slice(0, 10).map((name) => `needs the member "${name}"`),
  );
  const key = "😀".repeat(300);
  const [one] = answerProblems({ type: "object", additionalProperties: false }, { [key]: 1 });
  expect(one?.path.length).toBeLessThanOrEqual(200);
  expect(one?.message.length).toBeLessThanOrEqual(200);
  expect(one?.message).not.toMatch(/\p{Surrogate}/u);
  expect(one?.path.endsWith("…")).toBe(true);
});

test.each([
  [40, "schemas nested deeper than 32 levels"],
  [199, "schemas nested deeper than 32 levels"],
  [200, "nested deeper than 200 levels"],
  [100_000, "nested deeper than 200 levels"],
])("a schema of %i levels is refused at once, and says so", (levels, expected) => {
  let schema: JsonSchema = {};
  for (let i = 0; i < levels; i += 1) schema = { items: schema };
  expect(answerProblems(schema, []).map(({ message }) => message)).toEqual([expected]);
});

test("alternatives in alternatives end in a problem, not in hours", () => {
  const $defs: { [name: string]: JsonSchema } = { d0: { type: "string" } };
  for (let i = 1; i <= 24; i += 1) {
    const $ref = `#/$defs/d${i - 1}`;
    $defs[`d${i}`] = { anyOf: [{ $ref }, { $ref, minimum: 1 }] };
  }
  expect(answerProblems({ $defs, $ref: "#/$defs/d24" }, 5)).toEqual([
    { path: "", message: "needs too many checks; simplify the schema" },
  ]);
});
