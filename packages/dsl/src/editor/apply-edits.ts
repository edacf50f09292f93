/** Edits of a text, made. */

import { DslError } from "../errors.ts";
import type { TextEdit } from "./types.ts";

/**
 * The text with edits made, in whatever order they are listed; of two insertions at one place the first listed comes first.
 * Throws `DslError` code `edits_invalid` when an edit lies outside of the text or two overlap.
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const { from, to, text: made } of sortedEdits(edits)) {
    // Written so that it refuses NaN as well.
    if (!(from >= 0 && from <= to && to <= text.length)) {
      throw new DslError(
        "edits_invalid",
        `the edit from ${from} to ${to} is not within the ${text.length} units of the text; compute it for this text`,
      );
    }
    if (from < done) {
      throw new DslError(
        "edits_invalid",
        `the edit from ${from} to ${to} overlaps the one before it, which ends at ${done}; make one after the other`,
      );
    }
    parts.push(text.slice(done, from), made);
    done = to;
  }
  parts.push(text.slice(done));
  return parts.join("");
}

/** Edits in the order of a text. */
export function sortedEdits(edits: readonly TextEdit[]): readonly TextEdit[] {
  return [...edits].sort((a, b) => a.from - b.from || a.to - b.to);
}
