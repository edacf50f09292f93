/**
 * What may stand at the cursor.
 *   C1  nothing in comments and in plain text.
 *   C2  a completion replaces the identifier around the cursor, and nothing else.
 */

import type { Reading } from "../reading.ts";
import type { Completion } from "../types.ts";
import { type CursorContext, contextAt } from "./context.ts";
import { expressionOffers } from "./expressions.ts";
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

function offersAt(context: CursorContext): Iterable<Offer> {
  const { place, block, before } = context;
  if (place.inside === "comment" || place.inside === "block-string") return [];
  const { level, inner } = block;
  if (inner.some(({ kind }) => kind === "type")) return headOffers(context);
  if (level.equalsAt < 0 && inner.length === 0) {
    if (place.inside === "string") return [];
    if (level.hasArrow || isEdgeEnd(before)) return edgeOffers(context);
    if (before === "@") return policyOffers(context);
    return before === "" ? itemOffers(context) : headOffers(context);
  }
  if (level.equalsAt < 0) return []; // the meta of an edge, or a bracket where none belongs
  const value = valuePlace(context);
  if (value.isKey) return place.inside === "string" ? [] : keyOffers(context, value);
  if (place.inside === "string") return value.isWhole ? valueOffers(context, value) : [];
  const choices = value.isWhole ? [...valueOffers(context, value)] : [];
  return value.isLiteral ? choices : [...choices, ...expressionOffers(context, value)];
}
