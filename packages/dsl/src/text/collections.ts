/**
 * Lists and objects. A bad element is dropped when a separator or closer follows on the same nesting; otherwise the item
 * fails. In value position comments and empty lines are kept as notes.
 */
import type { Expression } from "../expression/ast.ts";
import { parseValue } from "../expression/parse.ts";
import { isBlankOrLineEnd, quoteForMessage } from "./chars.ts";
import { FAIL, LINE_END, type Scanner, TEXT_END } from "./scanner.ts";
import { findSeparator, lineOutsideItem } from "./skip.ts";
import { readName } from "./strings.ts";
import {
  type Collection,
  type CollectionNotes,
  type Comment,
  NO_COMMENTS,
  type Notes,
} from "./tree.ts";

/** Keys of one object up to which a scan over them beats a set. */
const FEW_KEYS = 8;

/** Reads the list at `pos`; sets `s.height`. */
export function readList(s: Scanner, inValue: boolean): Expression {
  const start = s.pos;
  const elements: Expression[] = [];
  const notes = readElements(s, inValue, elements, undefined);
  return withNotes({ kind: "list", elements, start, end: s.tokenEnd }, notes);
}

interface Entry {
  readonly key: string;
  readonly value: Expression;
}

/** Reads the object at `pos`; sets `s.height`. A key that is set twice is reported, and stays in the tree. */
export function readObject(s: Scanner, inValue: boolean): Expression {
  const start = s.pos;
  const entries: Entry[] = [];
  const spans: number[] = [];
  const notes = readElements(s, inValue, entries, spans);
  if (entries.length > 1) checkKeys(s, entries, spans);
  return withNotes({ kind: "object", entries, start, end: s.tokenEnd }, notes);
}

function withNotes(collection: Collection, notes: CollectionNotes | undefined): Collection {
  return notes ? { ...collection, notes } : collection;
}

/** `spans` holds the start of each key and the end of its value. */
function checkKeys(s: Scanner, entries: readonly Entry[], spans: readonly number[]): void {
  const index =
    entries.length > FEW_KEYS ? new Map(entries.map((entry, at) => [entry.key, at])) : undefined;
  if (index?.size === entries.length) return;
  const first = new Map<string, Entry>();
  for (const [at, entry] of entries.entries()) {
    const known = index ? first.get(entry.key) : entryBefore(entries, at);
    if (index && !known) first.set(entry.key, entry);
    if (!known) continue;
    const start = spans[2 * at] as number;
    const end = spans[2 * at + 1] as number;
    let behind = end;
    while (isBlankOrLineEnd(s.src.charCodeAt(behind))) behind += 1;
    const hasComma = s.src.charCodeAt(behind) === 44;
    s.error("FLOW2002", start, s.tokenEndAt(start), {
      parts: { key: quoteForMessage(entry.key) },
      related: { start: known.value.start, end: known.value.end, message: "first set here" },
      fix: {
        title: "remove it",
        edits: [{ start, end: hasComma ? behind + 1 : end, text: "" }],
      },
    });
  }
}

function entryBefore(entries: readonly Entry[], at: number): Entry | undefined {
  const { key } = entries[at] as Entry;
  for (let before = 0; before < at; before += 1) {
    const entry = entries[before] as Entry;
    if (entry.key === key) return entry;
  }
  return undefined;
}

function readEntry(s: Scanner, inValue: boolean, spans: number[]): Entry {
  s.peek();
  const start = s.pos;
  const key = readName(s);
  if (key === undefined) s.expected("a name");
  const code = s.peek();
  const isComparison = code === 61 && s.src.charCodeAt(s.pos + 1) === 61;
  if ((code !== 58 && code !== 61) || isComparison) s.expected("`:`");
  s.pos += 1;
  const value = parseValue(s, inValue);
  spans.push(start, s.tokenEnd);
  return { key, value };
}

