/** Trees of the expressions of one graph, by source: generated flows repeat themselves. */
import type { Diagnostic } from "@millrace/contracts";
import type { Expression } from "../../syntax/ast.ts";
import { parseExpression } from "../../syntax/parse-expression.ts";

/** Trees that are kept; sources that are all different would only hold memory. */
const MAX_KEPT = 1000;

export class TreeCache {
  readonly #trees = new Map<string, Expression | readonly Diagnostic[]>();

  /** The tree of a source; of what is no expression the errors instead. */
  get(source: string): Expression | readonly Diagnostic[] {
    const known = this.#trees.get(source);
    if (known !== undefined) return known;
    const { ast, diagnostics } = parseExpression(source);
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    const result = ast === undefined || errors.length > 0 ? errors : ast;
    if (this.#trees.size >= MAX_KEPT) this.#trees.clear();
    this.#trees.set(source, result);
    return result;
  }
}
