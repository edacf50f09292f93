/**
 * Lists and objects. A bad element is dropped when a separator or closer follows on the same nesting; otherwise the item
 * fails. In value position comments and empty lines are kept as notes.
 */

import { removal, replacement } from "../diagnostics/bag.ts";
import { shown } from "../diagnostics/quote.ts";
import type { Expression, ObjectExpression, Span } from "./ast.ts";
import { hasTwins } from "./ast.ts";
import { isBlankOrLineEnd } from "./chars.ts";
import { FAIL } from "./cursor.ts";
import { missingComma } from "./foreign.ts";
import {
  type Collection,
  type CollectionNotes,
  type Comment,
  isCollection,
  NO_COMMENTS,
  type Notes,
  withoutNotes,
} from "./notes.ts";
import { printExpression } from "./print-expression.ts";
import { LINE_END, type Scanner, TEXT_END } from "./scanner.ts";
import { findSeparator, lineOutsideItem } from "./skip.ts";
import { readName } from "./strings.ts";

/** Reads the list at `pos`; sets `s.height`. */
export function readList(s: Scanner, inValue: boolean): Expression {
  const start = s.pos;
  const mark = s.stack.length;
  const { spreads } = s;
  const notes = readElements(s, inValue, false);
  const elements = s.stack.splice(mark) as Expression[];
  if (s.spreads > spreads) return withoutSpreads(s, elements, start, spreads);
  return withNotes({ kind: "list", elements, start, end: s.tokenEnd }, notes);
}

type Entry = ObjectExpression["entries"][number];

/** Reads the object at `pos`; sets `s.height`. A key that is set twice is reported, and stays in the tree. */
export function readObject(s: Scanner, inValue: boolean): Expression {
  const start = s.pos;
  const mark = s.stack.length;
  const spanMark = s.spans.length;
  const { spreads } = s;
  const notes = readElements(s, inValue, true);
  const entries = s.stack.splice(mark) as Entry[];
  if (s.spreads > spreads) {
    s.spans.length = spanMark;
    return withoutSpreads(s, entries, start, spreads);
  }
  if (hasTwins(entries)) reportTwins(s, entries, s.spans.slice(spanMark));
  s.spans.length = spanMark;
  return withNotes({ kind: "object", entries, start, end: s.tokenEnd }, notes);
}

/** `...list` or `...object` among the elements of another one. */
interface Spread {
  readonly spread: Expression;
  /** Offset of its points. */
  readonly at: number;
}

/** `[...a, 1]` as `a + [1]`, `{ ...a, b: 1 }` as `merge(a, { b: 1 })`; `outer`: how many spreads were read before. */
function withoutSpreads(
  s: Scanner,
  elements: readonly (Expression | Entry | Spread)[],
  start: number,
  outer: number,
): Expression {
  const end = s.tokenEnd;
  const isObject = s.src.charCodeAt(start) === 123;
  const parts: Expression[] = [];
  let plain: (Expression | Entry)[] = [];
  let at = start;
  const flush = (): void => {
    if (plain.length === 0) return;
    parts.push(
      isObject
        ? { kind: "object", entries: plain as Entry[], start, end }
        : { kind: "list", elements: plain as Expression[], start, end },
    );
    plain = [];
  };
  for (const element of elements) {
    if (!("spread" in element)) plain.push(element);
    else {
      flush();
      at = element.at;
      parts.push(element.spread);
    }
  }
  flush();
  const { height } = s;
  s.setHeight(height + (isObject ? 1 : parts.length), start);
  const whole: Expression = isObject
    ? { kind: "call", name: "merge", args: parts, start, end }
    : parts.reduce((left, right) => ({ kind: "binary", op: "+", left, right, start, end }));
  s.spreads = outer;
  s.error("FLOW1006", at, at + 3, {
    parts: { what: isObject ? "a name" : "a value", found: "..." },
    hint: isObject
      ? "objects are put together with `merge(a, b)`"
      : "lists are put together with `+`",
    fix: replacement(`write ${isObject ? "merge(…)" : "+"}`, start, end, printExpression(whole)),
  });
  return whole;
}

/** Moves the comments of a collection in front of its item, and returns the collection without them. */
export function hoist(s: Scanner, expression: Expression): Expression {
  if (!isCollection(expression)) return expression;
  const comments: Parameters<Scanner["giveComments"]>[0][number][] = [];
  const plain = withoutNotes(expression, comments);
  s.giveComments(comments);
  return plain;
}

