import type { Diagnostic, JsonObject } from "@millrace/contracts";
import {
  describeType,
  type FlowType,
  inferType,
  parseExpression,
  type TypeEnv,
  typeFromSchema,
} from "@millrace/dsl";
import { describe, expect, test } from "vitest";

const closed = (properties: JsonObject, required = Object.keys(properties)): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const person = closed({
  name: { type: "string" },
  age: { type: "integer" },
  tags: { type: ["array", "null"], items: { type: "string" } },
});
const ROOTS: { readonly [name: string]: JsonObject } = {
  inputs: closed({
    n: { type: "integer" },
    maybe: { type: ["integer", "null"] },
    text: { type: "string" },
    people: { type: "array", items: person },
    status: { enum: ["open", "closed"] },
  }),
  run: closed({ id: { type: "string" } }),
  fetch: closed({ status: { type: "integer" }, body: {} }),
  deep: closed({ a: closed({ b: closed({ c: { type: "integer" } }) }) }, []),
  flag: { type: "boolean" },
  x1: {},
  none: { type: "null" },
  words: { type: "array", items: { type: ["string", "null"] } },
};
const env: TypeEnv = {
  get: (root) =>
    Object.hasOwn(ROOTS, root) ? typeFromSchema(ROOTS[root] as JsonObject) : undefined,
  node: (id) => (id === "my node" ? typeFromSchema(closed({ v: { type: "integer" } })) : undefined),
  names: () => Object.keys(ROOTS),
};

function infer(source: string): { type: FlowType; diagnostics: Diagnostic[] } {
  const { ast } = parseExpression(source);
  if (ast === undefined) throw new Error(`does not parse: ${source}`);
  return inferType(ast, env);
}

/** Findings in short: code, the text they point at, message. */
function findings(source: string): string[] {
  return infer(source).diagnostics.map(({ code, range, message }) => {
    const text = source.slice(range?.start.offset, range?.end.offset);
    return `${code} [${text}] ${message}`;
  });
}

const types = (source: string): string => describeType(infer(source).type);

test.each([
  ["null", "null"],
  ["1", "int"],
  ["1.5", "number"],
  ["90s", "int"],
  ['"a"', "string"],
  ['"a${inputs.n}"', "string"],
  ["[1, 2]", "list of int"],
  ["[]", "list"],
  ["{ a: 1 }", "object"],
  ["{ a: 1 }.a", "int"],
  ["inputs.n", "int"],
  ["inputs.maybe", "int or null"],
  ["inputs.maybe ?? 0", "int"],
  ["inputs.people[0].name", "string"],
  ["inputs.people[0].tags", "list of string or null"],
  ["fetch.body.anything[0].at.all", "any"],
  ["fetch?.status", "int or null"],
  ["fetch?.status ?? 0", "int"],
  ["inputs?.n", "int"],
  ['nodes["my node"].v', "int"],
  ['nodes["my node"]?.v', "int or null"],
  ["nodes[inputs.text]", "any"],
  ["deep?.a?.b.c", "int or null"],
  ["1 + 2", "int"],
  ["1 + 0.5", "number"],
  ["6 / 2", "number"],
  ["inputs.n % 2", "int"],
  ["-inputs.n", "int"],
  ['"a" + "b"', "string"],
  ["[1] + [0.5]", "list of number"],
  ["fetch.body + 1", "number"],
  ["fetch.body + fetch.body", "any"],
  ["1 < 2", "bool"],
  ["flag && true", "bool"],
  ['flag ? 1 : "a"', "int or string"],
  ["1 in [1]", "bool"],
  ["map(inputs.people, p, p.age)", "list of int"],
  ["filter(inputs.people, p, p.age > 1)", "list of object"],
  ["filter(words, w, w != null)", "list of string"],
  ["sortBy(inputs.people, p, p.name)", "list of object"],
  ["first(inputs.people)", "object or null"],
  ["first(inputs.people)?.name", "string or null"],
  ["max(1, 2)", "int"],
  ["max(map(inputs.people, p, p.age))", "int or null"],
  ["round(1.5)", "int"],
  ["round(1.55, 1)", "number"],
  ["flatten([[1], [2]])", "list of int"],
  ["flatten(map(inputs.people, p, p.tags ?? []))", "list of string"],
  ["keys(inputs)", "list of string"],
  ["values({ a: 1, b: 2 })", "list of int"],
  ["take(inputs.people, 2)", "list of object"],
  ["reverse(inputs.status)", "string"],
  ["chunk(inputs.people, 2)", "list of list of object"],
  ['zip([1], ["a"])[0]', "list"],
  ["values(groupBy(inputs.people, p, p.name))", "list of list of object"],
  ['groupBy(inputs.people, p, p.name)["Ada"]', "list of object or null"],
  ["countBy(inputs.people, p, p.name).Ada ?? 0", "int"],
  ["entries(countBy(inputs.people, p, p.name))[0].value", "int"],
  ["merge({ a: 1 }, { b: 2 }).b", "int"],
  ["entries({ a: 1 })[0].value", "int"],
  ["csvParse(inputs.text)", "list of object"],
  ["csvParse(inputs.text)[0].amount", "any"],
  ["csvParse(inputs.text, { header: false })[0]", "list of string"],
  ["csvParse(inputs.text, { header: flag })", "list"],
  ["parseJson(inputs.text)", "any"],
  ["dateDiff(now(), now())", "int"],
] as const)("%s is %s", (source, expected) => {
  expect(findings(source)).toEqual([]);
  expect(types(source)).toBe(expected);
});

