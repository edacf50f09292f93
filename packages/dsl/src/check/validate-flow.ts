/**
 * `validateFlow`: everything that can be known of a graph before it runs. All phases run whatever earlier ones found.
 *   V1  never throws, whatever the graph; no code of extensions runs.
 *   V2  O(nodes + edges + references), without recursion over the graph.
 *   V3  each expression is read once; what one leaves behind for the phases that look at the whole graph is a few numbers.
 */
import type { Diagnostic, FlowGraph } from "@millrace/contracts";
import type { FlowDocument } from "../read/document.ts";
import type { FlowCatalog } from "./catalog.ts";
import type { NodeModel } from "./model/bodies.ts";
import { completeGraph } from "./model/complete.ts";
import { Leaf, outputSites, type Site, sitesOfNode } from "./model/sites.ts";
import { visitValue } from "./model/walk-value.ts";
import { checkAi } from "./rules/ai.ts";
import { checkCycles } from "./rules/cycles.ts";
import { checkDeclarations, checkInputsRead } from "./rules/declarations.ts";
import { checkEdges } from "./rules/edges.ts";
import { type Checked, Expressions } from "./rules/expressions.ts";
import { checkField, checkFields } from "./rules/fields.ts";
import { checkNames } from "./rules/names.ts";
import { checkNodeType } from "./rules/node-types.ts";
import { Orders } from "./rules/order.ts";
import { checkOtherHoles } from "./rules/other-holes.ts";
import { checkPolicies } from "./rules/policies.ts";
import { checkPresence, type NeededRead } from "./rules/presence.ts";
import { Literals } from "./rules/secrets.ts";
import { Sinks } from "./rules/security.ts";
import { checkServiceCall } from "./rules/service-calls.ts";
import { checkShape } from "./rules/shape.ts";
import { checkStyle } from "./rules/style.ts";
import { checkFlowField, checkFlowTools } from "./rules/subflows.ts";
import { Places } from "./source-map.ts";
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
 * document is given. Never throws, also for values that are no graph.
 */
export function validateFlow(
  given: FlowGraph,
  catalog: FlowCatalog,
  options: ValidateOptions = {},
): Diagnostic[] {
  const graph = completeGraph(given);
  const run = new Validation(graph, catalog, new Places(options.document));
  checkShape(run);
  checkNames(run);
  checkDeclarations(run);
  checkEdges(run);
  const walk = new Walk(run);
  for (const node of run.model.nodes) walk.node(node);
  for (const site of outputSites(graph, run.model)) walk.site(site);
  walk.literals.finish();
  if (!walk.readsAllInputs) checkInputsRead(run, walk.inputs);
  const orders = walk.orders.finish();
  checkCycles(run, orders);
  checkPresence(run, orders, walk.needed);
  walk.sinks.report(run);
  if (options.lint) checkStyle(run, orders);
  return run.diagnostics();
}

/** The one way through nodes and expressions, and what is gathered on it. */
class Walk {
  readonly orders: Orders;
  readonly needed: NeededRead[] = [];
  readonly inputs = new Set<string>();
  readsAllInputs = false;
  readonly sinks = new Sinks();
  readonly literals: Literals;
  readonly #run: Validation;
  readonly #expressions: Expressions;

  constructor(run: Validation) {
    this.#run = run;
    this.orders = new Orders(run.model.bodies);
    this.literals = new Literals(run);
    this.#expressions = new Expressions(run);
  }

  node(node: NodeModel): void {
    const run = this.#run;
    checkNodeType(run, node);
    checkFields(run, node);
    checkPolicies(run, node);
    if (node.entry?.type === "service.call") checkServiceCall(run, node);
    if (node.entry?.kind === "ai") {
      checkAi(run, node);
      checkFlowTools(run, node);
    }
    for (const site of sitesOfNode(node)) {
      if (!run.isReadable(site.value)) continue;
      if (site.kind === "field") {
        checkField(run, site);
        checkFlowField(run, site);
        this.literals.url(site);
      }
      this.#expressions.checkLiteral(site);
      this.site(site);
    }
  }

  site(site: Site): void {
    if (!this.#run.isReadable(site.value)) return;
    visitValue(
      site.value,
      {
        text: (text, trail, key) => {
          this.literals.text(site, text, trail, key);
          checkOtherHoles(this.#run, this.#expressions.types, site, text, trail);
        },
        expression: (source, trail, hole, alone) => {
          const leaf = new Leaf(site, source, trail, hole, alone);
          const checked = this.#expressions.check(leaf);
          if (checked !== undefined) this.#gather(checked);
        },
      },
      site.schemas,
    );
  }

  #gather(checked: Checked): void {
    const { leaf, reads } = checked;
    this.sinks.add(checked);
    this.literals.expression(checked);
    this.orders.addReads(leaf, reads);
    for (const read of reads) {
      const { node, kind, member } = read;
      if (node !== undefined && !read.optional) this.needed.push({ leaf, read, node });
      else if (kind !== "inputs") continue;
      else if (member === undefined) this.readsAllInputs = true;
      else this.inputs.add(member);
    }
  }
}
