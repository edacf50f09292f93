import { createHash } from "node:crypto";
import { listFunctions } from "@millrace/dsl";
import { casesOf } from "@millrace/test-support";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeOf, errorOf, evaluate } from "./evaluate.ts";

/** A pattern, and whether it may match nothing. */
type Source = readonly [pattern: string, isEmpty: boolean];

const TABLE: { readonly [group: string]: readonly (readonly [source: string, value: unknown])[] } =
  {
    general: [
      ['size("héllo")', 5],
      ['size("a😀b")', 3],
      ["size([1, 2])", 2],
      ["size({ a: 1, b: 2 })", 2],
      ['size("")', 0],
      ['string("a")', "a"],
      ["string(1.50)", "1.5"],
      ["string(1e21)", "1e+21"],
      ["string(true)", "true"],
      ["string(null)", "null"],
      ['string([1, { a: "b" }])', '[1,{"a":"b"}]'],
      ['number("1e3")', 1000],
      ['number("-0.5")', -0.5],
      ["number(7)", 7],
      ["number(true) + number(false)", 1],
      ['int("42")', 42],
      ['int("42.9")', 42],
      ["int(-1.9)", -1],
      ['bool("true")', true],
      ['bool("false")', false],
      ["bool(true)", true],
      [
        'map([null, true, 1, 1.5, "a", [], {}], x, type(x))',
        ["null", "bool", "number", "number", "string", "list", "object"],
      ],
      ["json({ a: [1, 2] })", '{"a":[1,2]}'],
      ["json([1, 2], 2)", "[\n  1,\n  2\n]"],
      ["json([1, 2], 0)", "[1,2]"],
      ['json("a\\"b")', '"a\\"b"'],
      ['parseJson("[1, {\\"a\\": null}]")', [1, { a: null }]],
      ['parseJson(" 1 ")', 1],
      ['csvParse("a,b\\n1,\\n")', [{ a: "1", b: "" }]],
      ['csvParse("\\ufeffa\\r\\n\\"x \\"\\"y\\"\\",\\n\\"")', [{ a: 'x "y",\n' }]],
      ['csvParse("1;2\\n\\n3", { header: false, separator: ";" })', [["1", "2"], ["3"]]],
      ['csvParse("")', []],
      ['csvParse("\\"\\"\\n", { header: false })', [[""]]],
      ['csvFormat([{ a: 1, b: "x,y" }, { b: null, c: true }])', 'a,b,c\r\n1,"x,y",\r\n,,true\r\n'],
      ['csvFormat([["a", 1.5], ["b"]], { separator: ";" })', "a;1.5\r\nb\r\n"],
      ['csvFormat([{ a: "1" }], { header: false })', "1\r\n"],
      ['csvFormat([[""], [-1], ["-1.5e3"]])', '""\r\n-1\r\n-1.5e3\r\n'],
      ["csvFormat([])", ""],
      [
        'csvFormat(map(["=1", "+1", "-a", "@a", "\\t", "\\r", "\\n", "＝1", "a;=1", "=\\"a\\""], x, ["a", x]))',
        ["'=1", "'+1", "'-a", "'@a", "'\t", "'\r", "'\n", "'＝1", "a;=1", '\'=""a""']
          .map((x) => `a,"${x}"\r\n`)
          .join(""),
      ],
    ],
    macros: [
      ["filter([1, 2, 3], x, x > 1)", [2, 3]],
      ["filter([], x, nope)", []],
      ["map([1, 2], x, x * x)", [1, 4]],
      ["map([], x, nope)", []],
      ["all([1, 2], x, x > 0)", true],
      ["all([1, -2, null], x, x > 0)", false],
      ["all([], x, false)", true],
      ["exists([1, 2, null], x, x > 1)", true],
      ["exists([], x, true)", false],
      ["sortBy([3, 1, 2], x, x)", [1, 2, 3]],
      ["sortBy([3, 1, 2], x, -x)", [3, 2, 1]],
      ['sortBy(["b", "a"], x, x)', ["a", "b"]],
      ["sortBy([true, false], x, x)", [false, true]],
      ["sortBy([null, 2, null, 1], x, x)", [1, 2, null, null]],
      ["sortBy([], x, x)", []],
      ['groupBy(["b1", "a1", "b2"], x, take(x, 1))', { b: ["b1", "b2"], a: ["a1"] }],
      ['keys(groupBy(["b1", "a1", "b2"], x, take(x, 1)))', ["b", "a"]],
      ["groupBy([], x, x.nope)", {}],
      ['countBy(["b", "a", "b"], x, x)', { b: 2, a: 1 }],
      ['countBy(["__proto__", "toString"], x, x)["__proto__"]', 1],
      [
        "map(sortBy([{ k: 1, n: 1 }, { k: 0, n: 2 }, { k: 1, n: 3 }, { k: 0, n: 4 }], e, e.k), e, e.n)",
        [2, 4, 1, 3],
      ],
    ],
    text: [
      ['lower("ÀB")', "àb"],
      ['upper("straße")', "STRASSE"],
      ['upper("i")', "I"],
      ['trim("  a b\\n")', "a b"],
      ['split("a,b,,c", ",")', ["a", "b", "", "c"]],
      ['split("a😀", "")', ["a", "😀"]],
      ['split("", ",")', [""]],
      ['split("", "")', []],
      ['join(["a", "b"], "-")', "a-b"],
      ['join([], "-")', ""],
      ['contains("flow", "lo")', true],
      ['contains("flow", "")', true],
      ['contains("flow", "x")', false],
      ["contains([1, [2]], [2])", true],
      ["contains([], null)", false],
      ['indexOf("a😀bc", "b")', 2],
      ['indexOf("abc", "x")', -1],
      ['indexOf("abc", "")', 0],
      ["indexOf([1, [2], [2]], [2])", 1],
      ["indexOf([], null)", -1],
      ['startsWith("flow", "fl")', true],
      ['endsWith("flow", "ow")', true],
      ['startsWith("flow", "low")', false],
      ['replace("a.b.c", ".", "/")', "a/b/c"],
      ['replace("aaa", "aa", "b")', "ba"],
      ['replace("a", "a", "$&$1")', "$&$1"],
      ['replace("a😀", "", "-")', "-a-😀-"],
      ['replace("abc", "b", "")', "ac"],
      ['substring("millrace", 0, 4)', "mill"],
      ['substring("millrace", 4)', "race"],
      ['substring("a😀b", 1, 2)', "😀"],
      ['substring("abc", -5, 99)', "abc"],
      ['substring("abc", 2, 1)', ""],
      ['substring("abc", 3)', ""],
      ['matches("order 17", "\\\\d+")', true],
      ['matches("order", "^\\\\d+$")', false],
      ['matches("", "")', true],
      ['replaceAll("2026-01-31", "\\\\D", "$&")', "2026$&01$&31"],
      ['replaceAll("a😀b", "x*", "-")', "-a-😀-b-"],
      ['replaceAll("<b><i>", "<.*?>", "")', ""],
      ['replaceAll("aXbX", "X$|^a", "")', "Xb"],
      ['replaceAll("foo food", "\\\\bfoo\\\\b", "bar")', "bar food"],
    ],
    numbers: [
      ["min(3, 1, 2)", 1],
      ["max([4, 9])", 9],
      ["min(5)", 5],
      ["max([])", null],
      ["min([])", null],
      ["sum([1, 2.5])", 3.5],
      ["sum([])", 0],
      ["round(2.5)", 3],
      ["round(-2.5)", -3],
      ["round(2.4)", 2],
      ["round(1.005, 2)", 1.01],
      ["round(-1.005, 2)", -1.01],
      ["round(2.567, 2)", 2.57],
      ["round(0.5)", 1],
      ["round(0.4)", 0],
      ["round(0.05, 1)", 0.1],
      ["round(9.995, 2)", 10],
      ["round(1e21)", 1e21],
      ["round(1e-7, 15)", 1e-7],
      ["round(1e-20, 15)", 0],
      ["round(123456789.987654321, 3)", 123456789.988],
      ["floor(-1.5)", -2],
      ["ceil(1.2)", 2],
      ["abs(-3)", 3],
    ],
    collections: [
      ["first([1, 2])", 1],
      ["last([1, 2])", 2],
      ["first([])", null],
      ["last([])", null],
      ["slice([1, 2, 3, 4], 1, 3)", [2, 3]],
      ["slice([1, 2, 3], 1)", [2, 3]],
      ["slice([1, 2, 3], -2)", [2, 3]],
      ["slice([1, 2, 3], 0, -1)", [1, 2]],
      ["slice([1, 2, 3], 2, 1)", []],
      ["slice([1, 2, 3], -9, 9)", [1, 2, 3]],
      ['slice("a😀bc", 1, 3)', "😀b"],
      ['slice("a😀bc", -3, -1)', "😀b"],
      ['slice("abc", 2, 1)', ""],
      ["take([1, 2, 3], 2)", [1, 2]],
      ["take([1, 2, 3], -2)", [2, 3]],
      ["take([1], 9)", [1]],
      ["take([1], 0)", []],
      ['take("a😀b", 2)', "a😀"],
      ['take("a😀b", -2)', "😀b"],
      ["reverse([1, null, [2]])", [[2], null, 1]],
      ['reverse("a😀b")', "b😀a"],
      ["chunk([1, 2, 3, 4, 5], 2)", [[1, 2], [3, 4], [5]]],
      ["chunk([], 2)", []],
      [
        'zip([1, 2, 3], ["a", "b"])',
        [
          [1, "a"],
          [2, "b"],
        ],
      ],
      ["zip([1], [2], [3])", [[1, 2, 3]]],
      ["flatten([[1], [2, [3]], 4])", [1, 2, [3], 4]],
      [
        'unique([1, 1.0, 2, "1", [1], [1], { a: 1, b: 2 }, { b: 2, a: 1 }, null, null])',
        [1, 2, "1", [1], { a: 1, b: 2 }, null],
      ],
      ['unique(["[1]", [1], "1", 1, "true", true])', ["[1]", [1], "1", 1, "true", true]],
      ["range(3)", [0, 1, 2]],
      ["range(2, 5)", [2, 3, 4]],
      ["range(-1, 1)", [-1, 0]],
      ["range(0)", []],
      ["range(-3)", []],
      ["range(9007199254740988, 9007199254740991)", [2 ** 53 - 4, 2 ** 53 - 3, 2 ** 53 - 2]],
      ["size(range(10000))", 10_000],
      ["keys({ b: 1, a: 2 })", ["b", "a"]],
      ["values({ b: 1, a: [2] })", [1, [2]]],
      ["entries({ a: 1 })", [{ key: "a", value: 1 }]],
      [
        'fromEntries([{ key: "a", value: 1 }, { key: "b" }, { key: "a", value: 2 }])',
        { a: 2, b: null },
      ],
      ["fromEntries(entries({ x: [1], y: null }))", { x: [1], y: null }],
      ["merge({ a: 1, b: 1 }, { b: 2 }, {})", { a: 1, b: 2 }],
      ["merge({ a: { x: 1 } }, { a: { y: 2 } })", { a: { y: 2 } }],
    ],
    time: [
      ["now()", "2026-01-31T09:30:15.250Z"],
      ["ago(15s)", "2026-01-31T09:30:00.250Z"],
      ['date("2026-01-31")', "2026-01-31T00:00:00.000Z"],
      ['date("2026-01-31T10:00")', "2026-01-31T10:00:00.000Z"],
      ['date("2026-01-31T10:00:00+02:30")', "2026-01-31T07:30:00.000Z"],
      ['date("2026-01-31 10:00:00.123456789Z")', "2026-01-31T10:00:00.123Z"],
      ['date("2026-01-31T10:00:00.5-01:00")', "2026-01-31T11:00:00.500Z"],
      ['date("2024-02-29t00:00:00z")', "2024-02-29T00:00:00.000Z"],
      ['date("0000-01-01")', "0000-01-01T00:00:00.000Z"],
      ["date(0)", "1970-01-01T00:00:00.000Z"],
      ["date(-0.5)", "1969-12-31T23:59:59.999Z"],
      ['epochMs("1970-01-02T00:00:00Z")', 86_400_000],
      ['epochMs("0099-01-01")', Date.parse("0099-01-01T00:00:00Z")],
      ['dateAdd("2026-01-31T00:00:00Z", 1d)', "2026-02-01T00:00:00.000Z"],
      ['dateAdd("2026-01-31", -1h)', "2026-01-30T23:00:00.000Z"],
      ['dateDiff("2026-01-02", "2026-01-01") == 1d', true],
      ['dateFormat(now(), "yyyy-MM-dd HH:mm:ss.SSS")', "2026-01-31 09:30:15.250"],
      ["dateFormat(now(), \"dd.MM.yyyy 'at' HH 'o''clock' ''\")", "31.01.2026 at 09 o'clock '"],
      ['dateFormat(now(), "")', ""],
      ['dateFormat(now(), "yyyy-MM-dd HH:mm XXX", "America/New_York")', "2026-01-31 04:30 -05:00"],
      ['dateFormat("2026-07-01", "HH:mmXXX", "Asia/Kolkata")', "05:30+05:30"],
      ['dateFormat(now(), "HH:mmXXX")', "09:30Z"],
      ['date("2026-07-01T10:00", "Europe/Rome")', "2026-07-01T08:00:00.000Z"],
      ['date("2026-07-01", "Europe/Rome")', "2026-06-30T22:00:00.000Z"],
      ['date("2026-07-01T10:00Z", "Europe/Rome")', "2026-07-01T10:00:00.000Z"],
      ['date("2026-07-01T10:00", "europe/rome")', "2026-07-01T08:00:00.000Z"],
      [
        'dateParse("31.01.2026 10:30", "dd.MM.yyyy HH:mm", "Europe/Rome")',
        "2026-01-31T09:30:00.000Z",
      ],
      ['dateParse("20260131", "yyyyMMdd")', "2026-01-31T00:00:00.000Z"],
      [
        'dateParse("at 7 o\'clock, 2026-01-31 +02:00", "\'at 7 o\'\'clock, \'yyyy-MM-dd XXX", "Europe/Rome")',
        "2026-01-30T22:00:00.000Z",
      ],
      ['parseDuration("1h30m") == 90m', true],
      ['parseDuration("1d2h3m4s5ms")', 93_784_005],
      ['parseDuration("1.5s")', 1500],
      ['parseDuration("250ms")', 250],
      ['parseDuration("PT1H30M") == 90m', true],
      ['parseDuration("P1W1DT0.5S") == 8d + 500ms', true],
      ['parseDuration("PT0S")', 0],
    ],
    bytes: [
      ['base64Encode("é")', "w6k="],
      ['base64Decode("w6k=")', "é"],
      ['base64Encode("")', ""],
      ['base64Encode("ab")', "YWI="],
      ['base64Encode("abc")', "YWJj"],
      ['base64Decode("YWI=")', "ab"],
      ['base64Decode("YWJj")', "abc"],
      ['sha256("")', "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
      ['uriEncode("a b&c/é~-._!\'()*")', "a%20b%26c%2F%C3%A9~-._%21%27%28%29%2A"],
      ['uriDecode("a%20b+%C3%A9")', "a b+é"],
    ],
  };

describe.each(Object.keys(TABLE))("%s", (group) => {
  test.each(TABLE[group] ?? [])("%s", (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });
});

test("every function of the table has a row here under its group, a signature and a summary", () => {
  for (const { name, group, signature, summary } of listFunctions()) {
    expect(
      (TABLE[group] ?? []).some(([source]) => source.includes(`${name}(`)),
      name,
    ).toBe(true);
    expect(signature).toContain(`${name}(`);
    expect(summary).not.toBe("");
  }
  expect(
    listFunctions()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(
    (
      "abs ago all base64Decode base64Encode bool ceil chunk contains countBy csvFormat csvParse date dateAdd dateDiff dateFormat dateParse endsWith entries epochMs " +
      "exists filter first flatten floor fromEntries groupBy indexOf int join json keys last lower map matches max merge min now number parseDuration parseJson " +
      "range replace replaceAll reverse round sha256 size slice sortBy split startsWith string substring sum take trim type unique upper uriDecode uriEncode values zip"
    ).split(" "),
  );
});

test("a name that is also that of a function is the name, and the function where it is called", () => {
  for (const { name } of listFunctions()) {
    expect(
      evaluate(`[${name}, ${name}.a, map([1], ${name}, ${name})]`, { [name]: { a: 2 } }),
    ).toEqual([{ a: 2 }, 2, [1]]);
  }
  expect(evaluate("take(take, 1) + map([take], zip, zip[1])", { take: [1, 2] })).toEqual([1, 2]);
});

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

test("what csvFormat writes csvParse reads, whatever the cells; what it marks begins a formula", () => {
  const cell = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom(...'",;\r\n\ufeff =＝1') }),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 1, maxLength: 4 })),
      fc.constantFrom(",", ";"),
      (rows, s) => {
        const back = evaluate(
          "csvParse(csvFormat(r, { separator: s }), { header: false, separator: s })",
          { r: rows, s },
        );
        const isNumber = (x: unknown): boolean => codeOf("number(x)", { x }) === "no error";
        const written = rows.map((row) =>
          row.map((x) =>
            /^[=+\-@\t\r\n＝＋－＠]/.test(`${x}`) && !isNumber(x) ? `'${x}` : `${x}`,
          ),
        );
        expect(back).toEqual(written);
      },
    ),
  );
});

