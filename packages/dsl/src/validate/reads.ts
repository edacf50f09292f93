/** Every expression of a graph, read once: its tree, what its names mean, and where it stands in the text. */
import type { Diagnostic } from "@millrace/contracts";
import type { DiagnosticCode } from "../diagnostics.ts";
import type { Expression } from "../expression/ast.ts";
import { parseExpression } from "../expression/parse.ts";
import { findReferences, type ReferencePlace } from "../expression/references.ts";
import type { NodeModel } from "../model/bodies.ts";
import { type Meaning, meaningOf } from "../model/resolve.ts";
import { rootsOf, type Site, siteLeaves } from "../model/sites.ts";
import type { Leaf } from "../model/values.ts";
import type { Validation } from "./context.ts";

/** A reference with its meaning. */
export interface Read {
  readonly reference: ReferencePlace;
  readonly meaning: Meaning;
}

/** One expression of a graph. */
export interface ReadLeaf {
  readonly site: Site;
  readonly leaf: Leaf;
  readonly tree: Expression;
  /** The offsets of the tree are those of the text; else they count in the source of the expression. */
  readonly inText: boolean;
  readonly roots: readonly string[];
  readonly reads: readonly Read[];
}

/** Reads all expressions. What is no expression is reported with the code of the parser. */
export function readExpressions(run: Validation): readonly ReadLeaf[] {
  const trees: Trees = new Map();
  const leaves: ReadLeaf[] = [];
  for (const site of run.sites) {
    for (const leaf of siteLeaves(site)) {
      const written = run.places.expression(leaf.pointer, leaf.source);
      const tree = written ?? parsed(run, leaf, trees);
      if (tree === undefined) continue;
      const roots = rootsOf(site, leaf);
      const reads = findReferences(tree).map((reference) => ({
        reference,
        meaning: meaningOf(reference, site.body, roots),
      }));
      leaves.push({ site, leaf, tree, inText: written !== undefined, roots, reads });
    }
  }
  return leaves;
}

/** Trees by source; what is no expression has its errors instead. */
type Trees = Map<string, Expression | readonly Diagnostic[]>;

function parsed(run: Validation, leaf: Leaf, trees: Trees): Expression | undefined {
  let result = trees.get(leaf.source);
  if (result === undefined) {
    const { ast, diagnostics } = parseExpression(leaf.source);
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    result = ast === undefined || errors.length > 0 ? errors : ast;
    trees.set(leaf.source, result);
  }
  if ("kind" in result) return result;
  for (const diagnostic of result) pass(run, diagnostic, leaf.pointer);
  return undefined;
}

/** Passes on what another part of the language found in an expression without a place in the text. */
export function pass(run: Validation, diagnostic: Diagnostic, pointer: string): void {
  const { code, message, hint, severity } = diagnostic;
  run.findings.add(code as DiagnosticCode, pointer, { message, hint: hint ?? null, severity });
}

/** The nodes that a read waits for, as seen from the reader. */
export function nodeRead(read: Read): NodeModel | undefined {
  return read.meaning.kind === "node" ? read.meaning.node : undefined;
}
