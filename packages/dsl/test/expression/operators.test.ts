import { describe, expect, test } from "vitest";
import { codeOf, errorOf, evaluate } from "./evaluate.ts";

/** Any value of each type, as source. */
const SAMPLES = {
  null: "null",
  bool: "true",
  number: "1",
  string: '"a"',
  list: "[1]",
  object: "{ a: 1 }",
} as const;
type Kind = keyof typeof SAMPLES;
const KINDS = Object.keys(SAMPLES) as Kind[];

test.each([
  ["true ? 1 : 2", 1],
  ["false ? 1 : true ? 2 : 3", 2],
  ["null ?? 1", 1],
  ["0 ?? 1", 0],
  ["false ?? true", false],
  ["null ?? null ?? 3", 3],
  ["true || false", true],
  ["false || false", false],
  ["true && false", false],
  ["true && true", true],
  ["1 == 1.0", true],
  ['1 == "1"', false],
  ["null == false", false],
  ["[1, [2]] == [1, [2]]", true],
  ["[1, 2] == [2, 1]", false],
  ["[1] == [1, 2]", false],
  ["{ a: 1, b: [2] } == { b: [2], a: 1 }", true],
  ["{ a: 1 } == { a: 1, b: null }", false],
  ["{ a: 1 } == { b: 1 }", false],
  ["[] == {}", false],
  ['1 != "1"', true],
  ["2 in [1, 2]", true],
  ["[2] in [1, [2]]", true],
  ["3 in [1, 2]", false],
  ['"a" in { a: null }', true],
  ['"b" in { a: null }', false],
  ["1 < 2", true],
  ["2 <= 2", true],
  ["1 > 2", false],
  ["2 >= 3", false],
  ['"a" < "b"', true],
  ['"a" < "ab"', true],
  ['"Z" < "a"', true],
  ['"b" >= "b"', true],
  ["1 + 2", 3],
  ['"a" + "b"', "ab"],
  ["[1] + [2, 3]", [1, 2, 3]],
  ["1 - 3", -2],
  ["2 * 3", 6],
  ["7 / 2", 3.5],
  ["7 % 3", 1],
  ["-7 % 3", -1],
  ["7 % -3", 1],
  ["5.5 % 2", 1.5],
  ["!true", false],
  ["!!true", true],
  ["-(3)", -3],
  ["-7d", -604_800_000],
  ["90s", 90_000],
  ["1 + 2 * 3 - 4 / 2", 5],
  ["(1 + 2) * 3", 9],
  ["10 - 3 - 2", 5],
  ["1 < 2 == true", true],
  ["true || false && false", true],
  ["null ?? true && false", false],
] as const)("%s is %j", (source, value) => {
  expect(evaluate(source)).toEqual(value);
});

test("order is by code point, so a pair comes after every single unit", () => {
  expect(evaluate('a < b && "x" + a < "x" + b', { a: "\uffff", b: "\u{1f600}" })).toBe(true);
  expect(evaluate("a < b", { a: "\u{1f600}", b: "\u{1f601}" })).toBe(true);
  expect(evaluate("a < b", { a: "\ud83d", b: "\ue000" })).toBe(true);
});

test("zero has no sign", () => {
  for (const source of [
    "-0",
    "-(0)",
    "0 * -1",
    "0 / -5",
    "-4 % 2",
    "-1 + 1",
    "round(-0.2)",
    "ceil(-0.5)",
    "int(-0.5)",
  ]) {
    expect(Object.is(evaluate(source), 0), source).toBe(true);
  }
});

describe("what is not reached is not evaluated", () => {
  test.each([
    ["true || nope", true],
    ["false && nope", false],
    ["1 ?? nope", 1],
    ["true ? 1 : nope", 1],
    ["false ? nope : 2", 2],
  ] as const)("%s", (source, value) => {
    expect(evaluate(source)).toBe(value);
  });
});

