/** From places of a graph to stretches of the text that it was read from. */
import type { Expression } from "../expression/ast.ts";
import { printExpression } from "../expression/print.ts";
import { dataOf, type FlowDocument, isDocument } from "../text/document.ts";
import { type Mark, marksOf } from "../text/locate.ts";

/** Offsets into the text, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where the places of a graph are in its text; without a document nowhere. */
export class Places {
  readonly source: string | undefined;
  private readonly marks: ReadonlyMap<string, Mark> = new Map();

  constructor(document: FlowDocument | undefined) {
    if (!isDocument(document)) return;
    this.source = dataOf(document).source;
    this.marks = marksOf(document);
  }

  /** The stretch of exactly this place. */
  exact(pointer: string): Span | undefined {
    return this.marks.get(pointer);
  }

  /** The stretch of the place, else that of the nearest place around it. */
  around(pointer: string): Span | undefined {
    for (let at = pointer; ; at = at.slice(0, at.lastIndexOf("/"))) {
      const mark = this.marks.get(at);
      if (mark !== undefined || at === "") return mark;
    }
  }

  /** The expression that the author wrote at a place, when it still is the graph's `source`. */
  expression(pointer: string, source: string): Expression | undefined {
    const expression = this.marks.get(pointer)?.expression;
    return expression !== undefined && printExpression(expression) === source
      ? expression
      : undefined;
  }

  /** The source of the smallest quoted text around an offset; undefined in a comment. */
  textAt(offset: number): string | undefined {
    let best: Mark | undefined;
    for (const mark of this.marks.values()) {
      if (mark.start > offset || mark.end <= offset || this.source?.[mark.start] !== '"') continue;
      if (best === undefined || mark.end - mark.start < best.end - best.start) best = mark;
    }
    return best && this.text(best);
  }

  /** The text of a stretch. */
  text(span: Span): string {
    return this.source?.slice(span.start, span.end) ?? "";
  }
}
