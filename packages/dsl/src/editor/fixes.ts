/** Fixes of findings, as edits. */

import type { Diagnostic } from "@millrace/contracts";
import type { QuickFix, TextEdit } from "./types.ts";

type Fix = NonNullable<Diagnostic["fixes"]>[number];

/** Every fix of the findings that overlap or touch a stretch, in the order of the findings. */
export function fixesAt(
  diagnostics: readonly Diagnostic[],
  from: number,
  to: number,
): readonly QuickFix[] {
  return diagnostics
    .filter(({ range }) => range && range.start.offset <= to && from <= range.end.offset)
    .flatMap((diagnostic) =>
      (diagnostic.fixes ?? []).map((fix) => ({
        title: fix.title,
        diagnostic,
        edits: editsOf(fix),
      })),
    );
}

/** Findings of reading and of single values: what they mean is certain, and so is what was meant. */
const CERTAIN = /^FLOW[123]/;

/**
 * The first fix of every finding of families 1 to 3, in their order. One that overlaps or touches an earlier one is left out as a
 * whole: made after that one it may no longer be right.
 */
export function certainFixes(diagnostics: readonly Diagnostic[]): readonly QuickFix[] {
  const taken: TextEdit[] = [];
  return diagnostics.flatMap((diagnostic) => {
    const fix = CERTAIN.test(diagnostic.code) ? diagnostic.fixes?.[0] : undefined;
    if (!fix) return [];
    const edits = editsOf(fix);
    if (edits.some((edit) => isTaken(taken, edit))) return [];
    for (const edit of edits) taken.splice(placeIn(taken, edit), 0, edit);
    return [{ title: fix.title, diagnostic, edits }];
  });
}

/** The edits of all certain fixes. */
export function fixAll(diagnostics: readonly Diagnostic[]): readonly TextEdit[] {
  return sortedEdits(certainFixes(diagnostics).flatMap(({ edits }) => edits));
}

/** The edits of a fix by offset. */
function editsOf({ edits }: Fix): readonly TextEdit[] {
  const all = edits.map(({ range, newText }) => ({
    from: range.start.offset,
    to: range.end.offset,
    text: newText,
  }));
  return sortedEdits(all);
}

function sortedEdits(edits: readonly TextEdit[]): readonly TextEdit[] {
  return [...edits].sort((a, b) => a.from - b.from || a.to - b.to);
}

/** Whether an edit overlaps or touches one of a sorted list. */
function isTaken(taken: readonly TextEdit[], edit: TextEdit): boolean {
  const at = placeIn(taken, edit);
  const before = taken[at - 1];
  const behind = taken[at];
  return (
    (before !== undefined && before.to >= edit.from) ||
    (behind !== undefined && edit.to >= behind.from)
  );
}

/** The index of the first edit of a sorted list that starts behind the start of an edit. */
function placeIn(taken: readonly TextEdit[], { from }: TextEdit): number {
  let low = 0;
  let high = taken.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((taken[middle] as TextEdit).from <= from) low = middle + 1;
    else high = middle;
  }
  return low;
}