describe("what is wrong", () => {
  test.each<[string, string | string[]]>([
    ["nope", "FLOW5001 [nope] unknown name nope"],
    ["nope.a.b + nope", ["FLOW5001 [nope] unknown name nope", "FLOW5001 [nope] unknown name nope"]],
    ["inputs.nope", "FLOW5001 [inputs.nope] the flow has no input nope"],
    ['inputs["nope"]', 'FLOW5001 [inputs["nope"]] the flow has no input nope'],
    ["inputs.text.length", "FLOW5001 [inputs.text.length] string has no member length"],
    ["inputs.people.name", "FLOW5001 [inputs.people.name] list of object has no member name"],
    ['nodes["other"].v', 'FLOW5001 [nodes["other"]] unknown name other'],
    [
      "inputs.text + 1",
      "FLOW5002 [inputs.text + 1] `+` takes two numbers, two strings or two lists, found string and int",
    ],
    ["groupBy(inputs.people, p, p.age)", "FLOW5002 [p.age] `groupBy` takes string keys, found int"],
    [
      'matches(inputs.text, "(?=a)")',
      'FLOW5013 ["(?=a)"] matches refuses this argument: no lookahead',
    ],
    [
      "csvParse(inputs.text, { head: true })",
      "FLOW5013 [{ head: true }] csvParse refuses this argument: its options are `header` and `separator`",
    ],
    [
      'dateFormat(now(), "YYYY", "Europe/Roma")',
      [
        "FLOW5013 [\"YYYY\"] dateFormat refuses this argument: its pattern knows yyyy MM dd HH mm ss SSS XXX; put other letters in '…'",
        'FLOW5013 ["Europe/Roma"] dateFormat refuses this argument: no time zone has this name; there is `Europe/Rome`',
      ],
    ],
    [
      'parseDuration("90")',
      'FLOW5013 ["90"] parseDuration refuses this argument: a duration is written `1h30m` with units d h m s ms, or `PT1H30M` without years and months, in whole milliseconds',
    ],
    [
      "chunk([1], 0)",
      "FLOW5013 [0] chunk refuses this argument: the size of its lists is at least 1",
    ],
    ["inputs.text - 1", "FLOW5002 [inputs.text - 1] `-` takes two numbers, found string and int"],
    [
      "inputs.text < 1",
      "FLOW5002 [inputs.text < 1] `<` takes two numbers or two strings, found string and int",
    ],
    ["flag && inputs.n", "FLOW5002 [inputs.n] `&&` takes true or false, found int"],
    ["!inputs.n", "FLOW5002 [!inputs.n] `!` takes true or false, found int"],
    ["-inputs.text", "FLOW5002 [-inputs.text] `-` takes a number, found string"],
    [
      "1 in inputs.text",
      "FLOW5002 [1 in inputs.text] `in` takes a list or an object on its right, found int and string",
    ],
    [
      "1 in inputs",
      "FLOW5002 [1 in inputs] `in` takes a string and an object, found int and object",
    ],
    ["size(inputs.n)", "FLOW5002 [inputs.n] `size` takes string or list or object, found int"],
    ["map(inputs.n, x, x)", "FLOW5002 [inputs.n] `map` takes list, found int"],
    [
      "sortBy(inputs.people, p, p)",
      "FLOW5002 [p] `sortBy` takes number, string or bool keys, found object",
    ],
    [
      "inputs.people[inputs.text]",
      "FLOW5002 [inputs.people[inputs.text]] `[ ]` takes a list and a number, or an object and a string, found list of object and string",
    ],
    ["sizes([1])", "FLOW5003 [sizes] unknown function sizes"],
    ["size()", "FLOW5004 [size()] size takes 1 arguments, found 0: size(string|list|object) int"],
    [
      "round(1, 2, 3)",
      "FLOW5004 [round(1, 2, 3)] round takes 1 to 2 arguments, found 3: round(number, digits?) number",
    ],
    [
      "merge()",
      "FLOW5004 [merge()] merge takes at least 1 arguments, found 0: merge(object, …) object",
    ],
    ["map([1], x)", "FLOW5004 [map([1], x)] map takes 3 arguments, found 2: map(list, x, T) list"],
    [
      "inputs.n ? 1 : 2",
      "FLOW5005 [inputs.n] the condition before `?` must be true or false, found int",
    ],
    ["filter([1], y, y)", "FLOW5005 [y] the condition of filter must be true or false, found int"],
    ["inputs.maybe + 1", "FLOW5006 [inputs.maybe] inputs.maybe may be null here"],
    ["deep.a.b", "FLOW5006 [deep.a] deep.a may be null here"],
    [
      "size(inputs.people[0].tags)",
      "FLOW5006 [inputs.people[0].tags] inputs.people[0].tags may be null here",
    ],
    [
      "first(inputs.people).name",
      "FLOW5006 [first(inputs.people)] first(inputs.people) may be null here",
    ],
    ["none.x", "FLOW5006 [none] none may be null here"],
    [
      "range(1000000)",
      "FLOW5007 [range(1000000)] this expression is sure to exceed the budget: range gives at most 10000 numbers, not 1000000",
    ],
    [
      "range(5, 20000)",
      "FLOW5007 [range(5, 20000)] this expression is sure to exceed the budget: range gives at most 10000 numbers, not 19995",
    ],
    ['"${inputs.n}"', 'FLOW5008 ["${inputs.n}"] `"${inputs.n}"` is always a string'],
    ["map([1], 2, 3)", "FLOW5009 [2] the second argument of map must be a new name"],
    ["map([1], fetch, fetch)", "FLOW5009 [fetch] the second argument of map must be a new name"],
    ["map([1], x, map([2], x, x))", "FLOW5009 [x] the second argument of map must be a new name"],
    ['inputs.n == "1"', 'FLOW5010 [inputs.n == "1"] comparing int with "1" is always false'],
    ['1 != "1"', 'FLOW5010 [1 != "1"] comparing int with "1" is always true'],
    [
      'inputs.status == "opne"',
      'FLOW5010 [inputs.status == "opne"] comparing "open" or "closed" with "opne" is always false',
    ],
    ["inputs.n == null", "FLOW5010 [inputs.n == null] comparing int with null is always false"],
    ['"a" in [1, 2]', 'FLOW5010 ["a" in [1, 2]] comparing "a" with int is always false'],
    ["true ? 1 : 2", "FLOW5011 [true] condition is always true"],
    ["!true || false ? 1 : 2", "FLOW5011 [!true || false] condition is always false"],
    ["filter([1], y, true)", "FLOW5011 [true] condition is always true"],
  ])("%s", (source, expected) => {
    expect(findings(source)).toEqual([expected].flat());
  });

  test("one part that is wrong is told once, and does not make the rest wrong", () => {
    expect(findings("size(nope.x) + (inputs.text - 1) * 2")).toHaveLength(2);
    expect(
      findings('nope == 1 && nope.y == "a"').every((text) => text.includes("unknown name")),
    ).toBe(true);
  });
});

