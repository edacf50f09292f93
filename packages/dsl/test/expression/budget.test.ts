import {
  compileExpression,
  DEFAULT_EXPRESSION_LIMITS,
  type Expression,
  ExpressionError,
  parseExpression,
} from "@millrace/dsl";
import { casesOf } from "@millrace/test-support";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeOf, evaluate, NOW, scopeOf } from "./evaluate.ts";
import { visitedNodes } from "./reference-evaluator.ts";

const deep = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

function joined(part: string | readonly string[]): string {
  return typeof part === "string" ? part : `(${part.join(" ")})`;
}

/** The fewest steps with which an expression can be evaluated. */
function stepsOf(source: string, names = {}): number {
  let steps = 0;
  while (codeOf(source, names, { steps }) === "budget_exceeded") steps += 1;
  return steps;
}

describe("steps", () => {
  test.each([
    ["1", 1],
    ["1 + 2", 3],
    ["a", 1],
    ["a.b", 2],
    ["true || nope", 2],
    ["size([])", 2],
  ] as const)("one per tree node visited: %s takes %i", (source, steps) => {
    expect(stepsOf(source, { a: { b: 1 } })).toBe(steps);
  });

  test("one per tree node visited, whichever way the branches go", () => {
    const names = { n: 1, t: true, f: false, none: null, o: { n: 2, o: { t: true } } };
    const { condition } = fc.letrec<{ condition: string; number: string }>((tie) => ({
      condition: fc
        .oneof(
          { maxDepth: 5, depthSize: "medium" },
          fc.constantFrom("true", "t", "f", "o.o.t", "(o.missing?.o[n] == null)"),
          fc.tuple(tie("number"), fc.constantFrom("<", ">=", "==", "!="), tie("number")),
          fc.tuple(tie("condition"), fc.constantFrom("&&", "||"), tie("condition")),
          fc.tuple(tie("condition"), fc.constant("? f :"), tie("condition")),
          fc.tuple(fc.constant("!"), tie("condition")),
        )
        .map(joined),
      number: fc
        .oneof(
          { maxDepth: 5, depthSize: "medium" },
          fc.constantFrom("1", "2.5", "n", "o.n", 'o["n"]', "(none?.a.b ?? n)"),
          fc.tuple(tie("number"), fc.constantFrom("+", "-", "*", "??"), tie("number")),
          fc.tuple(tie("condition"), fc.constant("?"), tie("number"), fc.constant(": n")),
          fc.tuple(fc.constant("-"), tie("number")),
        )
        .map(joined),
    }));
    fc.assert(
      fc.property(condition, (source) => {
        const visits = visitedNodes(
          parseExpression(source).ast as Expression,
          new Map(Object.entries(names)) as never,
        );
        expect(codeOf(source, names, { steps: visits }), source).toBe("no error");
        expect(codeOf(source, names, { steps: visits - 1 }), source).toBe("budget_exceeded");
      }),
      { numRuns: casesOf(2_000) },
    );
  });

  test("one per element produced or compared", () => {
    const l = Array.from({ length: 50 }, (_, i) => i);
    expect(stepsOf("map(l, x, 1)", { l }) - stepsOf("map(l, x, 1)", { l: l.slice(1) })).toBe(2);
    expect(stepsOf("49 in l", { l }) - stepsOf("48 in l", { l })).toBe(1);
    expect(stepsOf("l == m", { l, m: [...l] })).toBeGreaterThanOrEqual(50);
    expect(stepsOf("l + l", { l })).toBeGreaterThanOrEqual(100);
  });

  test("one per 64 code units of text handled", () => {
    const t = "x".repeat(6400);
    expect(stepsOf("size(t)", { t }) - stepsOf("size(t)", { t: "" })).toBe(100);
    expect(stepsOf("t == u", { t, u: `${t.slice(1)}x` })).toBeGreaterThanOrEqual(100);
  });

  test("the default is 100 000, and a tenfold raise is the most", () => {
    const l = Array.from({ length: 60_000 }, () => 1);
    expect(DEFAULT_EXPRESSION_LIMITS).toEqual({ steps: 100_000, bytes: 16_777_216, depth: 200 });
    expect(codeOf("map(l, x, x)", { l })).toBe("budget_exceeded");
    expect(codeOf("map(l, x, x)", { l }, { steps: 1_000_000 })).toBe("no error");
    const tooMany = Array.from({ length: 600_000 }, () => 1);
    expect(codeOf("map(l, x, x)", { l: tooMany }, { steps: 1e9 })).toBe("budget_exceeded");
  });
});

