/**
 * What may stand at the cursor.
 *   C1  nothing in comments and in plain text.
 *   C2  a completion replaces the identifier around the cursor, or the text of the string, and nothing else.
 */

import { isDigit } from "../../syntax/chars.ts";
import type { Reading } from "../reading.ts";
import type { Completion } from "../types.ts";
import { type CursorContext, contextAt } from "./context.ts";
import { expressionOffers, indexOffers } from "./expressions.ts";
import { completion, type Offer } from "./offer.ts";
import { edgeOffers, headOffers, isEdgeEnd, itemOffers, policyOffers } from "./structure.ts";
import { keyOffers, valueOffers, valuePlace } from "./values.ts";

/** The completions at an offset, by rank, then label. */
export function completionsAt(reading: Reading, offset: number): readonly Completion[] {
  const at = Math.min(Math.max(Math.trunc(offset) || 0, 0), reading.text.length);
  const context = contextAt(reading, at);
  const unique = new Map<string, Completion>();
  for (const offer of offersAt(context)) {
    const key = `${offer.kind === "policy" ? "@" : ""}${offer.label}`;
    if (!unique.has(key)) unique.set(key, completion(context, offer));
  }
  return [...unique.values()].sort(
    (a, b) => a.rank - b.rank || (a.label < b.label ? -1 : a.label > b.label ? 1 : 0),
  );
}

/** Nothing more of a value follows. */
const END = /^[ \t]*(?:[,;}\])#\r\n]|$)/;

function offersAt(context: CursorContext): Iterable<Offer> {
  const { place, block, before, from, to } = context;
  const { text } = context.reading;
  if (place.inside === "comment" || place.inside === "block-string") return [];
  const { level, inner } = block;
  const isCode = place.inside === "code";
  // A number: no name takes its place.
  if (isCode && isDigit(text.charCodeAt(from))) return [];
  if (inner.some(({ kind }) => kind === "type")) return headOffers(context);
  if (level.equalsAt < 0 && inner.length === 0) {
    if (!isCode) return [];
    if (level.hasArrow || isEdgeEnd(before)) return edgeOffers(context);
    if (before === "@") return policyOffers(context);
    return before === "" ? itemOffers(context) : headOffers(context);
  }
  if (level.equalsAt < 0) return []; // the meta of an edge, or a bracket where none belongs
  const value = valuePlace(context);
  if (value.isKey) return isCode ? keyOffers(context, value) : [];
  // A text with holes is none of a list, and no index that is known.
  if (!isCode && text.slice(from, to).includes("${")) return [];
  const isOnly = value.isWhole && (!isCode || END.test(text.slice(to)));
  const choices = isOnly ? [...valueOffers(context, value)] : [];
  if (!isCode) return [...choices, ...indexOffers(context, value)];
  return value.isLiteral ? choices : [...choices, ...expressionOffers(context, value)];
}
