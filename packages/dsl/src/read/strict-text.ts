/**
 * The words of canonical text, for the strict reader (`strict.ts`): what is not known throws `UNKNOWN`, and how far it was read
 * does not matter then.
 */

import { identEnd, isDigit, isNamePart, isNameStart } from "../syntax/chars.ts";
import { durationUnit } from "../syntax/numbers.ts";
import { WORDS } from "../syntax/parse-operand.ts";
import type { Scanner } from "../syntax/scanner.ts";
import { ESCAPES, plainEnd } from "../syntax/strings.ts";

/** Thrown at the first thing that is not known; never thrown out of the strict reader. */
export const UNKNOWN: unique symbol = Symbol("left to the tolerant reader");

/** Leaves the item of the file to the tolerant reader. */
export function unknown(): never {
  throw UNKNOWN;
}

/** Moves over blanks and gives the character behind them. */
export function next(s: Scanner): number {
  const code = s.src.charCodeAt(s.pos);
  if (code > 32) return code;
  s.skipBlanks();
  return s.src.charCodeAt(s.pos);
}

/** Moves behind a character that has to stand here. */
export function take(s: Scanner, code: number): void {
  if (s.src.charCodeAt(s.pos) !== code) unknown();
  s.pos += 1;
}

/** One level of nesting deeper; `s.depth` is set back by whoever catches `UNKNOWN`. */
export function enter(s: Scanner): void {
  if (s.depth >= s.maxDepth) unknown();
  s.depth += 1;
}

/** An ident, or a quoted name without escapes. */
export function readName(s: Scanner): string {
  const { src, pos } = s;
  if (isNameStart(src.charCodeAt(pos))) return s.readIdent();
  const end = src.charCodeAt(pos) === 34 ? plainEnd(src, pos + 1) : -1;
  if (end === -1 || src.charCodeAt(end + 1) === 34) unknown();
  s.pos = end + 1;
  return src.slice(pos + 1, end);
}

/** Moves behind an ident that has to stand here. */
export function skipIdent(s: Scanner): void {
  if (!isNameStart(s.src.charCodeAt(s.pos))) unknown();
  s.pos = identEnd(s.src, s.pos);
}

const WORD_STARTS: Uint8Array = wordStarts();

function wordStarts(): Uint8Array {
  const table = new Uint8Array(128);
  for (const word of ["in", "not", ...WORDS.keys()]) table[word.charCodeAt(0)] = 1;
  return table;
}

/** Whether a word that is no name begins with a character that begins names. */
export function beginsWord(code: number): boolean {
  return WORD_STARTS[code] === 1;
}

/** Whole milliseconds: `90s`. Undefined, and nothing is read, when no duration without a fraction stands here. */
export function readDuration(s: Scanner): number | undefined {
  const { src, pos } = s;
  let digits = pos;
  while (isDigit(src.charCodeAt(digits))) digits += 1;
  let end = digits;
  while (isNamePart(src.charCodeAt(end))) end += 1;
  const unit = durationUnit(src.slice(digits, end));
  const ms = Number(src.slice(pos, digits)) * (unit ?? Number.NaN);
  const isPadded = src.charCodeAt(pos) === 48 && digits > pos + 1;
  if (digits === pos || isPadded || !Number.isSafeInteger(ms)) return undefined;
  s.pos = end;
  return ms;
}

/** What the text between quotes or holes says. */
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