test("SHA-256 agrees with the platform's for every length around its blocks and for any text", () => {
  const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
  for (let length = 0; length < 200; length += 1) {
    const text = "é".repeat(length >> 1) + "x".repeat(length);
    expect(evaluate("sha256(t)", { t: text })).toBe(digest(text));
  }
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(evaluate("sha256(t)", { t: text })).toBe(digest(text));
    }),
  );
});

test("what is encoded decodes to itself", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (t) => {
      expect(
        evaluate("base64Decode(base64Encode(t)) == t && uriDecode(uriEncode(t)) == t", { t }),
      ).toBe(true);
      expect(evaluate("base64Encode(t)", { t })).toBe(Buffer.from(t).toString("base64"));
    }),
  );
});

test("text is searched, split and replaced as the platform does, however long the part", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 300 });
  const parts = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 25, maxLength: 60 });
  fc.assert(
    fc.property(texts, parts, fc.array(texts, { maxLength: 4 }), (t, p, between) => {
      const text = [t, ...between].join(p);
      const names = { t: text, p };
      expect(evaluate("contains(t, p)", names)).toBe(text.includes(p));
      expect(evaluate("split(t, p)", names)).toEqual(text.split(p));
      expect(evaluate('replace(t, p, "$&")', names)).toBe(text.replaceAll(p, () => "$&"));
    }),
    { numRuns: 500 },
  );
});

