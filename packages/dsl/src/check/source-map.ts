/** From places of a graph to stretches of the text that it was read from. The text is looked through once something is found. */

import { findReferences, type ReferencePlace } from "../expression/references.ts";
import { dataOf, type FlowDocument, isDocument } from "../read/document.ts";
import { type Losses, lossesOf, type Mark, marksOf } from "../read/locate.ts";
import type { Expression, Span } from "../syntax/ast.ts";
import { printExpression } from "../syntax/print-expression.ts";
import type { Leaf } from "./model/sites.ts";

interface Written {
  readonly expression: Expression | undefined;
  /** Its references, once one of them is asked for. */
  references: readonly ReferencePlace[] | undefined;
}

/** Where the places of a graph are in its text; without a document nowhere. */
export class SourceMap {
  readonly source: string | undefined;
  readonly #document: FlowDocument | undefined;
  readonly #written = new WeakMap<Leaf, Written>();

  constructor(document: FlowDocument | undefined) {
    if (!isDocument(document)) return;
    this.#document = document;
    this.source = dataOf(document).source;
  }

  /** Every place that was written. */
  get marks(): ReadonlyMap<string, Mark> {
    return this.#document === undefined ? NO_MARKS : marksOf(this.#document);
  }

  /** What of the text is not in the graph; undefined: all of it is, or there is no text. */
  get losses(): Losses | undefined {
    const losses = this.#document && lossesOf(this.#document);
    return losses && losses.dropped.length + losses.errors.length > 0 ? losses : undefined;
  }

  /** The stretch of exactly this place. */
  exact(pointer: string): Span | undefined {
    return this.marks.get(pointer);
  }

  /** The stretch of the place, else that of the nearest place around it. */
  around(pointer: string): Span | undefined {
    const { marks } = this;
    for (let at = pointer; ; at = at.slice(0, at.lastIndexOf("/"))) {
      const mark = marks.get(at);
      if (mark !== undefined || at === "") return mark;
    }
  }

  /** The expression that the author wrote at a place, when it still is that of the graph; its offsets are those of the text. */
  expression(leaf: Leaf): Expression | undefined {
    return this.#read(leaf).expression;
  }

  /** The stretch of the name that an expression reads, by its place among the references. */
  reference(leaf: Leaf, index: number): { name: Span; whole: Span } | undefined {
    const written = this.#read(leaf);
    written.references ??= written.expression ? findReferences(written.expression) : [];
    const found = written.references[index];
    return found && { name: found.name, whole: { start: found.start, end: found.end } };
  }

  /** What the author wrote at a place, compared with the graph once, however many findings it has. */
  #read(leaf: Leaf): Written {
    const known = this.#written.get(leaf);
    if (known !== undefined) return known;
    const expression = this.marks.get(leaf.pointer)?.expression;
    const isSame = expression !== undefined && printExpression(expression) === leaf.source;
    const written: Written = { expression: isSame ? expression : undefined, references: undefined };
    this.#written.set(leaf, written);
    return written;
  }

  /** The text of a stretch. */
  text(span: Span): string {
    return this.source?.slice(span.start, span.end) ?? "";
  }
}

const NO_MARKS: ReadonlyMap<string, Mark> = new Map();