function withNotes(collection: Collection, notes: CollectionNotes | undefined): Collection {
  return notes ? { ...collection, notes } : collection;
}

/** `spans` holds the start of each key and the end of its value. */
function reportTwins(s: Scanner, entries: readonly Entry[], spans: readonly number[]): void {
  const first = new Map<string, Span>();
  for (const [at, entry] of entries.entries()) {
    const start = spans[2 * at] as number;
    const known = first.get(entry.key);
    const end = spans[2 * at + 1] as number;
    if (known === undefined) {
      first.set(entry.key, { start, end });
      continue;
    }
    let behind = end;
    while (isBlankOrLineEnd(s.src.charCodeAt(behind))) behind += 1;
    const hasComma = s.src.charCodeAt(behind) === 44;
    s.error("FLOW2002", start, s.tokenEndAt(start), {
      parts: { key: shown(entry.key) },
      related: { ...known, end: s.tokenEndAt(known.start), message: "first set here" },
      fix: removal(s.src, {
        twin: { start, end },
        first: known,
        end: hasComma ? behind + 1 : end,
      }),
    });
  }
}

function readSpread(s: Scanner): Spread {
  const at = s.pos;
  s.pos += 3;
  const spread = s.readValue();
  s.spreads += 1;
  return { spread, at };
}

function readEntry(s: Scanner, inValue: boolean): Entry {
  s.peek();
  const start = s.pos;
  const key = readName(s);
  if (key === undefined) s.expected("a name");
  const code = s.peek();
  const isComparison = code === 61 && s.src.charCodeAt(s.pos + 1) === 61;
  if ((code !== 58 && code !== 61) || isComparison) s.expected("`:`");
  s.pos += 1;
  const value = s.readValue(inValue);
  s.spans.push(start, s.tokenEnd);
  return { key, value };
}

/** Reads the elements between the brackets onto the stack; of an object they are its entries, with their spans. */
function readElements(
  s: Scanner,
  inValue: boolean,
  isObject: boolean,
): CollectionNotes | undefined {
  const start = s.pos;
  const base = s.stack.length;
  const closer = isObject ? 125 : 93;
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
    if (code === TEXT_END) s.expected(isObject ? "`}`" : "`]`");
    const before = s.stack.length;
    const lead = inValue ? s.takeComments(mark) : NO_COMMENTS;
    const blank = s.blank && (before > base || lead.length > 0);
    readElement(s, inValue, isObject, inner);
    if (s.stack.length === before) {
      if (inValue) s.takeComments(mark);
      continue;
    }
    if (s.height > height) height = s.height;
    if (inValue) {
      const note = noteOf(s, lead, mark, blank);
      if (note && !notes) notes = Array.from({ length: before - base });
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
function readElement(s: Scanner, inValue: boolean, isObject: boolean, depth: number): void {
  const start = s.pos;
  const closer = isObject ? 125 : 93;
  const before = s.stack.length;
  const spansBefore = s.spans.length;
  const { spreads } = s;
  try {
    const element = s.src.startsWith("...", start)
      ? readSpread(s)
      : isObject
        ? readEntry(s, inValue)
        : s.readValue(inValue);
    const height = s.height;
    const next = s.peek();
    if (next !== 44 && next !== LINE_END && next !== closer) {
      missingComma(s, isObject ? "`,` or `}`" : "`,` or `]`", isObject);
    }
    s.height = height;
    s.stack.push(element);
  } catch (thrown) {
    s.stack.length = before;
    s.spans.length = spansBefore;
    s.spreads = spreads;
    if (
      thrown !== FAIL ||
      isFirstOfOtherItem(s, start) ||
      lineOutsideItem(s.src, start, s.pos, s.itemIndent) !== -1
    )
      throw thrown;
    const at = findSeparator(s.src, s.pos, s.itemIndent);
    const found = s.src.charCodeAt(at);
    if (at === -1 || (found !== 44 && found !== 10 && found !== closer)) throw thrown;
    s.pos = found === closer ? at : at + 1;
    s.report.dropped.push({ start, end: at });
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
  let trailingComment = readTrailingCommentHere(s);
  skipSeparator(s);
  trailingComment ??= readTrailingCommentHere(s);
  s.height = height;
  if (lead.length === 0 && hoisted.length === 0 && !blank && trailingComment === undefined)
    return undefined;
  return { lead: hoisted.length === 0 ? lead : [...lead, ...hoisted], blank, trailingComment };
}

function readTrailingCommentHere(s: Scanner): string | undefined {
  s.skipBlanks();
  return s.readTrailingComment();
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