test("bytes: text and elements produced", () => {
  expect(codeOf('"abcd" + "efgh"', {}, { bytes: 10 })).toBe("budget_exceeded");
  expect(codeOf("range(10)", {}, { bytes: 100 })).toBe("budget_exceeded");
  expect(codeOf('"abcd" + "efgh"', {}, { bytes: 100 })).toBe("no error");
});

describe("depth", () => {
  test("data that an expression builds is no deeper than the limit", () => {
    expect(codeOf("[d]", { d: deep(199) })).toBe("no error");
    expect(codeOf("[d]", { d: deep(200) })).toBe("budget_exceeded");
    expect(codeOf("{ a: { b: 1 } }", {}, { depth: 1 })).toBe("budget_exceeded");
    expect(codeOf("{ a: { b: x } }", { x: 1 }, { depth: 1 })).toBe("budget_exceeded");
    expect(codeOf("map([d], x, x)", { d: deep(200) })).toBe("budget_exceeded");
    expect(codeOf("parseJson(t)", { t: "[".repeat(201) + "]".repeat(201) })).toBe(
      "budget_exceeded",
    );
  });

  test("data of any depth is refused where it is walked, without overflow", () => {
    const d = deep(9_000);
    for (const source of [
      "json(d)",
      "string(d)",
      '"${d}"',
      "[d] == [e]",
      "unique([d, e])",
      "d in [e]",
    ]) {
      expect(codeOf(source, { d, e: deep(9_000) }), source).toBe("budget_exceeded");
    }
  });
});

describe("nothing small makes something huge", () => {
  const text = "x".repeat(100_000);
  const wide = Array.from({ length: 1_000 }, (_, i) => ({ i, text: "y".repeat(100) }));
  test.each([
    [
      "doubling by nested macros",
      `${"map(".repeat(40)}[1]${Array.from({ length: 40 }, (_, i) => `, x${i}, [x${i}, x${i}])`).join("")}`,
    ],
    ["one value many times", "map(range(10000), i, wide)"],
    ["one text many times", "map(range(10000), i, text)"],
    ["text written out many times", "json(map(range(1000), i, text))"],
    ["an indent at depth", "json(wide, 8) + json(map(range(200), i, wide), 8)"],
    ["replacing each unit by a text", 'replace(text, "x", text)'],
    ["replacing nothing by a text", 'replace(text, "", text)'],
    ["a long separator", 'join(split(text, ""), text)'],
    ["a range beyond its limit", "range(10001)"],
    ["a range of all numbers", "range(-1e15, 1e15)"],
    [
      "comparing what nests exponentially",
      `${"map(".repeat(30)}[1]${Array.from({ length: 30 }, (_, i) => `, x${i}, [x${i}, x${i}])`).join("")} == ${"map(".repeat(30)}[1]${Array.from({ length: 30 }, (_, i) => `, x${i}, [x${i}, x${i}])`).join("")}`,
    ],
    [
      "a loop in a loop in a loop",
      "map(range(1000), a, size(map(range(1000), b, size(map(range(1000), c, 1)))))",
    ],
    ["a list in many lists", "zip(wide, wide, wide, map(range(1000), i, wide))"],
    ["a pattern that looks to the end from each place", 'replaceAll(text, "x(?:.*z)?", "-")'],
    ["a pattern with many states", 'matches(text, "x[xy]{300}z")'],
    ["many patterns", 'map(range(10000), i, matches("", "[a-z]+${i}"))'],
    ["cells of CSV", 'csvParse(join(map(range(10000), i, "1,2,3,4,5,6,7,8,9,10"), "\\n"))'],
    ["one cell of CSV many times", "csvFormat([map(range(10000), i, text)])"],
    ["columns of CSV", 'csvFormat(map(range(1000), i, parseJson("{\\"${i}\\": 1}")))'],
    ["sorting with costly keys", "sortBy(range(10000), x, size(map(range(100), y, x)))"],
  ])("%s is budget_exceeded", (_name, source) => {
    expect(codeOf(source, { text, wide }, {})).toBe("budget_exceeded");
  });

  const a = (length: number) => "a".repeat(length);
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
  test.each([
    ["objects of other sizes, told apart by counting", "filter(range(2000), i, big == small)"],
    ["texts told apart by `unique`", "unique(map(range(2000), i, text))"],
    ["keys told apart by `unique`", "unique(map(range(2000), i, key))"],
    ["empty lists, flattened", "map(range(2000), i, flatten(empties))"],
    ["patterns of a time", "map(range(2000), i, dateFormat(now(), pattern))"],
    ["a pattern over long text", 'map(range(2000), i, matches(text, "b"))'],
    ["times in a zone", 'map(range(4000), i, dateFormat(now(), "HH", "Europe/Rome"))'],
    ["zones whose tables are read", "map(names, z, dateFormat(now(), pattern, z))"],
    ["names counted by `size`", "map(range(2000), i, size(big))"],
  ])("work that produces nothing is paid for: %s", (_name, source) => {
    const names = {
      big: keys(1_000),
      small: keys(2),
      text: a(64_000),
      key: { [a(64_000)]: 1 },
      empties: Array.from({ length: 1_000 }, () => []),
      pattern: "-".repeat(1_000),
      names: Intl.supportedValuesOf("timeZone"),
    };
    expect(codeOf(source, names)).toBe("budget_exceeded");
  });

  test("texts that defeat a plain search are searched in linear time", () => {
    // A plain search compares all of the part at each place: 6e11 comparisons here.
    const text = a(1_000_000);
    const part = `ab${a(600_000)}`;
    for (const source of ["contains(text, part)", "size(split(text, part)) > 1"]) {
      expect(evaluate(source, { text, part }), source).toBe(false);
    }
    expect(evaluate('replace(text, part, "") == text', { text, part })).toBe(true);
    expect(evaluate("contains(text + part, part)", { text, part })).toBe(true);
  });

  test("a limit that is no number is a limit all the same", () => {
    const names = { l: Array.from({ length: 600_000 }, () => 1) };
    expect(codeOf("map(l, x, x)", names, { steps: Number.NaN, bytes: Number.NaN })).toBe(
      "budget_exceeded",
    );
    expect(codeOf("[d]", { d: deep(200) }, { depth: Number.NaN })).toBe("budget_exceeded");
  });

  test("data that endlessly holds itself is refused", () => {
    const endless = (): unknown[] => {
      const list: unknown[] = [];
      list.push(list);
      return list;
    };
    for (const source of ["[loop]", "json(loop)", "[loop] == [other]", "unique([loop])"]) {
      expect(codeOf(source, { loop: endless(), other: endless() })).toBe("budget_exceeded");
    }
  });
});

