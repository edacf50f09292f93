/**
 * The words of canonical text, for the strict reader (`strict.ts`): what is not known throws `UNKNOWN`, and how far it was read
 * does not matter then.
 */

import type { Json } from "@millrace/contracts";
import { identEnd, isBlankOrLineEnd, isDigit, isNamePart, isNameStart } from "../syntax/chars.ts";
import { durationText, durationUnit } from "../syntax/numbers.ts";
import { WORDS } from "../syntax/parse-operand.ts";
import { nameText } from "../syntax/print-expression.ts";
import { type Scanner, TEXT_END } from "../syntax/scanner.ts";
import { ESCAPES, plainEnd } from "../syntax/strings.ts";

/** Thrown at the first thing that is not known; never thrown out of the strict reader. */
export const UNKNOWN: unique symbol = Symbol("left to the tolerant reader");

/** Leaves the item of the file to the tolerant reader. */
export function unknown(): never {
  throw UNKNOWN;
}

/** Moves over blanks, as many as are printed here, and gives the character behind them. */
export function next(s: Scanner, printed = 0): number {
  const { src, pos } = s;
  const code = src.charCodeAt(pos + printed);
  if (code > 32 && (printed === 0 || src.charCodeAt(pos) === 32)) {
    s.pos = pos + printed;
    return code;
  }
  s.skipBlanks();
  const found = src.charCodeAt(s.pos);
  if (s.layout && (s.pos > pos || found !== 10)) unknown();
  return found;
}

/** Moves over blanks, line ends and comments, and gives the character behind them. */
export function skipGap(s: Scanner): number {
  const { src } = s;
  let at = s.pos;
  while (at < src.length) {
    const code = src.charCodeAt(at);
    if (code === 35) at = src.indexOf("\n", at);
    else if (code > 32 || !isBlankOrLineEnd(code)) {
      s.pos = at;
      return code;
    } else at += 1;
  }
  s.pos = at;
  return TEXT_END;
}

/** Moves behind a character that has to stand here. */
export function take(s: Scanner, code: number): void {
  if (s.src.charCodeAt(s.pos) !== code) unknown();
  s.pos += 1;
}

/** Leaves to the tolerant reader what is printed in another way, where the text is kept. */
export function checkPrinted(s: Scanner, isPrinted: boolean): void {
  if (s.layout && !isPrinted) unknown();
}

/** One level of nesting deeper; `s.depth` is set back where `UNKNOWN` is caught. */
export function enter(s: Scanner): void {
  if (s.depth >= s.maxDepth) unknown();
  s.depth += 1;
}

/** Puts an element of a list that is read on the stack. */
export function push(s: Scanner, element: Json): void {
  s.stack[s.top] = element;
  s.top += 1;
}

/** The elements on the stack from `mark` on, which are taken from it. */
export function popFrom(s: Scanner, mark: number): Json[] {
  const elements = s.stack.slice(mark, s.top) as Json[];
  s.top = mark;
  return elements;
}

/** An ident, or a quoted name without escapes. */
export function readName(s: Scanner): string {
  const { src, pos } = s;
  if (isNameStart(src.charCodeAt(pos))) return s.readIdent();
  const end = src.charCodeAt(pos) === 34 ? plainEnd(src, pos + 1) : -1;
  if (end === -1 || src.charCodeAt(end + 1) === 34) unknown();
  s.pos = end + 1;
  const name = src.slice(pos + 1, end);
  if (nameText(name).length !== s.pos - pos) unknown();
  return name;
}

/** Moves behind an ident that has to stand here. */
export function skipIdent(s: Scanner): void {
  if (!isNameStart(s.src.charCodeAt(s.pos))) unknown();
  s.pos = identEnd(s.src, s.pos);
}

/** By the first character of words that are no names: their lengths, a bit each. */
const WORD_LENGTHS: Uint32Array = wordLengths();

function wordLengths(): Uint32Array {
  const table = new Uint32Array(128);
  for (const word of ["in", "not", ...WORDS.keys()]) {
    const first = word.charCodeAt(0);
    table[first] = (table[first] as number) | (1 << word.length);
  }
  return table;
}

/** Whether a word that is no name begins with a character that begins names. */
export function beginsWord(code: number): boolean {
  return WORD_LENGTHS[code] !== 0;
}

/** Whether a name of this first character and length may be a word that is no name. */
export function mayBeWord(code: number, length: number): boolean {
  return ((WORD_LENGTHS[code] as number) & (1 << length)) !== 0;
}

/** Whole milliseconds as they are printed: `90s`. Undefined when there are none. */
export function readDuration(s: Scanner): number | undefined {
  const { src, pos } = s;
  let digits = pos;
  while (isDigit(src.charCodeAt(digits))) digits += 1;
  let end = digits;
  while (isNamePart(src.charCodeAt(end))) end += 1;
  const unit = durationUnit(src.slice(digits, end));
  const ms = Number(src.slice(pos, digits)) * (unit ?? Number.NaN);
  s.pos = end;
  return Number.isSafeInteger(ms) && durationText(ms) === src.slice(pos, end) ? ms : undefined;
}

/** The value of the text between quotes or holes. */
export function unescaped(raw: string): string {
  let text = "";
  let from = 0;
  for (let at = raw.indexOf("\\"); at !== -1; at = raw.indexOf("\\", from)) {
    const name = raw.charAt(at + 1);
    const hex = name === "u" ? raw.slice(at + 2, at + 6) : undefined;
    if (hex === undefined ? !Object.hasOwn(ESCAPES, name) : !/^[0-9a-fA-F]{4}$/.test(hex))
      unknown();
    const says = hex === undefined ? ESCAPES[name] : String.fromCharCode(Number.parseInt(hex, 16));
    text += raw.slice(from, at) + says;
    from = at + (hex === undefined ? 2 : 6);
  }
  return from === 0 ? raw : text + raw.slice(from);
}
