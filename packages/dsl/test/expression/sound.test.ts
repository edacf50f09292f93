/** Static types refuse nothing that evaluates: whatever has a value on some data has no error for the types of that data. */

import {
  type Expression,
  type FlowType,
  inferType,
  parseExpression,
  printExpression,
} from "@millrace/dsl";
import { casesOf } from "@millrace/test-support";
import fc from "fast-check";
import { expect, test } from "vitest";
import { codeOf } from "./evaluate.ts";
import { scopes, trees } from "./trees.ts";

/** The type that admits a value and says the most of it that a schema could. */
function typeOf(value: unknown): FlowType {
  if (value === null) return { kind: "null" };
  if (typeof value === "boolean") return { kind: "bool" };
  if (typeof value === "string") return { kind: "string" };
  if (typeof value === "number") return { kind: Number.isInteger(value) ? "int" : "number" };
  if (Array.isArray(value)) return { kind: "list", items: unionOf(value.map(typeOf)) };
  const props = Object.entries(value as object).map(([key, one]) => [key, typeOf(one)] as const);
  return { kind: "object", props: new Map(props), open: false };
}

/** A union as the checker makes it: at most one type of a kind, but for objects. */
function unionOf(types: readonly FlowType[]): FlowType {
  const env = { get: (name: string) => types[Number(name.slice(1))] };
  const list = `[${types.map((_, i) => `t${i}`).join()}]`;
  const { ast } = parseExpression(list);
  const { type } = inferType(ast as Expression, env);
  return (type as FlowType & { kind: "list" }).items;
}

/** A member that is not there reads as null, and a variable hides a name: no value is wrong, what is meant is. */
const ABOUT_NAMES: ReadonlySet<string> = new Set(["FLOW5001", "FLOW5009"]);

/** Errors of an expression at places that its evaluation reaches: with an unknown name there it has no value any more. */
function reachedErrors(source: string, names: object): string[] {
  const { ast } = parseExpression(source);
  const types = new Map(Object.entries(names).map(([name, value]) => [name, typeOf(value)]));
  const { diagnostics } = inferType(ast as Expression, { get: (root) => types.get(root) });
  return diagnostics
    .filter(({ severity }) => severity === "error")
    .filter(({ code, range }) => {
      if (ABOUT_NAMES.has(code)) return false;
      const [start, end] = [range?.start.offset, range?.end.offset];
      const broken = `${source.slice(0, start)}unknown${source.slice(end)}`;
      return codeOf(broken, names as never) === "unknown_name";
    })
    .map(({ code, message }) => `${code} ${message}`);
}

test("an expression that has a value has no error where it is evaluated", () => {
  let withValue = 0;
  fc.assert(
    fc.property(trees, scopes, (ast, names) => {
      const source = printExpression(ast);
      if (codeOf(source, names as never) !== "no error") return;
      withValue += 1;
      expect(reachedErrors(source, names), `${source} over ${JSON.stringify(names)}`).toEqual([]);
    }),
    { numRuns: casesOf(20_000) },
  );
  expect(withValue).toBeGreaterThan(casesOf(2_000));
});

test.each([
  "sortBy([], p, p.name)",
  "sortBy([], p, { a: p })",
  "sortBy([{ a: null }], p, p.a)",
  "map([], x, x.a.b + 1)",
  "filter([], x, x + 1)",
  "all([], x, 5)",
  "[][0]",
  "string([][0])",
  "first([]) == null",
  "sum([])",
  "min([])",
  'join([], ",")',
  "flatten([])",
  "flatten([[], [1]])",
  "[] + [1]",
  "unique([])",
  "fromEntries([])",
  "5 in []",
  "false ? 1 + true : 2",
  'true || "a"',
  "false && 5",
])("%s", (source) => {
  const { ast } = parseExpression(source);
  const { diagnostics } = inferType(ast as Expression, { get: () => undefined });
  expect(codeOf(source)).toBe("no error");
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
});
