/** What to write for a value that may be absent. */
import type { Expression } from "../syntax/ast.ts";
import { printExpression } from "../syntax/print-expression.ts";
import type { FlowType } from "./flow-type.ts";

/** What an absent value of a kind is mostly read as. */
const EMPTY: { readonly [kind: string]: string } = {
  bool: "false",
  int: "0",
  list: "[]",
  number: "0",
  string: '""',
};

const READS: readonly string[] = ["name", "member", "index", "call"];

/** `x ?? 0` for a value that is read, of a type that has such an end. */
export function orElse(node: Expression, { kind }: FlowType): string | undefined {
  const empty = EMPTY[kind];
  if (empty === undefined || !READS.includes(node.kind)) return undefined;
  return `${printExpression(node)} ?? ${empty}`;
}
