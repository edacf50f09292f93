/** Functions by example, and the table of them. */
import { listFunctions } from "@millrace/dsl";
import { describe, expect, test } from "vitest";
import { evaluate } from "./evaluate.ts";

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
