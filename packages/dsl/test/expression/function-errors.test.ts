/** Calls of functions that end with an error, and what it says. */
import { describe, expect, test } from "vitest";
import { codeOf, errorOf, evaluate } from "./evaluate.ts";

describe("arguments of a wrong type are `type_mismatch` at the argument", () => {
  test.each([
    ["size(1)", "type_mismatch@5+1"],
    ["size(null)", "type_mismatch@5+4"],
    ["number([])", "type_mismatch@7+2"],
    ["int(true)", "type_mismatch@4+4"],
    ["bool(1)", "type_mismatch@5+1"],
    ["json(1, 0.5)", "type_mismatch@8+3"],
    ["parseJson(1)", "type_mismatch@10+1"],
    ["lower(1)", "type_mismatch@6+1"],
    ['split("a", 1)', "type_mismatch@11+1"],
    ['substring("abc", 0.5)', "type_mismatch@17+3"],
    ['startsWith("a", null)', "type_mismatch@16+4"],
    ['contains("a", 1)', "type_mismatch@0+16"],
    ["contains({}, 1)", "type_mismatch@9+2"],
    ['join(["a", 1], "")', "type_mismatch@0+18"],
    ["min(1, null)", "type_mismatch@7+4"],
    ["min([1, null])", "type_mismatch@0+14"],
    ["min([1], 2)", "type_mismatch@0+11"],
    ['sum(["a"])', "type_mismatch@0+10"],
    ['round("1")', "type_mismatch@6+3"],
    ["range(1.5)", "type_mismatch@6+3"],
    ["first({})", "type_mismatch@6+2"],
    ["slice({}, 0)", "type_mismatch@6+2"],
    ["slice([], 0.5)", "type_mismatch@10+3"],
    ["csvFormat([1])", "type_mismatch@0+14"],
    ["csvFormat([[[1]]])", "type_mismatch@0+18"],
    ["csvFormat([[1], {}])", "type_mismatch@0+20"],
    ["take({}, 1)", "type_mismatch@5+2"],
    ['indexOf("a", 1)', "type_mismatch@0+15"],
    ["chunk([1], 0.5)", "type_mismatch@11+3"],
    ["zip([1], 2)", "type_mismatch@9+1"],
    ["groupBy([1], x, x)", "type_mismatch@16+1"],
    ["countBy([null], x, x)", "type_mismatch@19+1"],
    ["keys([])", "type_mismatch@5+2"],
    ["merge({}, null)", "type_mismatch@10+4"],
    ["fromEntries([1])", "type_mismatch@0+16"],
    ["fromEntries([{ key: 1, value: 1 }])", "type_mismatch@0+35"],
    ["ago(now())", "type_mismatch@4+5"],
    ["date(null)", "type_mismatch@5+4"],
    ["sha256(1)", "type_mismatch@7+1"],
    ["map({}, x, x)", "type_mismatch@4+2"],
    ["filter([1], x, x)", "type_mismatch@15+1"],
    ["all([1], x, null)", "type_mismatch@12+4"],
    ['sortBy([1, "a"], x, x)', "type_mismatch@20+1"],
    ["sortBy([[1]], x, x)", "type_mismatch@17+1"],
  ])("%s", (source, error) => {
    expect(errorOf(source)).toBe(error);
  });
});

