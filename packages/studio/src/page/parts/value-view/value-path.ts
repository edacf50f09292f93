/** The expression that reads a part of a value, such as `fetch.body.items[0]`. */
import { type Expression, parseExpression, printExpression } from "@millrace/dsl";
import type { Step } from "./value-text.ts";

const SPAN = { start: 0, end: 0 };

/** The expression of a place in the value that `expression` reads; undefined where that is no expression. */
export function pathExpression(expression: string, path: readonly Step[]): string | undefined {
  const { ast } = parseExpression(expression);
  if (ast === undefined) return undefined;
  return printExpression(
    path.reduce<Expression>(
      (object, step) =>
        typeof step === "number"
          ? { kind: "index", object, index: { kind: "literal", value: step, ...SPAN }, ...SPAN }
          : { kind: "member", object, name: step, optional: false, ...SPAN },
      ast,
    ),
  );
}
