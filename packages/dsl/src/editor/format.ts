/** Formatting as edits: what is canonical already is in none of them, so cursors and marks of an editor stay. */

import { countBefore } from "../data.ts";
import { formatFlow } from "../write/print-flow.ts";
import type { TextEdit } from "./types.ts";

/**
 * How often a stretch between lines that stay is compared once more by itself. Each time costs about as much as the lines of the
 * stretch; a text whose lines repeat at random would else be compared as often as it has lines.
 */
const MAX_ROUNDS = 12;

/** The edits, whole lines each, that make of a text what `formatFlow` makes of it. */
export function formatEdits(text: string): readonly TextEdit[] {
  const formatted = formatFlow(text);
  if (!formatted.changed) return [];
  const edits: TextEdit[] = [];
  const old = new Lines(text);
  const fresh = new Lines(formatted.text);
  compare(old, fresh, [0, old.count, 0, fresh.count], MAX_ROUNDS, edits);
  return edits;
}

/** A text as lines, each with its line end. */
class Lines {
  readonly #text: string;
  readonly #starts: number[] = [0];

  constructor(text: string) {
    this.#text = text;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
      if (at + 1 < text.length) this.#starts.push(at + 1);
    }
  }

  get count(): number {
    return this.#starts.length;
  }

  start(line: number): number {
    return this.#starts[line] ?? this.#text.length;
  }

  line(line: number): string {
    return this.slice(line, line + 1);
  }

  slice(from: number, to: number): string {
    return this.#text.slice(this.start(from), this.start(to));
  }
}

/** Lines of the old text and lines of the new one: `from` and `to` of each, `to` exclusive. */
type Stretch = readonly [oldFrom: number, oldTo: number, newFrom: number, newTo: number];

/** Adds the edits that make the old lines of a stretch the new ones. */
function compare(
  old: Lines,
  fresh: Lines,
  stretch: Stretch,
  rounds: number,
  edits: TextEdit[],
): void {
  let [oldFrom, oldTo, newFrom, newTo] = stretch;
  while (oldFrom < oldTo && newFrom < newTo && old.line(oldFrom) === fresh.line(newFrom)) {
    oldFrom += 1;
    newFrom += 1;
  }
  while (oldFrom < oldTo && newFrom < newTo && old.line(oldTo - 1) === fresh.line(newTo - 1)) {
    oldTo -= 1;
    newTo -= 1;
  }
  if (oldFrom === oldTo && newFrom === newTo) return;
  const inner: Stretch = [oldFrom, oldTo, newFrom, newTo];
  const anchors =
    oldFrom === oldTo || newFrom === newTo || rounds === 0 ? [] : anchorsIn(old, fresh, inner);
  if (anchors.length === 0) {
    edits.push({
      from: old.start(oldFrom),
      to: old.start(oldTo),
      text: fresh.slice(newFrom, newTo),
    });
    return;
  }
  for (const [oldLine, newLine] of anchors) {
    compare(old, fresh, [oldFrom, oldLine, newFrom, newLine], rounds - 1, edits);
    oldFrom = oldLine + 1;
    newFrom = newLine + 1;
  }
  compare(old, fresh, [oldFrom, oldTo, newFrom, newTo], rounds - 1, edits);
}

type Pair = readonly [oldLine: number, newLine: number];

/** The lines that each side of a stretch holds once, as many of them as stand in the same order on both sides. */
function anchorsIn(
  old: Lines,
  fresh: Lines,
  [oldFrom, oldTo, newFrom, newTo]: Stretch,
): readonly Pair[] {
  const olds = singles(old, oldFrom, oldTo);
  const news = singles(fresh, newFrom, newTo);
  const pairs: Pair[] = [];
  for (const [line, at] of olds) {
    const other = news.get(line);
    if (at !== TWICE && other !== undefined && other !== TWICE) pairs.push([at, other]);
  }
  return inOrder(pairs);
}

const TWICE = -1;

function singles(lines: Lines, from: number, to: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (let at = from; at < to; at += 1) {
    const line = lines.line(at);
    found.set(line, found.has(line) ? TWICE : at);
  }
  return found;
}

/** The longest choice of pairs, sorted by old line, in which the new lines ascend too. */
function inOrder(pairs: readonly Pair[]): readonly Pair[] {
  interface Link {
    readonly pair: Pair;
    readonly before: Link | undefined;
  }
  // The last pair of the best choice of each length.
  const ends: Link[] = [];
  for (const pair of pairs) {
    const at = countBefore(ends, (end) => end.pair[1] < pair[1]);
    ends[at] = { pair, before: ends[at - 1] };
  }
  const chosen: Pair[] = [];
  for (let at = ends.at(-1); at; at = at.before) chosen.push(at.pair);
  return chosen.reverse();
}