test("patterns match and replace as in ECMAScript, whichever way they may be read", () => {
  const { pattern } = fc.letrec<{ pattern: Source; atom: Source }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      tie("atom"),
      fc
        .tuple(tie("pattern"), tie("pattern"))
        .map(([a, b]) => [a[0] + b[0], a[1] && b[1]] as const),
      fc
        .tuple(tie("pattern"), tie("pattern"))
        .map(([a, b]) => [`(${a[0]}|${b[0]})`, a[1] || b[1]] as const),
      // A repeated part that may match nothing is the one thing that may be read otherwise.
      fc
        .tuple(
          tie("pattern"),
          fc.constantFrom("*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}"),
          fc.constantFrom("", "?"),
        )
        .map(
          ([[of, isEmpty], count, lazy]): Source => [
            `(?:${of}${isEmpty ? "a" : ""})${count}${lazy}`,
            /[*?0]/.test(count),
          ],
        ),
    ),
    atom: fc.oneof(
      fc.constantFrom("a", "b", ".", "[ab]", "\\w", "[^a]").map((of): Source => [of, false]),
      fc.constantFrom("^", "$", "\\b", "(?:)").map((of): Source => [of, true]),
    ),
  }));
  const texts = fc.string({ unit: fc.constantFrom("a", "b", " ", "😀"), maxLength: 8 });
  fc.assert(
    fc.property(pattern, texts, ([p], t) => {
      expect(evaluate("matches(t, p)", { t, p })).toBe(new RegExp(p, "u").test(t));
      expect(evaluate('replaceAll(t, p, "$&")', { t, p })).toBe(
        t.replaceAll(new RegExp(p, "gu"), () => "$&"),
      );
    }),
    { numRuns: casesOf(3_000) },
  );
});

