/**
 * Where the semantics are those of the Common Expression Language, and where they knowingly are not. Calls are written as
 * functions here: `size(x)` for `x.size()`.
 * @see the CEL language definition, "Evaluation" and "Standard definitions"
 */
import { describe, expect, test } from "vitest";
import { codeOf, evaluate } from "./evaluate.ts";

describe("as in CEL", () => {
  test.each([
    ["conditional evaluates one arm", "true ? 7 : 1 / 0", 7],
    ["conditional is right-associative", 'false ? "a" : false ? "b" : "c"', "c"],
    ["conditional binds weakest", "1 > 2 || true ? 1 + 1 : 0", 2],
    ["and short-circuits an error on the right", "false && 1 / 0 > 1", false],
    ["or short-circuits an error on the right", "true || 1 / 0 > 1", true],
    ["not", "!(1 == 1)", false],
    ["precedence of and over or", "false || true && true", true],
    ["arithmetic is left-associative", "20 - 5 - 3 == 12 && 64 / 4 / 2 == 8", true],
    ["modulo has the sign of the left side", "-11 % 4 == -3 && 11 % -4 == 3", true],
    ["doubles add exactly where they can", "4.75 + 0.25", 5],
    ["negation twice", "-(-2.5)", 2.5],
    ["text concatenates", '"ab" + "" + "ç"', "abç"],
    ["lists concatenate in order", "[1] + [2, 3] == [1, 2, 3] && [1] + [2] != [2, 1]", true],
    ["size of text counts code points", 'size("Ωμέγα😀")', 6],
    ["size of a map and a list", "size({ a: 1 }) + size([1, 2])", 3],
    [
      "starts, ends, contains; the empty text always does",
      'startsWith("abc", "") && endsWith("abc", "bc") && contains("abc", "b")',
      true,
    ],
    ["equality of lists and maps is deep", "[[1], { k: [2] }] == [[1], { k: [2] }]", true],
    ["order of keys is no part of a map", "{ a: 1, b: 2 } == { b: 2, a: 1 }", true],
    ["a null equals null only", "null == null && null != 0 && null != false", true],
    ["values of different types are unequal, not an error", '1 != "1" && true != 1', true],
    ["order of text is by code point", '"B" < "a" && "a" < "á"', true],
    ["in a list by equality", "[1] in [[0], [1]]", true],
    ["in a map by key", '"k" in { k: null } && !("v" in { k: "v" })', true],
    ["all of nothing", "all([], x, x / 0 > 1)", true],
    ["exists in nothing", "exists([], x, x / 0 > 1)", false],
    ["filter keeps order", "filter([5, 2, 8, 1], x, x > 1)", [5, 2, 8]],
    ["map over a filtered list", "map(filter(range(6), x, x % 2 == 1), x, x * x)", [1, 9, 25]],
    ["nested macros see outer variables", "exists([1, 2], x, all([3, 4], y, y > x))", true],
    ["index of a list", "[[1, 2], [3]][0][1]", 2],
    ["selection of a map", '{ a: { b: 4 } }.a["b"]', 4],
  ] as const)("%s", (_name, source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  test.each([
    ["division by zero", "3 / 0", "division_by_zero"],
    ["modulo by zero", "3 % 0", "division_by_zero"],
    ["no conversion in arithmetic", '1 + "a"', "type_mismatch"],
    ["a condition is a bool", "1 ? 2 : 3", "type_mismatch"],
    ["not takes a bool", "!1", "type_mismatch"],
    ["an error in an element of map", "map([1, 0], x, 4 / x)", "division_by_zero"],
    ["filter does not short-circuit", "filter([1, 0], x, 4 / x > 9)", "division_by_zero"],
    ["an undeclared name", "undeclared", "unknown_name"],
  ])("error: %s", (_name, source, code) => {
    expect(codeOf(source)).toBe(code);
  });
});

describe("unlike CEL", () => {
  test.each([
    ["one kind of number, so an int and a double mix", "1 + 0.5", 1.5],
    ["division of whole numbers is exact", "7 / 2", 3.5],
    ["modulo takes fractions", "7.5 % 2", 1.5],
    ["an absent key is null: JSON has many optional members", "{ a: 1 }.b", null],
    ["an index past the end is null", "[1][3]", null],
    ["zero has no sign: JSON text would lose it", '0 == -0 && string(-0) == "0"', true],
    ["timestamps are text", 'type(now()) == "string"', true],
    ["durations are milliseconds", "90s == 1.5m", true],
    ["types are named by text", "type(1)", "number"],
  ] as const)("%s", (_name, source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  test.each([
    [
      "`&&` and `||` go from left to right: an error on the left is one",
      "1 / 0 > 1 && false",
      "division_by_zero",
    ],
    ["so does `exists`", "exists([0, 1], x, 1 / x > 0)", "division_by_zero"],
    [
      "macros go over lists, not maps: `keys(m)` says which part is meant",
      "all({ a: 1 }, k, true)",
      "type_mismatch",
    ],
    ["overflow is an error, not infinity: JSON has no infinity", "1e308 * 10", "number_range"],
    [
      "no regular expressions: their time is not bounded by their length",
      'matches("a", "a")',
      "syntax",
    ],
    ["functions are no methods", '"a".size()', "syntax"],
    ["no integers above 2^53 - 1 that only look exact", "9007199254740993", "syntax"],
  ])("%s", (_name, source, code) => {
    expect(codeOf(source)).toBe(code);
  });
});
