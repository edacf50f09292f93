/**
 * `validateFlow`: everything that can be known of a graph before it runs. All phases run whatever earlier ones found.
 *   V1  never throws, whatever the graph; no code of extensions runs.
 *   V2  O(nodes + edges + references), without recursion over the graph.
 */
import type { Diagnostic, FlowGraph } from "@millrace/contracts";
import { parseExpression } from "../expression/parse.ts";
import type { FlowDocument } from "../text/document.ts";
import { checkAi } from "./ai.ts";
import type { FlowCatalog } from "./catalog.ts";
import { Validation } from "./context.ts";
import { checkCycles } from "./cycles.ts";
import { checkDeclarations } from "./declarations.ts";
import { checkEdges } from "./edges.ts";
import { checkExpressions } from "./expressions.ts";
import { checkFields } from "./fields.ts";
import { checkNames } from "./names.ts";
import { checkNodeTypes } from "./node-types.ts";
import { ordersOf } from "./order.ts";
import { Places } from "./places.ts";
import { checkPolicies } from "./policies.ts";
import { checkPresence } from "./presence.ts";
import { readExpressions } from "./reads.ts";
import { checkLiterals } from "./secrets.ts";
import { checkSinks } from "./security.ts";
import { checkShape } from "./shape.ts";
import { checkStyle } from "./style.ts";
import { checkSubflows } from "./subflows.ts";

/** Options of `validateFlow`. */
export interface ValidateOptions {
  /** The document that the graph was read from; adds ranges, fixes and related places. */
  readonly document?: FlowDocument;
  /** Also style (family 9); default false. */
  readonly lint?: boolean;
}

/**
 * Checks a graph against a catalog: names, fields, graph, expressions, security. Sorted by offset, then code, when the
 * document is given. Never throws, also for values that are no graph.
 */
export function validateFlow(
  graph: FlowGraph,
  catalog: FlowCatalog,
  options: ValidateOptions = {},
): Diagnostic[] {
  const run = new Validation(graph, catalog, new Places(options.document));
  checkShape(run);
  checkNames(run);
  checkNodeTypes(run);
  checkFields(run, writtenNumber);
  checkPolicies(run, writtenNumber);
  checkDeclarations(run);
  checkEdges(run);
  checkSubflows(run);
  checkAi(run);
  const leaves = readExpressions(run);
  const types = checkExpressions(run, leaves);
  const orders = ordersOf(run, leaves);
  checkCycles(run, orders);
  checkPresence(run, orders, leaves);
  checkSinks(run, leaves, types);
  checkLiterals(run, leaves);
  if (options.lint) checkStyle(run, orders, options.document);
  return run.findings.list();
}

/** A duration or a negative number: written as an expression, but its value is known. */
function writtenNumber(source: string): number | undefined {
  if (!/^-?\d/.test(source)) return undefined;
  const { ast } = parseExpression(source);
  const negated = ast?.kind === "unary" && ast.op === "-";
  const operand = negated ? ast.operand : ast;
  const value =
    operand?.kind === "duration"
      ? operand.ms
      : operand?.kind === "literal" && typeof operand.value === "number"
        ? operand.value
        : undefined;
  return value === undefined ? undefined : negated ? -value : value;
}