test("sorting is that of a stable sort by code point, null last", () => {
  const key = fc.oneof(
    fc.constant(null),
    fc.string({ unit: fc.constantFrom("a", "\u{1f600}", "\uffff"), maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(key), (list) => {
      const l = list.map((k, i) => ({ k, i }));
      const points = (s: string) => Array.from(s, (c) => c.codePointAt(0) as number);
      const compare = (a: string, b: string) => {
        const [x, y] = [points(a), points(b)];
        const at = x.findIndex((point, i) => point !== y[i]);
        return at < 0 ? x.length - y.length : (x[at] as number) - (y[at] ?? -1);
      };
      const wanted = l.toSorted((a, b) =>
        a.k === null || b.k === null
          ? Number(a.k === null) - Number(b.k === null)
          : compare(a.k, b.k),
      );
      expect(evaluate("sortBy(l, x, x.k)", { l })).toEqual(wanted);
    }),
  );
});

test("data survives json and parseJson, indented or not", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 8 }), (d, n) => {
      expect(evaluate("parseJson(json(d, n)) == d && string(json(d)) == json(d)", { d, n })).toBe(
        true,
      );
    }),
  );
});

test("rounding equals decimal rounding of the spelling", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1_000_000, max: 1_000_000 }),
      fc.integer({ min: 0, max: 6 }),
      fc.integer({ min: 0, max: 6 }),
      (units, scale, digits) => {
        const n = Number(`${units}e-${scale}`);
        const drop = 10 ** Math.max(0, scale - digits);
        const kept = Math.floor((Math.abs(units) * 2 + drop) / (drop * 2)) * Math.sign(units);
        const wanted = scale > digits ? Number(`${kept}e-${digits}`) : n;
        expect(evaluate("round(n, d)", { n, d: digits })).toBe(wanted + 0);
      },
    ),
  );
});