describe("arguments of the right type that mean nothing are `bad_argument`", () => {
  test.each([
    'number("")',
    'number("1_0")',
    'number("0x10")',
    'number(" 1")',
    'number("NaN")',
    'int("abc")',
    'bool("yes")',
    "json(1, 9)",
    "json(1, -1)",
    'parseJson("{")',
    "round(1, 16)",
    "round(1, -1)",
    "chunk([1], 0)",
    'csvParse("a", { heading: true })',
    "csvFormat([], { header: 1 })",
    'csvFormat([], { separator: "||" })',
    'matches("a", "(")',
    'matches("a", "(a)\\\\1")',
    'replaceAll("a", "(?=a)", "")',
    'date("yesterday")',
    'date("2026-02-30")',
    'date("2026-13-01")',
    'date("2026-01-01T24:00:00Z")',
    'date("2026-01-01T00:00:60Z")',
    'date("2026-01-01T00:00:00+24:00")',
    'epochMs("")',
    'dateFormat("2026-01-01", "YYYY")',
    'dateFormat("2026-01-01", "d")',
    'dateFormat("2026-01-01", "\'open")',
    'dateFormat("2026-01-01", "HH", "Europe/Roma")',
    'dateFormat("2026-01-01", "HH", "+02:00")',
    'date("2026-01-01", "")',
    'dateParse("2026-02-30", "yyyy-MM-dd")',
    'dateParse("2026-1-3", "yyyy-MM-dd")',
    'dateParse("2026-01-03 ", "yyyy-MM-dd")',
    'dateParse("10:00", "HH:mm")',
    ...[
      "",
      "P",
      "PT",
      "1",
      "1 h",
      "30m1h",
      "1h1h",
      "-1h",
      "P1Y",
      "P1M",
      "P1DT",
      "0.0001s",
      "1e9d",
    ].map((text) => `parseDuration("${text}")`),
    'base64Decode("w6k")',
    'base64Decode("w6-=")',
    'base64Decode("=AAA")',
    'base64Decode("====")',
    'base64Decode("QQ==\\n")',
    'base64Decode(" QQ==")',
    'base64Decode("-_-_")',
    'base64Decode("/w==")',
    'uriDecode("%")',
    'uriDecode("%ff")',
    'uriDecode("%ED%A0%80")',
    'uriDecode("100%")',
    'sha256("\\ud800")',
    'base64Encode("\\udc00")',
    'uriEncode("\\ud800")',
  ])("%s", (source) => {
    expect(codeOf(source)).toBe("bad_argument");
  });
});

test.each([
  'number("1e999")',
  'parseJson("[1e999]")',
  "sum([1e308, 1e308])",
  "date(1e20)",
  'dateAdd("9999-12-31", 1d)',
  'date("0000-01-01T00:00:00+00:01")',
  'dateAdd("0000-01-01", -1)',
  "ago(1e300)",
  "range(1e16, 1e16 + 4)",
])("%s is `number_range`", (source) => {
  expect(codeOf(source)).toBe("number_range");
});

test.each([
  "nope(1)",
  "size()",
  "size([], 1)",
  "now(1)",
  "min()",
  "zip([1])",
  "merge()",
  "map([1], x)",
  "map([1], 1, 2)",
  "map([1], x.y, 2)",
])("%s does not compile", (source) => {
  expect(codeOf(source, { x: 1 })).toBe("syntax");
});

test("a fault of JSON text is told without the text", () => {
  expect(() => evaluate('parseJson("hunter2")')).toThrow("parseJson found text that is not JSON");
});

test.each([
  ['a\nx"y', "a quote in a cell that begins without one at line 2, column 2"],
  ['a,b\n1,"2', "a quote that is not closed at line 2, column 3"],
  ['a\n😀\n"é"x', "text behind a closing quote at line 3, column 4"],
  ["a\rb", "half of a line end at line 1, column 2"],
  ["a,b\n1,2\n1,2,3", "3 cells below 2 names at line 3, column 1"],
  ["a,a", "two columns of one name at line 1, column 1"],
])("CSV text that is malformed has a place: %j", (text, what) => {
  expect(() => evaluate("csvParse(t)", { t: text })).toThrow(`csvParse found ${what}`);
  expect(codeOf("csvParse(t)", { t: text })).toBe("bad_argument");
});

test.each([
  ["Europe/Roma", "there is `Europe/Rome`"],
  ["Rome", "there is `Europe/Rome`"],
  ["new york", "there is `America/New_York`"],
  ["Middle-earth", "names are those of the IANA database"],
])("a zone that is not known has those near it in its error: %s", (z, near) => {
  expect(() => evaluate('date("2026-01-01", z)', { z })).toThrow(near);
});