describe("whole diagnostics", () => {
  const at = (start: number, end: number) => ({
    start: { line: 1, column: start + 1, offset: start },
    end: { line: 1, column: end + 1, offset: end },
  });

  test("a misspelt name carries the near one as a fix", () => {
    expect(infer("1 + input.n").diagnostics).toEqual([
      {
        code: "FLOW5001",
        severity: "error",
        message: "unknown name input",
        hint: "did you mean inputs?",
        range: at(4, 9),
        fixes: [{ title: "write inputs", edits: [{ range: at(4, 9), newText: "inputs" }] }],
      },
    ]);
  });

  test("a subtraction without blanks is told from a name", () => {
    const [found] = infer("x1-1").diagnostics;
    expect(found).toMatchObject({ code: "FLOW5001", message: "unknown name x1-1" });
    expect(found?.fixes?.[0]?.edits).toEqual([{ range: at(0, 4), newText: "x1 - 1" }]);
  });

  test("a misspelt function carries the near one as a fix of its name alone", () => {
    expect(infer("sizes([1])").diagnostics[0]?.fixes?.[0]?.edits).toEqual([
      { range: at(0, 5), newText: "size" },
    ]);
  });

  test("a read of what may be null carries `?.` as a fix", () => {
    const [found] = infer("deep.a.b").diagnostics;
    expect(found).toMatchObject({ severity: "warning", hint: "use `?.` or `?? …`" });
    expect(found?.fixes?.[0]?.edits).toEqual([{ range: at(0, 8), newText: "deep.a?.b" }]);
  });

  test("a template of one hole carries its expression as a fix", () => {
    expect(infer('"${inputs.n}"').diagnostics[0]?.fixes?.[0]?.edits).toEqual([
      { range: at(0, 13), newText: "inputs.n" },
    ]);
  });

  test("a near member is named", () => {
    expect(infer("inputs.txet").diagnostics[0]?.hint).toBe("did you mean text?");
  });
});