test("large data passes through untouched and unpaid", () => {
  const big = Array.from({ length: 300_000 }, (_, i) => ({ i }));
  const page = { body: { big } };
  expect(evaluate("page.body.big", { page })).toBe(big);
  expect(evaluate("page?.body ?? null", { page })).toBe(page.body);
});

test("each evaluation has the whole budget", () => {
  const compiled = compileExpression("map(l, x, x)");
  const scope = scopeOf({ l: Array.from({ length: 30_000 }, () => 1) });
  for (let i = 0; i < 5; i += 1) {
    expect(compiled.evaluate(scope, { nowEpoch: NOW })).toHaveLength(30_000);
  }
});

test("the error says which limit and where", () => {
  try {
    evaluate("1 + size(range(20))", {}, { steps: 10 });
    expect.unreachable();
  } catch (error) {
    expect(ExpressionError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code: "budget_exceeded", offset: 9, length: 9 });
    expect(String(error)).toContain("more than 10 steps");
  }
});

test("a tree higher than 1000 operators does not compile, by text or by hand", () => {
  expect(codeOf(Array.from({ length: 5_000 }, () => "1").join(" + "))).toBe("syntax");
  expect(evaluate(Array.from({ length: 900 }, () => "1").join(" + "))).toBe(900);
  expect(
    evaluate(`a${".a".repeat(900)}`, {
      a: JSON.parse(`${'{"a":'.repeat(900)}1${"}".repeat(900)}`),
    }),
  ).toBe(1);
  let ast = { kind: "literal", value: true, start: 0, end: 0 } as never;
  for (let i = 0; i < 50_000; i += 1) {
    ast = { kind: "unary", op: "!", operand: ast, start: 0, end: 0 } as never;
  }
  expect(() => compileExpression(ast)).toThrow("nested deeper than 1000 operators");
});