/** Reads the elements between the brackets into `into`; with `spans` they are the entries of an object. */
function readElements(
  s: Scanner,
  inValue: boolean,
  into: (Expression | Entry)[],
  spans: number[] | undefined,
): CollectionNotes | undefined {
  const start = s.pos;
  const closer = spans ? 125 : 93;
  s.enter(start);
  const { flat } = s;
  const inner = s.depth;
  s.flat = 0;
  s.pos += 1;
  const mark = s.commentCount;
  let notes: (Notes | undefined)[] | undefined;
  let height = 0;
  for (;;) {
    s.skipLines();
    const code = s.peek();
    if (code === closer) break;
    if (code === TEXT_END) s.expected(spans ? "`}`" : "`]`");
    const blank = s.blank && into.length > 0;
    const lead = inValue ? s.takeComments(mark) : NO_COMMENTS;
    const before = into.length;
    readElement(s, inValue, into, spans, inner);
    if (into.length === before) {
      if (inValue) s.takeComments(mark);
      continue;
    }
    if (s.height > height) height = s.height;
    if (inValue) {
      const note = noteOf(s, lead, mark, blank);
      if (note && !notes) notes = Array.from({ length: into.length - 1 });
      notes?.push(note);
    } else skipSeparator(s);
  }
  const foot = inValue ? s.takeComments(mark) : NO_COMMENTS;
  s.flat = flat;
  s.depth = inner - 1;
  s.pos = s.tokenEnd = s.pos + 1;
  s.setHeight(height + 1, start);
  return notes || foot.length > 0 ? { elements: notes ?? [], foot } : undefined;
}

/** Reads one element and checks what follows it; adds nothing when it had to be dropped. */
function readElement(
  s: Scanner,
  inValue: boolean,
  into: (Expression | Entry)[],
  spans: number[] | undefined,
  depth: number,
): void {
  const start = s.pos;
  const closer = spans ? 125 : 93;
  try {
    const element = spans ? readEntry(s, inValue, spans) : parseValue(s, inValue);
    const height = s.height;
    const next = s.peek();
    if (next !== 44 && next !== LINE_END && next !== closer) {
      if (spans) spans.length -= 2;
      s.expected(spans ? "`,` or `}`" : "`,` or `]`");
    }
    s.height = height;
    into.push(element);
  } catch (thrown) {
    if (thrown !== FAIL || isFirstOfOtherItem(s, start) || lineOutsideItem(s, start, s.pos) !== -1)
      throw thrown;
    const at = findSeparator(s, s.pos);
    const found = s.src.charCodeAt(at);
    if (at === -1 || (found !== 44 && found !== 10 && found !== closer)) throw thrown;
    s.pos = found === closer ? at : at + 1;
    s.depth = depth;
    s.flat = 0;
  }
}

/** Whether an element stands at the start of a line that is indented no deeper than its item: it is another item. */
function isFirstOfOtherItem(s: Scanner, start: number): boolean {
  return start !== s.itemStart && s.isFirstOnLine(start) && s.indentOf(start) <= s.itemIndent;
}

/** The notes of the element that was just read, with the separator and the comment behind it. */
function noteOf(
  s: Scanner,
  lead: readonly Comment[],
  mark: number,
  blank: boolean,
): Notes | undefined {
  const height = s.height;
  const hoisted = s.takeComments(mark);
  let trail = readTrailHere(s);
  skipSeparator(s);
  trail ??= readTrailHere(s);
  s.height = height;
  if (lead.length === 0 && hoisted.length === 0 && !blank && trail === undefined) return undefined;
  return { lead: hoisted.length === 0 ? lead : [...lead, ...hoisted], blank, trail };
}

function readTrailHere(s: Scanner): string | undefined {
  s.skipBlanks();
  return s.readTrail();
}

/** A comma, on this line or at the start of the next. */
function skipSeparator(s: Scanner): void {
  if (s.peek() === LINE_END) {
    let at = s.pos;
    while (isBlankOrLineEnd(s.src.charCodeAt(at))) at += 1;
    if (s.src.charCodeAt(at) !== 44) return;
    s.pos = at;
  }
  if (s.peek() === 44) s.pos += 1;
}