test("times agree with the platform's clock arithmetic", () => {
  const epoch = fc.date({
    min: new Date("0000-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(epoch, (at) => {
      const iso = at.toISOString();
      expect(evaluate("epochMs(t)", { t: iso })).toBe(at.getTime());
      expect(evaluate("date(n)", { n: at.getTime() })).toBe(iso);
      expect(evaluate(`dateFormat(t, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")`, { t: iso })).toBe(iso);
    }),
  );
});

const ZONES = Intl.supportedValuesOf("timeZone");

test("times in a zone are those of the platform, and are read back where clocks show them once", () => {
  const epoch = fc.date({
    min: new Date("1950-01-01T00:00:00Z"),
    max: new Date("2100-01-01T00:00:00Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(epoch, fc.constantFrom(...ZONES), (at, z) => {
      const t = new Date(at.getTime() - at.getMilliseconds()).toISOString();
      const options = { timeZone: z, dateStyle: "short", timeStyle: "medium" } as const;
      const shown = new Intl.DateTimeFormat("sv-SE", options).format(at);
      expect(evaluate('dateFormat(t, "yyyy-MM-dd HH:mm:ss", z)', { t, z })).toBe(shown);
      const p = "yyyy-MM-dd'T'HH:mm:ssXXX";
      const exact = evaluate("dateFormat(t, p, z)", { t, p, z });
      expect(evaluate("dateParse(s, p, z)", { s: exact, p, z })).toBe(t);
      expect(evaluate("date(s)", { s: exact })).toBe(t);
      const read = String(evaluate("date(s, z)", { s: shown, z }));
      expect(evaluate('dateFormat(t, "yyyy-MM-dd HH:mm:ss", z)', { t: read, z })).toBe(shown);
      expect(read <= t).toBe(true);
    }),
  );
});

test.each([
  ["a time that clocks leave out is as much later", "2026-03-29T02:30", "2026-03-29T01:30:00.000Z"],
  ["the first time after the gap is itself", "2026-03-29T03:00", "2026-03-29T01:00:00.000Z"],
  [
    "a time that clocks show twice is the earlier one",
    "2026-10-25T02:30",
    "2026-10-25T00:30:00.000Z",
  ],
  ["the last time before the overlap is itself", "2026-10-25T01:59", "2026-10-24T23:59:00.000Z"],
])("where clocks change %s", (_what, text, time) => {
  expect(evaluate('date(t, "Europe/Rome")', { t: text })).toBe(time);
});

test.each([
  ["Europe/Roma", "there is `Europe/Rome`"],
  ["Rome", "there is `Europe/Rome`"],
  ["new york", "there is `America/New_York`"],
  ["Middle-earth", "names are those of the IANA database"],
])("a zone that is not known has those near it in its error: %s", (z, near) => {
  expect(() => evaluate('date("2026-01-01", z)', { z })).toThrow(near);
});
