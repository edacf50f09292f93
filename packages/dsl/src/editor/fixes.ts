/** Fixes of findings, as edits. */

import type { Diagnostic } from "@millrace/contracts";
import { countBefore } from "../data.ts";
import { applyEdits, sortedEdits } from "./apply-edits.ts";
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

/**
 * Findings of reading and of single values, errors of expressions whose fix is in the tables of other languages, and holes of
 * other tools that name what is known here: what they mean is certain, and so is what was meant.
 */
const CERTAIN = /^FLOW(?:0003|[123]|4007|500[1238]|5012)/;

/**
 * The first fix of every finding that is certain, unless the fix itself is not, in their order. One that overlaps or touches an earlier one is left out as a
 * whole: made after that one it may no longer be right.
 */
export function certainFixes(diagnostics: readonly Diagnostic[]): readonly QuickFix[] {
  const taken: TextEdit[] = [];
  return diagnostics.flatMap((diagnostic) => {
    const fix = CERTAIN.test(diagnostic.code) ? diagnostic.fixes?.[0] : undefined;
    if (!fix || fix.uncertain === true) return [];
    const edits = editsOf(fix);
    if (edits.some((edit) => isTaken(taken, edit))) return [];
    for (const edit of edits) taken.splice(placeIn(taken, edit), 0, edit);
    return [{ title: fix.title, diagnostic, edits }];
  });
}

/** Most rounds over one text: a fix may let more be read, which may have fixes again. What is found later stays to be reported. */
const MAX_ROUNDS = 10;

/** A text with all that is found in it. */
export interface JudgedText {
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** One fix that was made. `line`: where it was found, in the text that it was made in. */
export interface MadeFix {
  readonly line: number;
  readonly code: string;
  readonly title: string;
}

/**
 * The text after every certain fix, again until nothing changes, and the fixes that were made. `judge` reads and checks a changed
 * text. Rounds that leave more errors than there were are not made.
 */
export async function fixText<T extends JudgedText>(
  given: T,
  judge: (text: string) => T | Promise<T>,
): Promise<{ readonly fixed: T; readonly made: readonly MadeFix[] }> {
  const made: MadeFix[] = [];
  let best = { fixed: given, made: 0 };
  let now = given;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    // Bytes that are no text cannot be written again as they were.
    if (now.diagnostics.some(({ code }) => code === "FLOW0001")) break;
    const chosen = certainFixes(now.diagnostics);
    const changed = applyEdits(
      now.text,
      chosen.flatMap(({ edits }) => edits),
    );
    if (changed === now.text || /\p{Surrogate}/u.test(changed)) break;
    for (const { title, diagnostic } of chosen) {
      made.push({ line: diagnostic.range?.start.line ?? 1, code: diagnostic.code, title });
    }
    now = await judge(changed);
    // What could not be read before may have errors of its own, which the next round mends.
    if (errorCount(now) <= errorCount(best.fixed)) best = { fixed: now, made: made.length };
  }
  return { fixed: best.fixed, made: made.slice(0, best.made) };
}

/** Errors; more than any number in a text that was not read, because it is another document. */
function errorCount({ text, diagnostics }: JudgedText): number {
  const isUnread = diagnostics.some(({ fixes }) =>
    fixes?.[0]?.edits.some(({ range }) => range.end.offset - range.start.offset === text.length),
  );
  if (isUnread) return Number.POSITIVE_INFINITY;
  return diagnostics.filter(({ severity }) => severity === "error").length;
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
  return countBefore(taken, (edit) => edit.from <= from);
}
