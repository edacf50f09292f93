/** The compiled language against the slow reference, over random trees and random data. */

import {
  compileExpression,
  type Expression,
  ExpressionError,
  inferType,
  parseExpression,
  printExpression,
} from "@millrace/dsl";
import { casesOf } from "@millrace/test-support";
import fc from "fast-check";
import { expect, test } from "vitest";
import { NOW, scopeOf } from "./evaluate.ts";
import { Failure, referenceEvaluate, type Variables } from "./reference-evaluator.ts";
import { MACROS, scopes, trees } from "./trees.ts";

const { FUZZ_RUNS = casesOf(2_000) } = process.env;
const RUNS = Number(FUZZ_RUNS);
type Outcome = { readonly value: unknown } | { readonly code: string };

function expected(ast: Expression, names: Variables): Outcome {
  try {
    return { value: referenceEvaluate(ast, names) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { code: error.code };
  }
}

function actual(source: Expression | string, names: object): Outcome {
  try {
    return {
      value: compileExpression(source).evaluate(scopeOf(names as never), { nowEpoch: NOW }),
    };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { code: error.code };
  }
}

test("values and error codes are those of the reference", () => {
  fc.assert(
    fc.property(trees, scopes, (ast, names) => {
      const outcome = actual(ast, names);
      // The reference has no budget; nothing else may differ.
      if ("code" in outcome && outcome.code === "budget_exceeded") return;
      expect(outcome).toEqual(expected(ast, new Map(Object.entries(names)) as never));
    }),
    { numRuns: RUNS },
  );
});

test("a tree that is printed and read again means the same", () => {
  fc.assert(
    fc.property(trees, scopes, (ast, names) => {
      const source = printExpression(ast);
      expect(
        parseExpression(source).diagnostics.filter(({ severity }) => severity === "error"),
      ).toEqual([]);
      expect(actual(source, names)).toEqual(actual(ast, names));
    }),
    { numRuns: RUNS },
  );
});

test("inputs are never changed", () => {
  fc.assert(
    fc.property(trees, scopes, (ast, names) => {
      const before = JSON.stringify(names);
      actual(ast, names);
      expect(JSON.stringify(names)).toBe(before);
    }),
    { numRuns: RUNS / 5 },
  );
});

test("where all names are `any`, no error is reported of an expression that has a value", () => {
  const env = {
    get: (root: string) => (root === "unknown" ? undefined : ({ kind: "any" } as const)),
  };
  fc.assert(
    fc.property(trees, scopes, (ast, names) => {
      const { diagnostics } = inferType(ast, env);
      const outcome = actual(ast, { x: null, y: null, ...names });
      if (diagnostics.length === 0 && "code" in outcome)
        expect(outcome.code).not.toBe("unknown_name");
      const sure =
        isStrict(ast) && diagnostics.some(({ code }) => code === "FLOW5002" || code === "FLOW5005");
      if (sure) expect(outcome).toHaveProperty("code");
    }),
    { numRuns: RUNS },
  );
});

/** Every part of the tree is evaluated whenever the whole is. */
function isStrict(node: Expression): boolean {
  switch (node.kind) {
    case "conditional":
      return false;
    case "binary":
      return !["??", "&&", "||"].includes(node.op) && isStrict(node.left) && isStrict(node.right);
    case "call":
      return !MACROS.includes(node.name) && node.args.every(isStrict);
    case "member":
      return !node.optional && isStrict(node.object);
    case "index":
      return isStrict(node.object) && isStrict(node.index);
    case "list":
      return node.elements.every(isStrict);
    case "object":
      return node.entries.every(({ value }) => isStrict(value));
    case "template":
      return node.parts.every((part) => typeof part === "string" || isStrict(part));
    case "unary":
      return isStrict(node.operand);
    default:
      return true;
  }
}
