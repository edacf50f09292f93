/** What a condition of `expect` says when it does not hold: its text, and the value that it compares. */
import type { FieldValue, Json, JsonObject } from "@millrace/contracts";
import { compileValue, type Expression, parseExpression, printExpression } from "@millrace/dsl";
import type { CheckOutcome } from "./expect.ts";

/** Longest text of a condition in a message. */
const MAX_TEXT = 200;
const COMPARES: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);
/** Measures of an answer, which every log may hold: nothing of the answer can be read from them. */
const MEASURES: ReadonlySet<string> = new Set(["usage", "costUsd", "latencyMs", "finish"]);

/**
 * The rule of a failed condition, such as `size(output.reply) < 2 is false (28)`. A value that is no measure comes apart, for
 * readers that may see the answer. `roots`: the names of the answer. Undefined: the entry is no condition that was false.
 */
export function failedCondition(
  source: FieldValue,
  { rule }: CheckOutcome,
  roots: JsonObject,
): Pick<CheckOutcome, "rule" | "wanted"> | undefined {
  const when = memberOf(source, "when");
  const text = memberOf(source, "$") ?? memberOf(when, "$");
  if (typeof text !== "string" || rule.endsWith("must be true or false")) return undefined;
  const { ast } = parseExpression(text);
  if (ast === undefined) return undefined;
  const printed = printExpression(ast);
  const shown = printed.length > MAX_TEXT ? `${printed.slice(0, MAX_TEXT)}…` : printed;
  const said = `${shown} is ${rule.startsWith("must not") ? "true" : "false"}`;
  const compared = comparedSide(ast);
  const value = compared === undefined ? undefined : scalarOf(compared, roots);
  if (compared === undefined || value === undefined) return { rule: said };
  const ending = `(${JSON.stringify(value)})`;
  return isMeasure(compared) ? { rule: `${said} ${ending}` } : { rule: said, wanted: ending };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as { readonly [name: string]: unknown })[name]
    : undefined;
}

/** The side of a comparison that is no literal. */
function comparedSide(ast: Expression): Expression | undefined {
  if (ast.kind !== "binary" || !COMPARES.has(ast.op)) return undefined;
  return [ast.left, ast.right].find(({ kind }) => kind !== "literal" && kind !== "duration");
}

function isMeasure(ast: Expression): boolean {
  if (ast.kind === "call") return ast.name === "size";
  let at: Expression = ast;
  while (at.kind === "member") at = at.object;
  return at.kind === "name" && MEASURES.has(at.name);
}

/** A number, a truth value or a text that the names of the answer give; undefined: it needs more than the answer. */
function scalarOf(ast: Expression, roots: JsonObject): Json | undefined {
  try {
    const scope = {
      get: (name: string) => (Object.hasOwn(roots, name) ? roots[name] : undefined),
    };
    const value = compileValue({ $: printExpression(ast) }).evaluate(scope, { nowEpoch: 0 });
    return typeof value === "object" ? undefined : value;
  } catch {
    return undefined;
  }
}
