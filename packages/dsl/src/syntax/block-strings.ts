/**
 * Block strings: N >= 3 quotes, line end, lines, a line of blanks and the same N quotes. The blanks before the closing
 * quotes are the indent and are stripped from every line.
 *   B1  linear: a line is looked at once for the fence, and the next `${` is asked of the scanner, which keeps the answer.
 *   B2  a fence counts only at the start of a line of this block, never inside one of its holes.
 */

import { replacement } from "../diagnostics/bag.ts";
import type { Expression, LiteralExpression, TemplateExpression } from "./ast.ts";
import { CHAR, CLASSES, isBlankOrLineEnd } from "./chars.ts";
import type { Scanner } from "./scanner.ts";
import { firstOfLine } from "./skip.ts";
import { controlCharacter, readQuoted, TextParts } from "./strings.ts";

/** Text between holes, by offsets, or a hole, or a literal `${` with its backslashes. */
type Piece =
  | { readonly from: number; readonly to: number }
  | { readonly hole: Expression }
  | string;

/** Reads the block at `pos`; sets `s.height`. */
export function readBlock(s: Scanner): LiteralExpression | TemplateExpression {
  const { src } = s;
  const start = s.pos;
  let quotes = start;
  while (src.charCodeAt(quotes) === 34) quotes += 1;
  const count = quotes - start;
  const lineEnd = s.lineEnd(quotes);
  const first = firstOfLine(src, quotes);
  let content = src.indexOf("\n", quotes) + 1;
  if (content === 0) content = src.length + 1;
  if (first < lineEnd) {
    const inline = readInline(s, start, quotes, count, lineEnd);
    if (inline) return inline;
    content = quotes; // FLOW1007 is reported at the fence, whose indent the mended line needs
  }
  const pieces: Piece[] = [];
  let height = 0;
  let from = content;
  let line = content;
  let isLineStart = content > quotes;
  for (;;) {
    if (line > src.length) {
      return endOfText(s, start, count, pieces, from, height);
    }
    if (isLineStart) {
      const indentEnd = fenceAt(s, line, count);
      if (indentEnd !== -1) {
        const text = line > from ? line - 1 : from;
        if (pieces.length > 0 || line > content) pieces.push({ from, to: Math.max(from, text) });
        s.pos = s.tokenEnd = indentEnd + count;
        s.height = height + 1;
        if (content === quotes) textBesideQuotes(s, quotes, src.slice(line, indentEnd));
        return finish(s, pieces, src.slice(line, indentEnd), start, content, quotes);
      }
    }
    const found = src.indexOf("\n", line);
    const end = found === -1 ? src.length : found;
    const hole = s.nextHole(line);
    if (hole >= end) {
      if (s.hasControl) checkControls(s, line, end);
      line = found === -1 ? src.length + 1 : end + 1;
      isLineStart = true;
      continue;
    }
    if (s.hasControl) checkControls(s, line, hole);
    let slashes = 0;
    while (hole - slashes > from && src.charCodeAt(hole - slashes - 1) === 92) slashes += 1;
    pieces.push({ from, to: hole - slashes }, "\\".repeat(slashes >> 1));
    if (slashes % 2 === 1) {
      pieces.push("${");
      from = line = hole + 2;
    } else {
      s.pos = hole;
      pieces.push({ hole: s.readHole() });
      height = Math.max(height, s.height);
      from = line = s.pos;
    }
    isLineStart = false;
  }
}

/** End of the blanks when the line holds exactly `count` quotes after them, else -1. */
function fenceAt(s: Scanner, line: number, count: number): number {
  const { src } = s;
  let at = line;
  while (CLASSES[src.charCodeAt(at)] === CHAR.blank) at += 1;
  if (src.charCodeAt(at) !== 34) return -1;
  let end = at;
  while (src.charCodeAt(end) === 34) end += 1;
  return end - at === count ? at : -1;
}

/** A block on the line of its opening quotes: reported, and read when it closes there too. */
function readInline(
  s: Scanner,
  start: number,
  quotes: number,
  count: number,
  lineEnd: number,
): LiteralExpression | TemplateExpression | undefined {
  const { src } = s;
  const fence = '"'.repeat(count);
  const close = src.indexOf(fence, quotes);
  const closes = close !== -1 && close < lineEnd;
  if (!closes) return undefined;
  s.error("FLOW1007", quotes, close, {
    fix: {
      title: "start new lines",
      edits: [
        { start: quotes, end: quotes, text: "\n" },
        { start: close, end: close, text: "\n" },
      ],
    },
  });
  s.pos = s.tokenEnd = close + count;
  s.height = 1;
  const end = s.pos;
  if (s.nextHole(quotes) >= close) {
    return { kind: "literal", value: src.slice(quotes, close), start, end };
  }
  // With holes, the inside is read like a quoted string; the outer quotes of both are the same ones.
  s.pos = quotes - 1;
  const read = readQuoted(s);
  s.pos = s.tokenEnd = Math.max(s.pos, end);
  return { ...read, start, end: s.pos };
}

