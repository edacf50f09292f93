/** One text as every answer needs it: its items, its places, its graph as validation sees it, and its expressions as written. */

import type { BodyModel, GraphModel, NodeModel } from "../check/model/bodies.ts";
import { completeGraph } from "../check/model/bodies.ts";
import { type Read, readsOf } from "../check/model/resolve.ts";
import { Leaf, outputSites, type Site, sitesOfNode } from "../check/model/sites.ts";
import { visitValue } from "../check/model/walk-value.ts";
import { Expressions } from "../check/rules/expressions.ts";
import type { Types } from "../check/rules/types.ts";
import { SourceMap } from "../check/source-map.ts";
import { Validation } from "../check/validation.ts";
import type { Item } from "../language/items.ts";
import { type Places, readWholeInSteps, type WholeText } from "../read/locate.ts";
import type { ParseResult } from "../read/parse-flow.ts";
import { SharedWork } from "../steps.ts";
import type { Expression, Span } from "../syntax/ast.ts";
import type { Project } from "./types.ts";

/** An expression with its place in the text; the offsets of `tree` are those of the text. */
export interface WrittenExpression extends Span {
  readonly leaf: Leaf;
  readonly tree: Expression;
  /** Its references, in the order of `findReferences(tree)`. */
  readonly reads: readonly Read[];
}

/** A text. Each part is made when it is first asked for. */
export class Reading {
  readonly text: string;
  readonly project: Project;
  readonly #whole: SharedWork<WholeText>;
  #validation: Validation | undefined;
  #expressions: Expressions | undefined;
  #written: readonly WrittenExpression[] | undefined;
  readonly #typed = new Set<BodyModel>();

  constructor(text: string, project: Project) {
    this.text = text;
    this.project = project;
    this.#whole = new SharedWork(() => readWholeInSteps(text));
  }

  /** Reads the text, as far as that is not done yet; an item of the file a step. */
  readInSteps(): Generator<void, WholeText> {
    return this.#whole.steps();
  }

  get parsed(): ParseResult {
    return this.#whole.result.parsed;
  }

  /** The items of the file as written, those that could be read. */
  get items(): readonly Item[] {
    return this.#whole.result.items;
  }

  /** Where the places of the graph are in the text. */
  get places(): Places {
    return this.#whole.result.places;
  }

  /** The stretch of a place of the graph; undefined: it was not written. */
  span(pointer: string): Span | undefined {
    return this.places.marks.get(pointer);
  }

  /** The graph as validation sees it. Nothing is reported to it that anybody reads. */
  get validation(): Validation {
    this.#validation ??= new Validation(
      completeGraph(this.parsed.graph),
      this.project,
      new SourceMap(this.parsed.document),
    );
    return this.#validation;
  }

  get model(): GraphModel {
    return this.validation.model;
  }

  /** Every expression that stands in the text as in the graph, by offset. */
  get expressions(): readonly WrittenExpression[] {
    if (this.#written === undefined) {
      const { validation, model } = this;
      const sites = [...model.nodes.flatMap(sitesOfNode), ...outputSites(validation.graph, model)];
      this.#written = this.#resolve(sites);
    }
    return this.#written;
  }

  /** The expression around an offset; only those of the node there, or of outputs, are looked at. */
  expressionAt(offset: number): WrittenExpression | undefined {
    const { validation, model } = this;
    const node = this.nodeAt(offset);
    const outputs = outputSites(validation.graph, model).filter(({ reader }) => reader === node);
    const sites = [...(node === undefined ? [] : sitesOfNode(node)), ...outputs];
    return this.#resolve(sites).findLast(({ start, end }) => start <= offset && offset <= end);
  }

  /** Types of what the expressions of a body may read; the elements of the lists around it are known. */
  types(body: BodyModel): Types {
    this.#expressions ??= new Expressions(this.validation);
    const inside: BodyModel[] = [];
    for (let at: BodyModel | undefined = body; at !== undefined; at = at.outer) inside.unshift(at);
    for (const each of inside) {
      if (each.owner === undefined || this.#typed.has(each)) continue;
      this.#typed.add(each);
      for (const leaf of leavesOf(sitesOfNode(each.owner).filter(({ name }) => name === "items"))) {
        this.#expressions.check(leaf);
      }
    }
    return this.#expressions.types;
  }

  /** The innermost node whose block holds an offset, or ends at it. */
  nodeAt(offset: number): NodeModel | undefined {
    let found: NodeModel | undefined;
    let nodes: readonly NodeModel[] = this.model.root.nodes;
    for (;;) {
      const inner = nodes.find((node) => {
        const span = this.span(node.pointer);
        return span !== undefined && span.start <= offset && offset <= span.end;
      });
      if (inner === undefined) return found;
      found = inner;
      nodes = inner.inner?.nodes ?? [];
    }
  }

  #resolve(sites: readonly Site[]): readonly WrittenExpression[] {
    const { validation } = this;
    const found: WrittenExpression[] = [];
    for (const leaf of leavesOf(sites)) {
      const tree = validation.map.expression(leaf);
      if (tree === undefined) continue;
      const reads = readsOf(tree, leaf.site.body, leaf.roots);
      found.push({ leaf, tree, reads, start: tree.start, end: tree.end });
    }
    return found.sort((a, b) => a.start - b.start);
  }
}

/** The expressions of some values, in order. */
function leavesOf(sites: readonly Site[]): readonly Leaf[] {
  const leaves: Leaf[] = [];
  for (const site of sites) {
    const expression = (...[source, path, hole, alone]: LeafParts): void => {
      leaves.push(new Leaf(site, source, path, hole, alone));
    };
    visitValue(site.value, { expression }, site.schemas);
  }
  return leaves;
}

type LeafParts = ConstructorParameters<typeof Leaf> extends [Site, ...infer Parts] ? Parts : never;
