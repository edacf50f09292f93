/** Quoted strings, with their escapes and holes. Block strings are in `blocks.ts`. */

import { replacement } from "../diagnostics/bag.ts";
import type { Expression, LiteralExpression, TemplateExpression } from "./ast.ts";
import { codeName, isNameStart, unicodeEscape } from "./chars.ts";
import { printExpression } from "./print-expression.ts";
import { type Scanner, TEXT_END } from "./scanner.ts";
import { openBrackets } from "./skip.ts";

/** A line longer than this is data; the place of its missing quote is its end. */
const MAX_LINE = 1000;

/** A string or template under construction: no empty strings, no two strings in a row. */
export class TextParts {
  readonly parts: (string | Expression)[] = [];
  private text = "";

  add(text: string): void {
    this.text += text;
  }

  addHole(expression: Expression): void {
    this.flush();
    this.parts.push(expression);
  }

  /** The finished expression. A string without holes is a literal. */
  finish(start: number, end: number): LiteralExpression | TemplateExpression {
    if (this.parts.length === 0) return { kind: "literal", value: this.text, start, end };
    this.flush();
    return { kind: "template", parts: this.parts, start, end };
  }

  private flush(): void {
    if (this.text !== "") this.parts.push(this.text);
    this.text = "";
  }
}

/**
 * Reads the one-line string at `pos`. Quotes of others are a slip that is read alike. A string that is not closed ends with
 * its line. `s.height` is set.
 */
export function readQuoted(s: Scanner): LiteralExpression | TemplateExpression {
  const { src } = s;
  const start = s.pos;
  const isSlip = src.charCodeAt(start) !== 34;
  if (!isSlip) {
    const plain = readPlain(s, start);
    if (plain) return plain;
  }
  const quote = isSlip ? (CLOSERS[src.charAt(start)] as string).charCodeAt(0) : 34;
  const built = new TextParts();
  let height = 0;
  let chunk = start + 1;
  let at = chunk;
  for (;;) {
    const code = src.charCodeAt(at);
    if (code === quote) break;
    if (code === 92) {
      built.add(src.slice(chunk, at));
      at = readEscape(s, at, quote, built);
      chunk = at;
    } else if (code === 36 && src.charCodeAt(at + 1) === 123) {
      built.add(src.slice(chunk, at));
      s.pos = at;
      built.addHole(s.readHole());
      height = Math.max(height, s.height);
      at = chunk = s.pos;
    } else if (code < 32 || Number.isNaN(code)) {
      if (code === 10 || code === 13 || Number.isNaN(code)) {
        const end = Math.max(chunk, closingPlace(s, start, at));
        built.add(src.slice(chunk, end));
        return unclosed(s, built, start, end, height);
      }
      if (code !== 9) controlCharacter(s, at, code, "string");
      at += 1;
    } else at += 1;
  }
  built.add(src.slice(chunk, at));
  s.pos = s.tokenEnd = at + 1;
  s.height = height + 1;
  const read = built.finish(start, at + 1);
  if (isSlip && s.report.takesNotices) {
    s.error("FLOW1102", start, at + 1, { fix: ["use double quotes", printExpression(read)] });
  }
  return read;
}

/** A string without escapes, holes and control characters: nothing is built, the text is a slice. */
function readPlain(s: Scanner, start: number): LiteralExpression | undefined {
  const end = plainEnd(s.src, start + 1);
  if (end === -1) return undefined;
  s.pos = s.tokenEnd = end + 1;
  s.height = 1;
  return { kind: "literal", value: s.src.slice(start + 1, end), start, end: end + 1 };
}

/** Where the string whose text begins at `from` closes, when nothing in it has to be looked at; else -1. */
export function plainEnd(src: string, from: number): number {
  for (let at = from; at < src.length; at += 1) {
    const code = src.charCodeAt(at);
    if (code === 34) return at;
    const isHole = code === 36 && src.charCodeAt(at + 1) === 123;
    if (code === 92 || isHole || code < 32) return -1;
  }
  return -1;
}

/** Quotes of other languages and of word processors, each with the one that closes it. */
const CLOSERS: { readonly [quote: string]: string } = {
  "'": "'",
  "`": "`",
  "\u2018": "\u2019",
  "\u201c": "\u201d",
  "\u201d": "\u201d",
  "\u201e": "\u201c",
};

