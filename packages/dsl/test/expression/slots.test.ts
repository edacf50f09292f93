/** Values that are given by place instead of by name. */
import { compileExpression, compileValue, ExpressionError } from "@millrace/dsl";
import { casesOf } from "@millrace/test-support";
import fc from "fast-check";
import { expect, test } from "vitest";
import { NOW, scopeOf } from "./evaluate.ts";
import { scopes, trees } from "./trees.ts";

const AT = { nowEpoch: NOW };

/** The value, or all that an error says. */
function outcome(evaluate: () => unknown): unknown {
  try {
    return { value: evaluate() };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { code, message, offset, length } = error;
    return { code, message, offset, length };
  }
}

test("values, errors and limits are those of evaluation by name", () => {
  fc.assert(
    fc.property(trees, scopes, fc.nat(40), (ast, names, steps) => {
      const roots = Object.keys(names);
      const slots = Object.values(names) as never[];
      for (const limits of [{}, { steps }]) {
        const byName = compileExpression(ast, { limits });
        const bySlot = compileExpression(ast, { limits, roots });
        expect(outcome(() => bySlot.evaluate(slots, AT))).toEqual(
          outcome(() => byName.evaluate(scopeOf(names), AT)),
        );
        expect(bySlot.references).toEqual(byName.references);
        expect(bySlot.constant).toBe(byName.constant);
      }
      expect(slots).toEqual(Object.values(names));
    }),
    { numRuns: casesOf(20_000) },
  );
});

test("a value of a graph takes them too", () => {
  const { evaluate } = compileValue(
    { sum: { $: "a + b" }, text: { $t: ["b is ", { $: "b" }] } },
    { roots: ["b", "unused", "a"] },
  );
  expect(evaluate([2, null, 1], AT)).toEqual({ sum: 3, text: "b is 2" });
  expect(evaluate([5, null, 1], AT)).toEqual({ sum: 6, text: "b is 5" });
});

test("a name without a slot, or without a value in it, is unknown where it is read", () => {
  const { evaluate } = compileExpression("a ?? (b ?? c)", { roots: ["a", "b"] });
  expect(evaluate([1, undefined], AT)).toBe(1);
  expect(evaluate([null, 2], AT)).toBe(2);
  expect(() => evaluate([null, undefined], AT)).toThrow("unknown name b");
  expect(() => evaluate([null], AT)).toThrow("unknown name b");
  expect(() => evaluate([null, null], AT)).toThrow("unknown name c");
});

test("macro variables have slots of their own", () => {
  const given = Object.freeze([[1, 2], 10]);
  const { evaluate } = compileExpression("map(l, x, map(l, y, x * n + y))", { roots: ["l", "n"] });
  for (let again = 0; again < 2; again += 1) {
    expect(evaluate(given, AT)).toEqual([
      [11, 12],
      [21, 22],
    ]);
  }
});

test("an evaluation within an evaluation of the same expression has its own state", () => {
  const compiled = compileExpression("map(l, x, x + n)");
  const values: unknown[] = [];
  const scope = (n: number) => ({
    get(root: string) {
      if (root === "l") return [1, 2];
      if (n < 3) values.push(compiled.evaluate(scope(n + 1), AT));
      return n;
    },
  });
  expect(compiled.evaluate(scope(1), AT)).toEqual([2, 3]);
  expect(values).toEqual([
    [4, 5],
    [3, 4],
  ]);
});