function textBesideQuotes(s: Scanner, quotes: number, indent: string): void {
  const end = s.lineEnd(quotes);
  // What ends every field of other languages is no text.
  const isEnd = /^[ \t]*[;,][ \t]*$/.test(s.src.slice(quotes, end));
  s.error("FLOW1007", quotes, end, {
    fix: isEnd
      ? replacement("remove it", quotes, end, "")
      : replacement("start a new line", quotes, quotes, `\n${indent}`),
  });
}

function endOfText(
  s: Scanner,
  start: number,
  count: number,
  pieces: Piece[],
  from: number,
  height: number,
): LiteralExpression | TemplateExpression {
  const { src } = s;
  s.swallowed = true;
  s.report.dropped.push({ start, end: src.length });
  s.pos = s.tokenEnd = src.length;
  s.height = height + 1;
  const close = misplacedFence(src, start + count, count);
  s.error("FLOW1004", start, start + count, {
    parts: { n: count },
    fix:
      close !== -1 ? replacement("start a new line", close, close, s.lineBreak(close)) : undefined,
  });
  pieces.push({ from: Math.min(from, src.length), to: src.length });
  const built = new TextParts();
  for (const piece of pieces) addRaw(s, built, piece);
  return built.finish(start, src.length);
}

function addRaw(s: Scanner, built: TextParts, piece: Piece): void {
  if (typeof piece === "string") built.add(piece);
  else if ("hole" in piece) built.addHole(piece.hole);
  else built.add(s.src.slice(piece.from, piece.to).replaceAll("\r\n", "\n"));
}

/** Strips the indent and joins the pieces. */
function finish(
  s: Scanner,
  pieces: readonly Piece[],
  indent: string,
  start: number,
  content: number,
  quotes: number,
): LiteralExpression | TemplateExpression {
  const built = new TextParts();
  let isFirst = content > quotes;
  for (const piece of pieces) {
    if (typeof piece === "string" || "hole" in piece) addRaw(s, built, piece);
    else built.add(stripIndent(s, piece.from, piece.to, indent, isFirst));
    isFirst = false;
  }
  return built.finish(start, s.pos);
}

/** The text between two offsets without the indent of its lines; `atLineStart`: the first line begins at `from`. */
function stripIndent(
  s: Scanner,
  from: number,
  to: number,
  indent: string,
  atLineStart: boolean,
): string {
  const { src } = s;
  const raw = src.slice(from, to);
  const text = raw.includes("\r") ? crlfToLf(s, raw, to) : raw;
  let needsRepair = false;
  let line = atLineStart ? from : src.indexOf("\n", from) + 1;
  while (line !== 0 && line <= to) {
    if (!src.startsWith(indent, line)) {
      const first = firstOfLine(src, line);
      const code = src.charCodeAt(first);
      if (code === 10 || Number.isNaN(code)) needsRepair ||= first > line && first <= to;
      else {
        needsRepair = true;
        badIndent(s, line, first, indent);
      }
    }
    line = src.indexOf("\n", line) + 1;
  }
  if (indent === "") return text;
  if (!needsRepair) {
    const stripped = text.replaceAll(`\n${indent}`, "\n");
    return atLineStart && stripped.startsWith(indent) ? stripped.slice(indent.length) : stripped;
  }
  const lines = text.split("\n");
  return lines
    .map((part, index) => (index === 0 && !atLineStart ? part : stripLine(part, indent)))
    .join("\n");
}

/** A piece that ends before the fence ends before its LF, and so with the CR of that line end. */
function crlfToLf(s: Scanner, raw: string, to: number): string {
  const text = raw.endsWith("\r") && s.src.charCodeAt(to) === 10 ? raw.slice(0, -1) : raw;
  return text.replaceAll("\r\n", "\n");
}

function stripLine(line: string, indent: string): string {
  if (line.startsWith(indent)) return line.slice(indent.length);
  return line.replace(/^[ \t]*/, "");
}

function badIndent(s: Scanner, line: number, first: number, indent: string): void {
  const blanks = s.src.slice(line, first);
  const mixed = !indent.startsWith(blanks);
  s.error("FLOW1008", line, first, {
    ...(mixed && { message: 'tabs and spaces differ from the indent of the closing `"""`' }),
    fix: ["indent the line", indent],
  });
}

function checkControls(s: Scanner, from: number, to: number): void {
  for (let at = from; at < to; at += 1) {
    const code = s.src.charCodeAt(at);
    if (code < 32 && code !== 9 && code !== 10 && code !== 13)
      controlCharacter(s, at, code, "string");
  }
}

/** The first line behind `from` that ends in exactly `count` quotes, with text before them: the place of the quotes, or -1. */
function misplacedFence(src: string, from: number, count: number): number {
  for (let line = from, next = 0; line < src.length; line = next + 1) {
    const found = src.indexOf("\n", line);
    next = found === -1 ? src.length : found;
    let end = next;
    while (end > line && isBlankOrLineEnd(src.charCodeAt(end - 1))) end -= 1;
    let quotes = end;
    while (quotes > line && src.charCodeAt(quotes - 1) === 34) quotes -= 1;
    if (end - quotes === count && src.slice(line, quotes).trim() !== "") return quotes;
  }
  return -1;
}
