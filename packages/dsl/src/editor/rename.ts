/**
 * Giving a name another one everywhere.
 *   R1  after the edits every name of the text means what it meant: that is checked by reading the new text.
 *   R2  where text that cannot be read may name it, nothing is renamed.
 *   R3  a name given back gives the same bytes back, but for `nodes["x"]` where `x` alone would do and a name between needs quotes.
 */

import { MAX_ID_LENGTH, RESERVED } from "../check/rules/names.ts";
import { shown } from "../diagnostics/quote.ts";
import { codePointCount } from "../expression/data.ts";
import { isNamePart } from "../syntax/chars.ts";
import { isBareName } from "../syntax/parse-operand.ts";
import { applyEdits } from "./apply-edits.ts";
import { type Named, NameIndex, type Place, spelled } from "./names.ts";
import { Reading } from "./reading.ts";
import type { RenameResult, TextEdit } from "./types.ts";

type Refusal = Extract<RenameResult, { refused: string }>;

/** The edits that give what is named at `offset` the name `to`. */
export function renameEdits(
  reading: Reading,
  names: NameIndex,
  offset: number,
  to: string,
): RenameResult {
  const place = names.at(offset);
  const refusal =
    place === undefined
      ? { refused: "not_renamable", message: "nothing at this place has a name that can change" }
      : (refusalOf(place, to, names) ?? unreadRefusal(place, reading));
  if (place === undefined || refusal !== undefined) return refusal as Refusal;
  if (to === place.named.name) return { edits: [] };
  const edits = editsOf(place.named, to, reading.text);
  const changed = new NameIndex(new Reading(applyEdits(reading.text, edits), reading.project));
  const nameOf = ({ named }: Place): string => (named === place.named ? to : named.name);
  const wrong = firstDifference(names, changed, nameOf);
  return wrong === undefined ? { edits } : captured(to, wrong, reading, names);
}

/** Whether `rename` takes the name of a place. */
export function isRenamable({ named }: Place): boolean {
  return named.declaration !== undefined;
}

function editsOf(named: Named, to: string, text: string): readonly TextEdit[] {
  return named.places.map((place) => ({
    from: place.start,
    to: place.end,
    text: spelled(place, to, text),
  }));
}

function refusalOf(place: Place, to: string, names: NameIndex): Refusal | undefined {
  const { named } = place;
  const { kind, name } = named;
  if (!isRenamable(place)) {
    const message =
      kind === "local"
        ? `${name} is the default name; write \`as = "…"\` on its node to name it otherwise`
        : `${shown(name)} is not declared in this text`;
    return { refused: "not_renamable", message };
  }
  const problem = nameProblem(named, to);
  if (problem !== undefined) {
    return { refused: "not_a_name", message: `${shown(to) || "an empty text"} ${problem}` };
  }
  const isWord = kind !== "input" && kind !== "connection" && RESERVED.has(to);
  if (!isWord && !isTaken(named, to, names)) return undefined;
  const owner = isWord ? "a word of the language" : `the name of another ${kind}`;
  return { refused: "taken", message: `${shown(to)} is ${owner}; choose another name` };
}

/** A rename is refused where text that could not be read holds the name, which may be meant there, or where its spelling is wrong. */
function unreadRefusal({ named }: Place, reading: Reading): Refusal | undefined {
  const { text, places } = reading;
  const offsets = [
    ...places.dropped.map(({ start, end }) => {
      const at = indexOfName(text.slice(start, end), named.name);
      return at === -1 ? -1 : start + at;
    }),
    ...named.places.map((place) => (isMisspelt(place, reading) ? place.start : -1)),
  ];
  const offset = offsets.find((each) => each !== -1);
  if (offset === undefined) return undefined;
  const { line } = places.range(offset, offset).start;
  const message = `line ${line} cannot be read and holds ${shown(named.name)}; mend it first`;
  return { refused: "not_renamable", message };
}

/** A quoted name without its end. */
const UNCLOSED = /^"(?!(?:[^"\\]|\\.)*"$)/;

/** Whether a name was only guessed: its quotes are open, or an escape in it is invalid. */
function isMisspelt({ start, end }: Place, { text, parsed }: Reading): boolean {
  if (UNCLOSED.test(text.slice(start, end))) return true;
  return parsed.diagnostics.some(
    ({ code, severity, range }) =>
      /^FLOW[01]/.test(code) &&
      severity === "error" &&
      range !== undefined &&
      start < range.end.offset &&
      range.end.offset <= end &&
      start <= range.start.offset,
  );
}

/** Where a name stands in a text, not as a part of another; -1: nowhere. */
function indexOfName(text: string, name: string): number {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const isPart =
      isNamePart(text.charCodeAt(at - 1)) || isNamePart(text.charCodeAt(at + name.length));
    if (!isPart) return at;
  }
  return -1;
}

/** Why a text cannot be the name of a thing of this kind. */
function nameProblem({ kind }: Named, to: string): string | undefined {
  if (kind === "local" || kind === "variable") {
    return isBareName(to)
      ? undefined
      : "is no identifier: letters, digits, _ and single dashes, beginning with a letter or _";
  }
  if (to.trim() === "" || /\p{Cc}|\p{Cs}/u.test(to))
    return "is no name: it needs visible characters";
  if (kind === "node" && /[/[\]~]/.test(to))
    return "is no node id: / [ ] and ~ may not stand in it";
  return codePointCount(to) > MAX_ID_LENGTH
    ? `is longer than ${MAX_ID_LENGTH} characters`
    : undefined;
}

/** Whether something beside it has the name already. */
function isTaken({ kind, node, body, name }: Named, to: string, names: NameIndex): boolean {
  if (to === name) return false;
  if (node !== undefined) return node.body.byId.has(to);
  if (body !== undefined) return body.locals.includes(to);
  return (
    kind !== "variable" &&
    names.places.some(({ named }) => named.kind === kind && named.name === to)
  );
}

/** The first place that means another thing than before, or has not the name that it should have; undefined: all are right. */
function firstDifference(
  before: NameIndex,
  after: NameIndex,
  nameOf: (place: Place) => string,
): Place | undefined {
  const old = meanings(before);
  const now = meanings(after);
  const at = old.findIndex(
    (meaning, index) =>
      meaning !== now[index] ||
      nameOf(before.places[index] as Place) !== after.places[index]?.named.name,
  );
  if (at !== -1) return before.places[at];
  return old.length === now.length ? undefined : after.places[old.length];
}

/** The meaning of each place: the index of the place where its name is declared. */
function meanings({ places }: NameIndex): readonly number[] {
  const first = new Map<Named, number>();
  return places.map(({ named }, at) => {
    const known = first.get(named) ?? at;
    first.set(named, known);
    return known;
  });
}

function captured(to: string, place: Place, reading: Reading, names: NameIndex): Refusal {
  const known = names.places.includes(place);
  const line = known ? reading.places.range(place.start, place.end).start.line : undefined;
  const where = line === undefined ? "some name" : `the name on line ${line}`;
  return {
    refused: "would_capture",
    message: `as ${shown(to)}, ${where} would mean another thing; choose another name`,
  };
}
