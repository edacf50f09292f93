/**
 * Plain attributes, read straight into the graph: `name = value` on lines of their own, where the value is a literal, `a.b.c`,
 * or a list or object of them, without comments. They are what most files are made of, and a reader who wants the graph alone
 * needs no tree of them.
 *   Q1  what is read here, the readers of items and values read alike.
 *   Q2  whatever is not known here is left where it was, unread and unreported, for them.
 */
import type { Json } from "@millrace/contracts";
import { isMarker } from "../data.ts";
import type { AttrItem } from "../language/items.ts";
import { isDigit, isNameStart } from "../syntax/chars.ts";
import { NO_COMMENTS } from "../syntax/notes.ts";
import { readPlainNumber } from "../syntax/numbers.ts";
import { WORDS } from "../syntax/parse-operand.ts";
import type { Scanner } from "../syntax/scanner.ts";
import { plainEnd } from "../syntax/strings.ts";

const NO_VALUE: AttrItem["value"] = { kind: "literal", value: null, start: 0, end: 0 };

/**
 * Reads the attribute at `pos` onto the stack, up to its line end; false, and nothing is read, when it is not plain.
 * `literal`: nothing in it may have to be evaluated.
 */
export function readPlainAttr(s: Scanner, literal: boolean): boolean {
  const { src, pos: start } = s;
  const code = src.charCodeAt(start);
  const name = isNameStart(code) ? s.readIdent() : code === 34 ? readText(s) : undefined;
  const nameEnd = s.pos;
  s.skipBlanks();
  if (name !== undefined && src.charCodeAt(s.pos) === 61) {
    s.pos += 1;
    s.skipBlanks();
    const data = readPlain(s, s.maxDepth - s.depth, literal);
    if (data !== undefined && endsLine(s)) {
      s.stack.push(attrOf(name, data, start, nameEnd, s.tokenEnd));
      return true;
    }
  }
  s.pos = start;
  return false;
}

/** Whether the line ends here, perhaps behind a comment. */
function endsLine(s: Scanner): boolean {
  s.tokenEnd = s.pos;
  s.skipBlanks();
  const code = s.src.charCodeAt(s.pos);
  return code === 10 || code === 35;
}

function attrOf(name: string, data: Json, start: number, nameEnd: number, end: number): AttrItem {
  return {
    kind: "attr",
    policy: false,
    name,
    nameStart: start,
    nameEnd,
    value: NO_VALUE,
    data,
    start,
    end,
    lead: NO_COMMENTS,
    blank: false,
    trailingComment: undefined,
  };
}

function readPlain(s: Scanner, levels: number, literal: boolean): Json | undefined {
  const code = s.src.charCodeAt(s.pos);
  if (code === 34) return readText(s);
  if (isNameStart(code)) return readWords(s, literal);
  if (code === 91) return levels > 0 ? readPlainList(s, levels - 1, literal) : undefined;
  if (code === 123) return levels > 0 ? readPlainObject(s, levels - 1, literal) : undefined;
  return isDigit(code) || code === 45 ? readPlainNumber(s, s.pos) : undefined;
}

/** A string without escapes and holes, and no block string. */
function readText(s: Scanner): string | undefined {
  const start = s.pos + 1;
  const end = plainEnd(s.src, start);
  if (end === -1 || (end === start && s.src.charCodeAt(end + 1) === 34)) return undefined;
  s.pos = end + 1;
  return s.src.slice(start, end);
}

function readWords(s: Scanner, literal: boolean): Json | undefined {
  const { src, pos: start } = s;
  const name = s.readIdent();
  const keyword = WORDS.get(name);
  let members = 0;
  while (src.charCodeAt(s.pos) === 46 && isNameStart(src.charCodeAt(s.pos + 1))) {
    s.pos += 1;
    s.readIdent();
    members += 1;
  }
  if (keyword !== undefined) return String(keyword) === name && members === 0 ? keyword : undefined;
  return literal || name === "in" || members > s.maxDepth
    ? undefined
    : { $: src.slice(start, s.pos) };
}

function readPlainList(s: Scanner, levels: number, literal: boolean): Json[] | undefined {
  const mark = s.stack.length;
  s.pos += 1;
  for (let next = nextElement(s, 93, true); next !== undefined; next = nextElement(s, 93, false)) {
    if (!next) return s.stack.splice(mark) as Json[];
    const element = readPlain(s, levels, literal);
    if (element === undefined) break;
    s.stack.push(element);
  }
  s.stack.length = mark;
  return undefined;
}

function readPlainObject(s: Scanner, levels: number, literal: boolean): Json | undefined {
  const members: Record<string, Json> = {};
  s.pos += 1;
  for (
    let next = nextElement(s, 125, true);
    next !== undefined;
    next = nextElement(s, 125, false)
  ) {
    if (!next) return members;
    const code = s.src.charCodeAt(s.pos);
    const key = isNameStart(code) ? s.readIdent() : code === 34 ? readText(s) : undefined;
    // A key that is there already, or that every object seems to have.
    if (key === undefined || members[key] !== undefined || isMarker(key)) return undefined;
    s.skipBlanks();
    if (s.src.charCodeAt(s.pos) !== 58) return undefined;
    s.pos += 1;
    s.skipBlanks();
    const value = readPlain(s, levels, literal);
    if (value === undefined) return undefined;
    members[key] = value;
  }
  return undefined;
}

/**
 * Moves over blanks and a separator to the next element: true; behind the closer: false; `undefined` when something else
 * follows, such as an operator. `separated`: no separator is needed.
 */
function nextElement(s: Scanner, closer: number, separated: boolean): boolean | undefined {
  let isSeparated = separated;
  for (;;) {
    s.skipBlanks();
    const code = s.src.charCodeAt(s.pos);
    if (code === closer) {
      s.pos += 1;
      return false;
    }
    if (code !== 10 && (code !== 44 || isSeparated)) return isSeparated ? true : undefined;
    isSeparated = true;
    s.pos += 1;
  }
}
