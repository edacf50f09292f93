/**
 * From a place in the graph to the text and back. The places are found by reading the document once more, so they cannot
 * differ from what `parseFlow` did; they are kept as long as the document lives.
 */

import type { Range } from "@millrace/contracts";
import { lineIndex } from "../diagnostics/bag.ts";
import type { Report } from "../diagnostics/report.ts";
import type { Marks } from "../language/field-value.ts";
import type { Item } from "../language/items.ts";
import type { Expression, Span } from "../syntax/ast.ts";
import { dataOf, type FlowDocument } from "./document.ts";
import { limitsOf, type ParseResult, parseResultOf } from "./parse-flow.ts";
import { readText, readTextInSteps } from "./read-text.ts";

/** A stretch of the text, with the expression when one was written there. */
export interface Mark {
  readonly start: number;
  readonly end: number;
  readonly expression: Expression | undefined;
}

/** Places of the parts of a graph in its text, and the parts of the text that were not read. */
export interface Places {
  /** Every place of the graph that was written, by JSON Pointer. */
  readonly marks: ReadonlyMap<string, Mark>;
  /** Stretches of which nothing is in the graph. */
  readonly dropped: readonly Span[];
  /** Where errors are; what is around them may be incomplete. */
  readonly errors: readonly Span[];
  readonly range: (start: number, end: number) => Range;
}

class MarkMap implements Marks {
  readonly places = new Map<string, Mark>();

  add(pointer: string, start: number, end: number, expression?: Expression): void {
    this.places.set(pointer, { start, end, expression });
  }
}

const kept = new WeakMap<FlowDocument, Places>();

/** The places of a document, found once. */
export function placesOf(document: FlowDocument): Places {
  const known = kept.get(document);
  if (known !== undefined) return known;
  const { source, limits } = dataOf(document);
  const { collected, report } = readText(source, limits, {
    collect: () => ({ marks: new MarkMap() }),
  });
  return keepPlaces(document, source, collected.marks, report);
}

/** A text with everything that one reading of it gives. */
export interface WholeText {
  /** Result of `parseFlow`; the places of its document are known. */
  readonly parsed: ParseResult;
  readonly places: Places;
  /** The items of the file, in order. */
  readonly items: readonly Item[];
}

/** Reads a text once for its graph, its places and its items; an item of the file a step. */
export function* readWholeInSteps(text: string): Generator<void, WholeText> {
  const limits = limitsOf({});
  const reading = yield* readTextInSteps(text, limits, {
    collect: () => {
      const items: Item[] = [];
      return { marks: new MarkMap(), items, add: (item: Item): number => items.push(item) };
    },
  });
  const { marks, items } = reading.collected;
  const parsed = parseResultOf(text, limits, reading);
  return { parsed, places: keepPlaces(parsed.document, text, marks, reading.report), items };
}

function keepPlaces(
  document: FlowDocument,
  source: string,
  { places: marks }: MarkMap,
  { dropped, errors }: Report,
): Places {
  const places = { marks, range: lineIndex(source), dropped, errors };
  kept.set(document, places);
  return places;
}

/**
 * The text of a place of the graph: `/nodes/0` is the whole block, `/nodes/0/id` its name, `/nodes/0/fields/url` the
 * value. Undefined when nothing was written there.
 */
export function locate(document: FlowDocument, pointer: string): Range | undefined {
  const places = placesOf(document);
  const mark = places.marks.get(pointer);
  return mark && places.range(mark.start, mark.end);
}

/** The JSON Pointer of the smallest place of the graph that holds an offset of the text; "" when there is none but the flow. */
export function pointerAt(document: FlowDocument, offset: number): string {
  let found = "";
  let length = Number.POSITIVE_INFINITY;
  for (const [pointer, mark] of placesOf(document).marks) {
    const size = mark.end - mark.start;
    if (mark.start > offset || offset >= mark.end || size > length) continue;
    if (size === length && FORM.test(pointer)) continue;
    length = size;
    found = pointer;
  }
  return found;
}

/** Suffix of pointers that only the graph has, such as `/nodes/0/fields/url/$`: the text is that of the value. */
const FORM = /\/\$(?:t|lit)?$/;
