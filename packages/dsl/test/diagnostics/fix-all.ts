/** Mends a text as an editor does: the first fix of each diagnostic at once, then the same with what is left. */
import { checkFlow, type Diagnostic, type FlowCatalog } from "@millrace/dsl";

/** Once for what was written, once for what that brought to light, once to see that it is enough. */
const MAX_ROUNDS = 3;

export interface Mended {
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly rounds: number;
}

/** The text after its fixes, and what is still wrong with it. */
export function fixAll(source: string, catalog: FlowCatalog): Mended {
  let text = source;
  for (let rounds = 0; ; rounds += 1) {
    const { diagnostics } = checkFlow(text, catalog);
    const next = rounds < MAX_ROUNDS ? applyFirst(text, diagnostics) : text;
    if (next === text) return { text, diagnostics, rounds };
    text = next;
  }
}

/** The first fix of each diagnostic, from the front; one that overlaps another is left for the next round. */
function applyFirst(text: string, diagnostics: readonly Diagnostic[]): string {
  const taken: { start: number; end: number; newText: string }[] = [];
  for (const { fixes = [] } of diagnostics) {
    const edits = (fixes[0]?.edits ?? []).map(({ range, newText }) => ({
      start: range.start.offset,
      end: range.end.offset,
      newText,
    }));
    const isFree = edits.every((a) =>
      taken.every(
        (b) =>
          a.end < b.start ||
          a.start > b.end ||
          (a.start === a.end && a.start === b.end && b.start < b.end),
      ),
    );
    if (isFree) taken.push(...edits);
  }
  return taken
    .sort((a, b) => b.start - a.start)
    .reduce((all, { start, end, newText }) => all.slice(0, start) + newText + all.slice(end), text);
}