/** Whether a string in the quotes of others stands here and closes on its line. */
export function closesSingle(s: Scanner): boolean {
  const code = s.src.charCodeAt(s.pos);
  if (code !== 39 && code !== 96 && !(code > 127)) return false;
  const closer = CLOSERS[s.src.charAt(s.pos)];
  if (closer === undefined || (code === 96 && s.noBackticks)) return false;
  const end = s.src.indexOf(closer, s.pos + 1);
  return end !== -1 && end < s.lineEnd(s.pos);
}

function unclosed(
  s: Scanner,
  built: TextParts,
  start: number,
  at: number,
  height: number,
): LiteralExpression | TemplateExpression {
  s.pos = s.tokenEnd = at;
  s.height = height + 1;
  const quote = CLOSERS[s.src.charAt(start)] ?? '"';
  // A word processor's quote at the end was meant as ours.
  const from = /[\u201c\u201d]/.test(s.src.charAt(at - 1)) ? at - 1 : at;
  let slashes = 0;
  while (s.src.charCodeAt(from - slashes - 1) === 92) slashes += 1;
  // A backslash that escapes nothing would take the quote.
  const text = slashes % 2 === 0 ? quote : `\\${quote}`;
  s.error("FLOW1003", start, at, {
    fix: replacement(`add ${text}`, from, at, text),
  });
  return built.finish(start, at);
}

/** Where the quote of a string is missing that ends with its line at `at`: before what closes brackets of this line. */
function closingPlace(s: Scanner, start: number, at: number): number {
  const line = s.lineStart(start);
  if (at - line > MAX_LINE) return at;
  let open = openBrackets(s.src, line, start, 0);
  let end = at;
  for (
    let last = at - 1;
    open > 0 && last > start && /[\])},;\s]/.test(s.src.charAt(last));
    last -= 1
  ) {
    if (!/[\])}]/.test(s.src.charAt(last))) continue;
    open -= 1;
    end = last;
  }
  if (open > 0) return at;
  while (end < at && /\s/.test(s.src.charAt(end - 1))) end -= 1;
  return end;
}

/** Reports a raw control character inside a text. */
export function controlCharacter(s: Scanner, at: number, code: number, place: string): void {
  s.error("FLOW1002", at, at + 1, {
    parts: { char: codeName(code), place, escape: unicodeEscape(code) },
  });
}

/** Escapes: the character after the backslash, and its value. */
export const ESCAPES: { readonly [char: string]: string } = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  '"': '"',
  "\\": "\\",
  "/": "/",
  $: "$",
};

/** Reads the escape at `at` and gives the position behind it. */
function readEscape(s: Scanner, at: number, quote: number, built: TextParts): number {
  const { src } = s;
  const char = src.charAt(at + 1);
  const known = Object.hasOwn(ESCAPES, char) ? ESCAPES[char] : undefined;
  if (known !== undefined) {
    built.add(known);
    return at + 2;
  }
  if (char === "u") {
    const hex = src.slice(at + 2, at + 6);
    if (/^[0-9a-fA-F]{4}$/.test(hex)) {
      built.add(String.fromCharCode(Number.parseInt(hex, 16)));
      return at + 6;
    }
  }
  if (src.charCodeAt(at + 1) === quote) {
    built.add(char);
    return at + 2;
  }
  const point = src.codePointAt(at + 1);
  const atEnd = point === undefined || point < 32;
  const shown = atEnd ? "" : String.fromCodePoint(point);
  const end = at + 1 + shown.length;
  const isUnclosed = point === undefined || point === 10 || point === 13;
  if (!isUnclosed) {
    const fix = ["write a backslash", `\\\\${shown}`] as const;
    s.error("FLOW1005", at, end, { parts: { char: shown }, fix });
  }
  built.add(`\\${shown}`);
  return end;
}

/**
 * Reads a name: an ident, or a quoted string without holes. `undefined` when none stands here; nothing is read then.
 */
export function readName(s: Scanner): string | undefined {
  const code = s.peek();
  if (code === TEXT_END) return undefined;
  if (isNameStart(code)) return s.readIdent();
  if (code !== 34 && !closesSingle(s)) return undefined;
  const start = s.pos;
  const read = readQuoted(s);
  if (read.kind === "literal") return read.value as string;
  s.error("FLOW1009", start, s.pos);
  return s.src.slice(start + 1, s.pos - 1);
}