/** For each operator the pairs of types that it takes. */
const TAKES: { readonly [op: string]: (a: Kind, b: Kind) => boolean } = {
  "||": (a) => a === "bool",
  "&&": (a, b) => a === "bool" && b === "bool",
  in: (a, b) => b === "list" || (b === "object" && a === "string"),
  "<": (a, b) => a === b && (a === "number" || a === "string"),
  "<=": (a, b) => a === b && (a === "number" || a === "string"),
  ">": (a, b) => a === b && (a === "number" || a === "string"),
  ">=": (a, b) => a === b && (a === "number" || a === "string"),
  "+": (a, b) => a === b && (a === "number" || a === "string" || a === "list"),
  "-": (a, b) => a === b && a === "number",
  "*": (a, b) => a === b && a === "number",
  "/": (a, b) => a === b && a === "number",
  "%": (a, b) => a === b && a === "number",
};

test.each(Object.keys(TAKES))("`%s` takes exactly its types and converts nothing", (op) => {
  for (const a of KINDS) {
    for (const b of KINDS) {
      const source = `${SAMPLES[a]} ${op} ${SAMPLES[b]}`;
      const expected = TAKES[op]?.(a, b) ? "no error" : "type_mismatch";
      expect(codeOf(source), source).toBe(expected);
    }
  }
});

test("`==` and `!=` take any two types and never fail", () => {
  for (const a of KINDS) {
    for (const b of KINDS) {
      expect(evaluate(`${SAMPLES[a]} == ${SAMPLES[b]}`)).toBe(a === b);
      expect(evaluate(`${SAMPLES[a]} != ${SAMPLES[b]}`)).toBe(a !== b);
    }
  }
});

test("prefix operators and conditions take one type", () => {
  for (const kind of KINDS) {
    const sample = SAMPLES[kind];
    expect(codeOf(`!(${sample})`)).toBe(kind === "bool" ? "no error" : "type_mismatch");
    expect(codeOf(`-(${sample})`)).toBe(kind === "number" ? "no error" : "type_mismatch");
    expect(codeOf(`${sample} ? 1 : 2`)).toBe(kind === "bool" ? "no error" : "type_mismatch");
    expect(codeOf(`true && ${sample}`)).toBe(kind === "bool" ? "no error" : "type_mismatch");
    expect(codeOf(`false || ${sample}`)).toBe(kind === "bool" ? "no error" : "type_mismatch");
  }
});

test.each([
  ["1 / 0", "division_by_zero@0+5"],
  ["2 + 1 % 0", "division_by_zero@4+5"],
  ["1e308 * 10", "number_range@0+10"],
  ["-1e308 - 1e308", "number_range@0+14"],
  ["1 / 1e-320", "number_range@0+10"],
  ['1 + (2 * "a")', "type_mismatch@5+7"],
  ["nope + 1", "unknown_name@0+4"],
  ["a.b.c", "null_access@0+5"],
])("%s fails as %s", (source, error) => {
  expect(errorOf(source, { a: {} })).toBe(error);
});

test("a message names types and places, never values", () => {
  try {
    evaluate("secret + 1", { secret: "hunter2" });
    expect.unreachable();
  } catch (error) {
    expect(String(error)).toContain("found string and number");
    expect(JSON.stringify(error) + String(error)).not.toContain("hunter2");
    expect(error).toMatchObject({
      name: "ExpressionError",
      code: "type_mismatch",
      retryable: false,
    });
  }
});

test("a template shows text as it is, numbers as ECMAScript does, and data as compact JSON", () => {
  const names = { s: "${x}", n: 1e21, d: { a: [1, null], b: "q" } };
  expect(evaluate('"${s}|${n}|${0.1}|${true}|${null}|${d}|${[]}"', names)).toBe(
    '${x}|1e+21|0.1|true|null|{"a":[1,null],"b":"q"}|[]',
  );
});
