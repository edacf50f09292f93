/**
 * Lists and objects. A bad element is dropped when a separator or closer follows on the same nesting; otherwise the item
 * fails. In value position comments and empty lines are kept as notes.
 */
import type { Expression } from "../expression/ast.ts";
import { parseValue } from "../expression/parse.ts";
import { quoteForMessage } from "./chars.ts";
import { FAIL, LINE_END, type Scanner, TEXT_END } from "./scanner.ts";
import { crossesItem, findSeparator } from "./skip.ts";
import { readName } from "./strings.ts";
import type { Collection, Comment, Notes } from "./tree.ts";

/** Keys of one object up to which a scan over them beats a set. */
const FEW_KEYS = 8;

/** Reads the list at `pos`; sets `s.height`. */
export function readList(s: Scanner, inValue: boolean): Expression {
  const elements: Expression[] = [];
  return readCollection(s, inValue, 93, {
    one: () => parseValue(s, inValue),
    add: (element) => elements.push(element),
    done: (start, end) => ({ kind: "list", elements, start, end }),
  });
}

interface Entry {
  readonly key: string;
  readonly value: Expression;
}

/** Reads the object at `pos`; sets `s.height`. A key that is set twice is reported, and stays in the tree. */
export function readObject(s: Scanner, inValue: boolean): Expression {
  const entries: Entry[] = [];
  let places: Map<string, Entry> | undefined;
  const first = (key: string): Entry | undefined => {
    if (entries.length <= FEW_KEYS) return entries.find((entry) => entry.key === key);
    places ??= new Map(entries.map((entry) => [entry.key, entry]));
    return places.get(key);
  };
  const checkNew = (key: string, start: number): void => {
    const known = first(key);
    if (!known) return;
    const { value } = known;
    s.error("FLOW2002", start, s.tokenEnd, {
      parts: { key: quoteForMessage(key) },
      related: { start: value.start, end: value.end, message: "first set here" },
    });
  };
  return readCollection(s, inValue, 125, {
    one: () => readEntry(s, inValue, checkNew),
    add: (entry) => {
      entries.push(entry);
      if (places && !places.has(entry.key)) places.set(entry.key, entry);
    },
    done: (start, end) => ({ kind: "object", entries, start, end }),
  });
}

function readEntry(
  s: Scanner,
  inValue: boolean,
  checkNew: (key: string, start: number) => void,
): Entry {
  s.peek();
  const start = s.pos;
  const key = readName(s);
  if (key === undefined) s.expected("a name");
  checkNew(key, start);
  const code = s.peek();
  const isComparison = code === 61 && s.src.charCodeAt(s.pos + 1) === 61;
  if ((code !== 58 && code !== 61) || isComparison) s.expected("`:`");
  s.pos += 1;
  return { key, value: parseValue(s, inValue) };
}

interface Reader<Element> {
  readonly one: () => Element;
  readonly add: (element: Element) => void;
  readonly done: (start: number, end: number) => Expression;
}

function readCollection<Element>(
  s: Scanner,
  inValue: boolean,
  closer: number,
  reader: Reader<Element>,
): Expression {
  const start = s.pos;
  s.enter(start);
  const { flat } = s;
  const inner = s.depth;
  s.flat = 0;
  s.pos += 1;
  const mark = s.commentCount;
  const notes: (Notes | undefined)[] = [];
  let noted = false;
  let height = 0;
  let count = 0;
  for (;;) {
    s.skipLines();
    const code = s.peek();
    if (code === closer) break;
    if (code === TEXT_END) s.expected(closer === 93 ? "`]`" : "`}`");
    const blank = s.blank && count > 0;
    const lead = inValue ? s.takeComments(mark) : [];
    const elementStart = s.pos;
    const element = readElement(s, elementStart, inner, closer, reader);
    if (element === undefined) {
      if (inValue) s.takeComments(mark);
      continue;
    }
    reader.add(element);
    height = Math.max(height, s.height);
    if (inValue) {
      const note = noteOf(s, lead, mark, blank);
      notes.push(note);
      noted ||= note !== undefined;
    } else skipSeparator(s);
    count += 1;
  }
  const foot = inValue ? s.takeComments(mark) : [];
  s.flat = flat;
  s.depth = inner - 1;
  s.pos = s.tokenEnd = s.pos + 1;
  s.setHeight(height + 1, start);
  const read = reader.done(start, s.pos);
  if (!noted && foot.length === 0) return read;
  return { ...read, notes: { elements: notes, foot } } as Collection;
}

/** Reads one element and checks what follows it; `undefined` when it had to be dropped. */
function readElement<Element>(
  s: Scanner,
  start: number,
  depth: number,
  closer: number,
  reader: Reader<Element>,
): Element | undefined {
  try {
    const element = reader.one();
    const height = s.height;
    const next = s.peek();
    if (next !== 44 && next !== LINE_END && next !== closer) {
      s.expected(closer === 93 ? "`,` or `]`" : "`,` or `}`");
    }
    s.height = height;
    return element;
  } catch (thrown) {
    if (thrown !== FAIL || isFirstOfOtherItem(s, start) || crossesItem(s, start, s.pos))
      throw thrown;
    const at = findSeparator(s, s.pos);
    const found = s.src.charCodeAt(at);
    if (at === -1 || (found !== 44 && found !== 10 && found !== closer)) throw thrown;
    s.pos = found === closer ? at : at + 1;
    s.depth = depth;
    s.flat = 0;
    return undefined;
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

function isBlankOrLineEnd(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}
