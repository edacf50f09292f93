/** The language in one call, for tests. */
import type { Json } from "@millrace/contracts";
import { compileExpression, ExpressionError, type ExpressionLimits } from "@millrace/dsl";

/** 2026-01-31T09:30:15.250Z: what `now()` gives in tests. */
export const NOW = Date.UTC(2026, 0, 31, 9, 30, 15, 250);

export interface Names {
  readonly [name: string]: unknown;
}

/** The value of an expression over some names. */
export function evaluate(
  source: string,
  names: Names = {},
  limits: Partial<ExpressionLimits> = {},
): Json {
  return compileExpression(source, { limits }).evaluate(scopeOf(names), { nowEpoch: NOW });
}

/** The error of an expression: `code@offset+length`. */
export function errorOf(
  source: string,
  names: Names = {},
  limits: Partial<ExpressionLimits> = {},
): string {
  try {
    evaluate(source, names, limits);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return `${error.code}@${error.offset}+${error.length}`;
  }
  return "no error";
}

/** The code of the error of an expression. */
export function codeOf(source: string, names: Names = {}, limits: Partial<ExpressionLimits> = {}) {
  return errorOf(source, names, limits).split("@")[0];
}

export function scopeOf(names: Names): { get(root: string): Json | undefined } {
  return { get: (root) => (Object.hasOwn(names, root) ? (names[root] as Json) : undefined) };
}
