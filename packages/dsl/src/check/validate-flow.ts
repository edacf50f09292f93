/**
 * `validateFlow`: everything that can be known of a graph before it runs. All phases run whatever earlier ones found.
 *   V1  never throws, whatever the graph; no code of extensions runs.
 *   V2  O(nodes + edges + references), without recursion over the graph.
 *   V3  each expression is read once; what one leaves behind for the phases that look at the whole graph is a few numbers.
 */

import type { Diagnostic, FlowGraph } from "@millrace/contracts";
import { checkOptions } from "@millrace/contracts/options";
import { dataOf, type FlowDocument } from "../read/document.ts";
import type { ParseOptions, ParseResult } from "../read/parse-flow.ts";
import { PARSE_OPTIONS, parseFlow } from "../read/parse-flow.ts";
import { resultOf } from "../steps.ts";
import type { FlowCatalog } from "./catalog.ts";
import { withForeignFixes } from "./foreign/foreign-fixes.ts";
import type { NodeModel } from "./model/bodies.ts";
import { completeGraph } from "./model/bodies.ts";
import { Leaf, outputSites, type Site, sitesOfNode } from "./model/sites.ts";
import { type ValuePath, type ValueVisitor, visitValue } from "./model/walk-value.ts";
import { checkAi } from "./rules/ai.ts";
import { checkFlowField, checkFlowTools, checkServiceCall } from "./rules/calls.ts";
import { checkDeclarations, checkInputsRead } from "./rules/declarations.ts";
import { checkEdges, checkUnused } from "./rules/edges.ts";
import { type Checked, Expressions } from "./rules/expressions.ts";
import { checkField, checkFields } from "./rules/fields.ts";
import { checkNames } from "./rules/names.ts";
import { checkNodeType } from "./rules/node-types.ts";
import { checkCycles, Orders } from "./rules/order.ts";
import { checkOtherHoles } from "./rules/other-holes.ts";
import { checkPolicies } from "./rules/policies.ts";
import { checkPresence, type NeededRead } from "./rules/presence.ts";
import { checkRest, checkText, checkTexts, checkUrlField } from "./rules/secrets.ts";
import { checkShape } from "./rules/shape.ts";
import { checkStyle } from "./rules/style.ts";
import { checkSecrets, Sinks } from "./rules/taint.ts";
import { SourceMap } from "./source-map.ts";
import { Validation } from "./validation.ts";

/** Options of `validateFlow`. */
export interface ValidateOptions {
  /**
   * The document that the graph was read from; adds ranges, fixes and related places. Of a text with errors, nothing is
   * missed that may stand in the part that was not read.
   */
  readonly document?: FlowDocument;
  /** Also style (family 9); default false. */
  readonly lint?: boolean;
}

/**
 * Checks a graph against a catalog: names, fields, graph, expressions, security. Sorted by offset, then code, when the
 * document is given. Throws `TypeError` for an unknown option alone: values that are no graph have findings.
 */
export function validateFlow(
  given: FlowGraph,
  catalog: FlowCatalog,
  options: ValidateOptions = {},
): Diagnostic[] {
  checkOptions("validateFlow", options, { document: true, lint: true });
  return resultOf(validateInSteps(given, catalog, options));
}

/** `validateFlow` in steps: a phase, or a node, each. */
export function* validateInSteps(
  given: FlowGraph,
  catalog: FlowCatalog,
  options: ValidateOptions,
): Generator<void, Diagnostic[]> {
  const graph = completeGraph(given);
  const ctx = new Validation(graph, catalog, new SourceMap(options.document));
  yield;
  for (const check of [checkShape, checkNames, checkDeclarations, checkEdges]) {
    check(ctx);
    yield;
  }
  const walk = new Walk(ctx);
  for (const node of ctx.model.nodes) {
    walk.node(node);
    yield;
  }
  for (const site of outputSites(graph, ctx.model)) {
    walk.site(site);
    yield;
  }
  checkRest(ctx);
  yield;
  if (!walk.readsAllInputs) checkInputsRead(ctx, walk.inputs);
  if (walk.nodes) checkUnused(ctx, walk.nodes);
  const orders = walk.orders.finish();
  checkCycles(ctx, orders);
  yield;
  checkPresence(ctx, orders, walk.needed);
  yield;
  walk.sinks.report(ctx);
  if (options.lint) checkStyle(ctx, orders);
  yield;
  return ctx.diagnostics();
}