describe("a condition rules null out where it holds", () => {
  test.each([
    "inputs.maybe != null && inputs.maybe > 1",
    "inputs.maybe == null || inputs.maybe > 1",
    "inputs.maybe != null ? inputs.maybe + 1 : 0",
    "inputs.maybe == null ? 0 : inputs.maybe + 1",
    "!(inputs.maybe == null) && inputs.maybe > 1",
    "null != inputs.maybe && flag && inputs.maybe > 1",
    'inputs["maybe"] != null && inputs.maybe > 1',
    "deep.a != null && deep.a.b.c > 1",
    "deep.a?.b.c != null && deep.a.b.c > 1",
    "fetch?.status != null && fetch?.status > 1",
    "exists(inputs.people, p, p.tags != null && size(p.tags) > 1)",
    "map(filter(words, w, w != null), w, size(w))",
    "map(filter(inputs.people, p, p.tags != null && p.age > 1), q, size(q.tags))",
    "(inputs.maybe ?? 0) + 1",
  ])("%s", (source) => {
    expect(findings(source)).toEqual([]);
  });

  test.each([
    "inputs.maybe != null || inputs.maybe > 1",
    "inputs.maybe == null && inputs.maybe > 1",
    "inputs.maybe != null ? 0 : inputs.maybe + 1",
    "flag ? inputs.maybe + 1 : 0",
    "exists(inputs.people, p, p.tags != null) && exists(inputs.people, q, size(q.tags) > 1)",
  ])("but not here: %s", (source) => {
    expect(findings(source).map((text) => text.slice(0, 8))).toEqual(["FLOW5006"]);
  });
});

test("without `node` in the environment, nodes is read like any object", () => {
  const { ast } = parseExpression('nodes["a b"].v + nodes.c');
  const get = (root: string) =>
    root === "nodes"
      ? typeFromSchema(closed({ "a b": closed({ v: { type: "integer" } }) }))
      : undefined;
  const { diagnostics } = inferType(ast as never, { get });
  expect(diagnostics.map(({ message }) => message)).toEqual(["object has no member c"]);
});

test("the environment says which roots are always present", () => {
  const { ast } = parseExpression("item?.a");
  const get = () => typeFromSchema(closed({ a: { type: "integer" } }));
  expect(describeType(inferType(ast as never, { get }).type)).toBe("int or null");
  expect(describeType(inferType(ast as never, { get, mayBeAbsent: () => false }).type)).toBe("int");
});
