/**
 * The trees of the sources of graphs. Whoever checks a flow, compiles it and checks it again asks for the same ones, so the
 * latest are kept: each expression is parsed once.
 */
import type { Diagnostic } from "@millrace/contracts";
import type { Expression } from "./ast.ts";
import { parseExpression } from "./parse-expression.ts";

/** UTF-16 units of the sources whose trees are kept, counted with some for the entry itself: a few megabytes of trees. */
const MAX_UNITS = 200_000;
const UNITS_PER_ENTRY = 16;

/** A tree, or the errors of what is no expression. */
export type Tree = Expression | readonly Diagnostic[];

const kept = /* @__PURE__ */ new Map<string, Tree>();
let units = 0;

/** The tree of a source; of what is no expression the errors instead. It is shared, and never changed. */
export function treeOf(source: string): Tree {
  const known = kept.get(source);
  if (known !== undefined) return known;
  const { ast, diagnostics } = parseExpression(source);
  const tree = ast ?? diagnostics.filter(({ severity }) => severity === "error");
  units += source.length + UNITS_PER_ENTRY;
  if (units > MAX_UNITS) {
    kept.clear();
    units = 0;
  } else kept.set(source, tree);
  return tree;
}
