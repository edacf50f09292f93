import type { FieldValue, Json } from "@millrace/contracts";
import { compileValue, DslError } from "@millrace/dsl";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Names, NOW, scopeOf } from "./evaluate.ts";

function given(value: FieldValue, names: Names = {}): Json {
  return compileValue(value).evaluate(scopeOf(names), { nowEpoch: NOW });
}

test.each([
  ["text stays literal, whatever it holds", "${a} $ {}", "${a} $ {}"],
  ["numbers, null and truth values", [1, null, true], [1, null, true]],
  ["an expression", { $: "a.b" }, 1],
  ["an expression in data", { x: [{ $: "a.b + 1" }, "y"] }, { x: [2, "y"] }],
  ["a template", { $t: ["n=", { $: "a.b" }, "!"] }, "n=1!"],
  ["a template of one hole is text", { $t: [{ $: "a.b" }] }, "1"],
  ["a template without holes", { $t: ["abc"] }, "abc"],
  ["data in a template is compact JSON", { $t: ["", { $: "a" }] }, '{"b":1}'],
  ["a protected level", { $lit: { $: "a.b" } }, { $: "a.b" }],
  ["a level below a protected one", { $lit: { $: { $: "a.b" } } }, { $: 1 }],
  ["a protected template", { $lit: { $t: ["x"] } }, { $t: ["x"] }],
  ["a protected protection", { $lit: { $lit: 1 } }, { $lit: 1 }],
  ["a protected scalar or list", [{ $lit: 1 }, { $lit: [{ $: "a.b" }] }], [1, [1]]],
  ["an object with more keys than a marker", { $: "a.b", other: 1 }, { $: "a.b", other: 1 }],
  ["empty data", [{}, []], [{}, []]],
])("%s", (_name, value, expected) => {
  expect(given(value as FieldValue, { a: { b: 1 } })).toEqual(expected);
});

test("text that comes through a hole is never read again", () => {
  expect(given({ $t: ["<", { $: "t" }, ">"] }, { t: '${a} {"$":"a"}' })).toBe('<${a} {"$":"a"}>');
  expect(given({ $: "t" }, { t: { $: "nope" } })).toEqual({ $: "nope" });
});

describe("constants", () => {
  test("are one frozen copy that all evaluations share", () => {
    const source = { list: [1, { a: "b" }], lit: { $lit: { $: "x" } } };
    const compiled = compileValue(source);
    const first = compiled.evaluate(scopeOf({}), { nowEpoch: 1 }) as { list: Json[]; lit: Json };
    expect(compiled.constant).toBe(true);
    expect(compiled.evaluate(scopeOf({}), { nowEpoch: 2 })).toBe(first);
    expect([first, first.list, first.list[1], first.lit].every(Object.isFrozen)).toBe(true);
    expect(Object.isFrozen(source) || Object.isFrozen(source.list)).toBe(false);
  });

  test("are shared within a value that is none", () => {
    const compiled = compileValue({ fixed: { a: [1] }, moving: { $: "n" } });
    const at = (n: number) =>
      compiled.evaluate(scopeOf({ n }), { nowEpoch: 0 }) as { fixed: Json; moving: Json };
    expect(compiled.constant).toBe(false);
    expect(at(1).fixed).toBe(at(2).fixed);
    expect([at(1).moving, at(2).moving]).toEqual([1, 2]);
  });

  test("an expression that reads nothing is constant, one that reads the clock is not", () => {
    expect(compileValue({ a: { $: "1 + 1" } }).constant).toBe(true);
    expect(compileValue({ a: { $: "now()" } }).constant).toBe(false);
  });
});

test("references of all parts are listed once each", () => {
  const { references } = compileValue({
    a: { $: "x.y + z" },
    b: [{ $t: ["", { $: "x.y" }, { $: "w ?? 1" }] }],
  });
  expect(references).toEqual([
    { root: "x", path: ["y"], optional: false },
    { root: "z", path: [], optional: false },
    { root: "w", path: [], optional: true },
  ]);
  expect(compileValue({ $: "item + a" }, { locals: ["item"] }).references).toEqual([
    { root: "a", path: [], optional: false },
  ]);
});

test("all expressions of one value share one budget and one instant", () => {
  const hole = { $: "size(range(2000))" };
  const run = (value: FieldValue) =>
    compileValue(value, { limits: { steps: 5_000 } }).evaluate(scopeOf({}), { nowEpoch: NOW });
  expect(run([hole, hole])).toEqual([2_000, 2_000]);
  expect(() => run([hole, hole, hole])).toThrow("more than 5000 steps");
  expect(() => run({ $t: [hole, hole, hole] })).toThrow("more than 5000 steps");
  expect(given({ $: "now() == now()" })).toBe(true);
});

test("data from names counts towards the depth of the value that holds it", () => {
  const deep = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  expect(given({ $: "d" }, { d: deep(200) })).toBeDefined();
  expect(given([{ $: "d" }], { d: deep(199) })).toBeDefined();
  expect(() => given([{ $: "d" }], { d: deep(200) })).toThrow("nested deeper than 200 levels");
});

describe("what is no value of a graph", () => {
  const cases: readonly (readonly [string, unknown, string, string])[] = [
    ["an expression that is no text", { a: [{ $: 1 }] }, "graph_invalid", "/a/0/$"],
    ["a template that is no list", { $t: "x" }, "graph_invalid", "/$t"],
    ["a template part that is neither", { $t: ["x", 1] }, "graph_invalid", "/$t/1"],
    ["a template in a template", { $t: [{ $t: ["x"] }] }, "graph_invalid", "/$t/0"],
    ["names in a pointer are escaped", { "a/b~": { $: 1 } }, "graph_invalid", "/a~1b~0/$"],
  ];
  test.each(cases)("%s", (_name, value, code, pointer) => {
    try {
      compileValue(value as FieldValue);
      expect.unreachable();
    } catch (error) {
      expect(DslError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ code, pointer });
    }
  });

  test("an expression with errors", () => {
    expect(() => compileValue({ a: { $: "1 +" } })).toThrowError(
      expect.objectContaining({ code: "syntax", name: "ExpressionError" }),
    );
  });

  test("data without end", () => {
    const loop: Json[] = [];
    loop.push(loop);
    expect(() => compileValue(loop)).toThrow("nested deeper than 200 levels");
  });
});

test("data without markers is its own value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      fc.pre(!/"\$(t|lit)?":/.test(JSON.stringify(value)));
      const compiled = compileValue(value as FieldValue);
      expect(compiled.constant).toBe(true);
      expect(JSON.stringify(compiled.evaluate(scopeOf({}), { nowEpoch: 0 }))).toBe(
        JSON.stringify(value),
      );
    }),
  );
});