/** The one way through nodes and expressions, and what is gathered on it. */
class Walk implements ValueVisitor {
  readonly orders: Orders;
  readonly needed: NeededRead[] = [];
  readonly inputs = new Set<string>();
  /** Nodes that something reads; undefined: which ones is known in a run. */
  nodes: Set<NodeModel> | undefined = new Set();
  readsAllInputs = false;
  readonly sinks = new Sinks();
  readonly #ctx: Validation;
  readonly #expressions: Expressions;
  /** The value that is visited. */
  #site: Site | undefined;

  constructor(ctx: Validation) {
    this.#ctx = ctx;
    this.orders = new Orders(ctx.model.bodies);
    this.#expressions = new Expressions(ctx);
  }

  node(node: NodeModel): void {
    const ctx = this.#ctx;
    checkNodeType(ctx, node);
    checkFields(ctx, node);
    checkPolicies(ctx, node);
    if (node.entry?.type === "service.call") checkServiceCall(ctx, node);
    if (node.entry?.kind === "ai") {
      checkAi(ctx, node);
      checkFlowTools(ctx, node);
    }
    for (const site of sitesOfNode(node)) {
      if (!ctx.isReadable(site.value)) continue;
      if (site.kind === "field") {
        checkField(ctx, site);
        checkFlowField(ctx, site);
        checkUrlField(ctx, site);
      }
      this.#expressions.checkLiteral(site);
      this.site(site);
    }
  }

  site(site: Site): void {
    if (!this.#ctx.isReadable(site.value)) return;
    this.#site = site;
    visitValue(site.value, this, site.schemas);
  }

  text(text: string, path: ValuePath | undefined, key: string | number | undefined): void {
    const site = this.#site as Site;
    checkText(this.#ctx, site, text, path, key);
    checkOtherHoles(this.#ctx, this.#expressions.types, site, text, path);
  }

  expression(source: string, path: ValuePath | undefined, hole: number, alone: boolean): void {
    const leaf = new Leaf(this.#site as Site, source, path, hole, alone);
    const checked = this.#expressions.check(leaf);
    if (checked !== undefined) this.#gather(checked);
  }

  #gather(checked: Checked): void {
    const { leaf, reads } = checked;
    this.sinks.add(checked);
    checkTexts(this.#ctx, checked);
    checkSecrets(this.#ctx, checked);
    this.orders.addReads(leaf, reads);
    for (const read of reads) {
      const { node, kind, member } = read;
      if (node !== undefined) this.nodes?.add(node);
      else if (kind === "nodes") this.nodes = undefined;
      if (node !== undefined && !read.optional) this.needed.push({ leaf, read, node });
      else if (kind !== "inputs") continue;
      else if (member === undefined) this.readsAllInputs = true;
      else this.inputs.add(member);
    }
  }
}

/**
 * Reads a flow and checks it against a catalog: the findings of `parseFlow` and `validateFlow`, each once, sorted by offset,
 * then code. What could be read is checked also when the rest could not. Throws `TypeError` for what is neither text nor bytes,
 * and for an unknown option.
 */
export function checkFlow(
  source: string | Uint8Array,
  catalog: FlowCatalog,
  options: ParseOptions & { readonly lint?: boolean } = {},
): ParseResult {
  checkOptions("checkFlow", options, { ...PARSE_OPTIONS, lint: true });
  const { lint = false, ...limits } = options;
  const { graph, document, diagnostics } = parseFlow(source, limits);
  const found = mergeDiagnostics(diagnostics, validateFlow(graph, catalog, { document, lint }));
  const all =
    found.length === 0 ? found : withForeignFixes(dataOf(document).source, found, catalog);
  const ok = all.every(({ severity }) => severity !== "error");
  return { graph, document, diagnostics: all, ok };
}

/** Diagnostics of one flow from several checks: each once, sorted by offset, then code. */
export function mergeDiagnostics(...lists: readonly (readonly Diagnostic[])[]): Diagnostic[] {
  const unique = new Map(
    lists.flat().map((each) => [`${each.code} ${offsetOf(each)} ${each.message}`, each]),
  );
  return [...unique.values()].sort(
    (a, b) => offsetOf(a) - offsetOf(b) || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0),
  );
}

function offsetOf({ range }: Diagnostic): number {
  return range?.start.offset ?? Number.MAX_SAFE_INTEGER;
}
