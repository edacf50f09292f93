/** Values of canonical text that are no list and no object, as the graph has them: literals, templates and expressions. */

import type { Json } from "@millrace/contracts";
import { isDigit, isNameStart } from "../syntax/chars.ts";
import { numberText, readPlainNumber } from "../syntax/numbers.ts";
import { WORDS } from "../syntax/parse-operand.ts";
import { escapeText } from "../syntax/print-expression.ts";
import type { Scanner } from "../syntax/scanner.ts";
import { readHole, readSource } from "./strict-expression.ts";
import {
  beginsWord,
  checkPrinted,
  next,
  popFrom,
  push,
  unescaped,
  unknown,
} from "./strict-text.ts";

/** Whether a value may end here: behind it stand blanks and a line end, a comment, a separator, a closer or a block. */
export function endsValue(s: Scanner): boolean {
  const blanks = s.src.charCodeAt(s.pos) === 32 ? 1 : 0;
  const code = next(s, blanks);
  if (code === 10 || code === 44 || code === 93) return !s.layout || blanks === 0;
  return (code === 125 || code === 35 || code === 123) && (!s.layout || blanks === 1);
}

/** A value that is no list and no object. `literal`: nothing in it may have to be evaluated. */
export function readScalar(s: Scanner, literal: boolean): Json {
  const start = s.pos;
  const code = s.src.charCodeAt(start);
  let data: Json | undefined;
  s.height = 0;
  if (code === 34) data = readText(s, literal);
  else if (isNameStart(code)) data = beginsWord(code) ? readWord(s) : undefined;
  else if (isDigit(code) || code === 45) {
    data = readPlainNumber(s, start);
    if (data !== undefined)
      checkPrinted(s, !s.layout || numberText(data) === s.src.slice(start, s.pos));
  }
  if (data !== undefined && endsValue(s)) return data;
  if (literal) unknown();
  s.pos = start;
  const source = readSource(s);
  s.height = 0;
  return endsValue(s) ? { $: source } : unknown();
}

/** `true`, `false` or `null`; `undefined` for a name. */
function readWord(s: Scanner): Json | undefined {
  const name = s.readIdent();
  const word = WORDS.get(name);
  return word === undefined || String(word) === name ? word : unknown();
}

/** A string, a template or a block string. */
function readText(s: Scanner, literal: boolean): Json {
  const { src, top } = s;
  let from = s.pos + 1;
  if (src.charCodeAt(from) === 34 && src.charCodeAt(from + 1) === 34) return readBlock(s, literal);
  let isPlain = true;
  for (let at = from; ; ) {
    const code = src.charCodeAt(at);
    if (code === 34) {
      s.pos = at + 1;
      s.height = 0;
      return textOf(s, top, readPiece(s, from, at, isPlain));
    }
    if (code === 36 && src.charCodeAt(at + 1) === 123) {
      if (literal) unknown();
      if (at > from) push(s, readPiece(s, from, at, isPlain));
      push(s, { $: readHole(s, at) });
      at = from = s.pos;
      isPlain = true;
    } else if (code === 92) {
      isPlain = false;
      at += 2;
    } else if (code >= 32) at += 1;
    else unknown(); // a control, a line end, or the end of the text
  }
}

/** A piece of a string; where the text is kept, one that may be printed as a block, or with other escapes, is not known. */
function readPiece(s: Scanner, from: number, to: number, isPlain: boolean): string {
  const raw = s.src.slice(from, to);
  const text = isPlain ? raw : unescaped(raw);
  if (s.layout && (escapeText(text) !== raw || (text !== raw && text.includes("\n")))) unknown();
  return text;
}

/** A text with what stands on the stack, from `mark` on, before its last piece. */
function textOf(s: Scanner, mark: number, last: string): Json {
  if (s.top === mark) return last;
  if (last !== "") push(s, last);
  return { $t: popFrom(s, mark) };
}

/** A block string in which every line that is not empty has the indent, and no hole is escaped. */
function readBlock(s: Scanner, literal: boolean): Json {
  const { src, pos, top } = s;
  let content = pos;
  while (src.charCodeAt(content) === 34) content += 1;
  const quotes = content - pos;
  if (src.charCodeAt(content) !== 10 || s.hasCr) unknown();
  content += 1;
  let least = Number.POSITIVE_INFINITY;
  let line = content;
  let fence = line;
  for (;;) {
    fence = line;
    while (src.charCodeAt(fence) === 32) fence += 1;
    if (src.charCodeAt(fence) === 9) unknown();
    let end = fence;
    while (src.charCodeAt(end) === 34) end += 1;
    if (end - fence === quotes) break;
    end = src.indexOf("\n", end);
    if (end === -1) unknown();
    if (end > line) least = Math.min(least, fence - line);
    line = end + 1;
  }
  const indent = fence - line;
  if (least < indent) unknown();
  const last = Math.max(content, line - 1);
  s.layout?.checkBlock(s, src.slice(content, last), indent, quotes);
  let from = src.charCodeAt(content) === 10 ? content : Math.min(content + indent, last);
  for (let hole = s.nextHole(content); hole < line; hole = s.nextHole(from)) {
    if (literal || src.charCodeAt(hole - 1) === 92) unknown();
    if (hole > from) push(s, unindented(src.slice(from, hole), indent));
    push(s, { $: readHole(s, hole) });
    from = s.pos;
  }
  const text = unindented(src.slice(from, last), indent);
  s.pos = fence + quotes;
  s.height = 2; // in a list it fits on no line, like a list of lists
  return textOf(s, top, text);
}

/** Starts of lines by indent: searched as fast as a string, without a list of lines. */
const LINE_STARTS: readonly RegExp[] = Array.from(
  { length: 40 },
  (_, indent) => new RegExp(`\n${" ".repeat(indent)}`, "g"),
);

/** Lines without the indent of all but the first. */
function unindented(lines: string, indent: number): string {
  if (indent === 0) return lines;
  const lineStart = LINE_STARTS[indent];
  return lineStart
    ? lines.replace(lineStart, "\n")
    : lines.split(`\n${" ".repeat(indent)}`).join("\n");
}
