/** From places of a graph to stretches of the text that it was read from. The text is looked through once something is found. */

import { findReferences, type ReferencePlace } from "../expression/references.ts";
import { dataOf, type FlowDocument, isDocument } from "../read/document.ts";
import { type Mark, type Places, placesOf } from "../read/locate.ts";
import type { Expression, Span } from "../syntax/ast.ts";
import { nameText, printExpression, quoteText } from "../syntax/print-expression.ts";
import type { Leaf } from "./model/sites.ts";

/** Where the places of a graph are in its text; without a document nowhere. */
export class SourceMap {
  readonly source: string | undefined;
  readonly #document: FlowDocument | undefined;
  readonly #expressions = new WeakMap<Leaf, Expression | "other">();
  readonly #references = new WeakMap<Leaf, readonly ReferencePlace[]>();

  constructor(document: FlowDocument | undefined) {
    if (!isDocument(document)) return;
    this.#document = document;
    this.source = dataOf(document).source;
  }

  /** Every place that was written. */
  get marks(): ReadonlyMap<string, Mark> {
    return this.#document === undefined ? NO_MARKS : placesOf(this.#document).marks;
  }

  /** Lines and columns of stretches; undefined: there is no text. */
  get range(): Places["range"] | undefined {
    return this.#document && placesOf(this.#document).range;
  }

  /** Parts of the text that are not in the graph; undefined when there are none, or no text. */
  get losses(): Places | undefined {
    const losses = this.#document && placesOf(this.#document);
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
    let written = this.#expressions.get(leaf);
    if (written === undefined) {
      const found = this.marks.get(leaf.pointer)?.expression;
      written = found && printExpression(found) === leaf.source ? found : "other";
      this.#expressions.set(leaf, written);
    }
    return written === "other" ? undefined : written;
  }

  /** The stretch of the name that an expression reads, by its place among the references. */
  reference(leaf: Leaf, index: number): { name: Span; whole: Span } | undefined {
    let places = this.#references.get(leaf);
    if (places === undefined) {
      const written = this.expression(leaf);
      places = written ? findReferences(written) : [];
      this.#references.set(leaf, places);
    }
    const found = places[index];
    return found && { name: found.name, whole: { start: found.start, end: found.end } };
  }

  /** The text of a stretch. */
  text(span: Span): string {
    return this.source?.slice(span.start, span.end) ?? "";
  }
}

/** The key in front of a value, as in `name = value`, when it is spelt as `name`. */
export function keyBefore(source: string, { start }: Span, name: string): Span | undefined {
  const before = source.slice(0, start).trimEnd();
  if (!before.endsWith("=") && !before.endsWith(":")) return undefined;
  const head = before.slice(0, -1).trimEnd();
  const spelt = [nameText(name), quoteText(name)].find((each) => head.endsWith(each));
  return spelt === undefined ? undefined : { start: head.length - spelt.length, end: head.length };
}

const NO_MARKS: ReadonlyMap<string, Mark> = new Map();
