/** Comments, separators and blanks of other languages: read as what is meant, and reported with a fix as this one writes them. */

import { replacement, type TextFix } from "../diagnostics/bag.ts";
import { codeName, isStrangeBlank } from "./chars.ts";
import type { Cursor } from "./cursor.ts";

/** Reads a star comment as one comment a line. */
export function readStarComment(s: Cursor, blank: boolean): void {
  const start = s.pos;
  const close = s.src.indexOf("*/", start + 2);
  const inner = close === -1 ? s.src.length : close;
  const end = close === -1 ? inner : close + 2;
  const texts = starCommentLines(s.src.slice(start + 2, inner));
  if (s.report.takesNotices) {
    const fix = close === -1 ? undefined : starCommentFix(s, start, end, texts);
    s.error("FLOW1104", start, start + 2, fix && { fix });
  }
  s.giveComments(texts.map((text, index) => ({ text, blank: blank && index === 0 })));
  s.pos = end;
}

function starCommentFix(
  s: Cursor,
  start: number,
  end: number,
  texts: readonly string[],
): TextFix | undefined {
  const before = s.src.slice(s.lineStart(start), start);
  const text = hashComments(texts, before, s.src.slice(end, s.lineEnd(end)));
  return text === undefined ? undefined : replacement("write #", start, end, text);
}

/** Passes over semicolons; where more follows on the line, the fix starts a new one. */
export function readSemicolons(s: Cursor): void {
  const start = s.pos;
  while (s.src.charCodeAt(s.pos) === 59) s.pos += 1;
  const end = s.pos;
  s.skipBlanks();
  const next = s.src.charCodeAt(s.pos);
  const isLast = Number.isNaN(next) || next === 10 || next === 35 || next === 47 || next === 125;
  const instead = isLast ? "" : s.flat > 0 ? " " : s.lineBreak(start);
  s.error("FLOW1105", start, end, { fix: ["remove ;", instead] });
}

/** Passes over a control character, or a blank that is neither a space nor a tab. */
export function strangeCharacter(s: Cursor, code: number): void {
  const at = s.pos;
  s.pos += 1;
  const blank = isStrangeBlank(code);
  s.error("FLOW1001", at, at + 1, {
    parts: { found: codeName(code) },
    ...(blank && {
      hint: code === 0xfeff ? "a byte order mark stands only at the start" : "use a plain space",
      fix: ["use a space", " "],
    }),
  });
}

/** The lines of what stands between the two ends of a star comment, without the stars in front of them. */
function starCommentLines(inner: string): string[] {
  const texts = inner.split("\n").map((line) =>
    line
      .replaceAll("\0", "")
      .replace(/^\s*\*?\s*/, " ")
      .trimEnd(),
  );
  if (texts.length > 1 && texts[0] === "") texts.shift();
  if (texts.length > 1 && texts.at(-1) === "") texts.pop();
  return texts;
}

/**
 * Those lines as `#` comments, between what stands before and behind them on their line; undefined where something stands
 * on both sides, because a `#` comment ends its line.
 */
function hashComments(
  texts: readonly string[],
  before: string,
  behind: string,
): string | undefined {
  const isFirst = before.trim() === "";
  const isLast = behind.trim() === "";
  if (!isFirst && !isLast) return undefined;
  const comments = texts.map((text) => `#${text}`).join(`\n${isFirst ? before : ""}`);
  return isLast ? comments : `${comments}\n${before}`;
}

/** A longer line is not searched for the next element. */
const MAX_ELEMENT = 400;
/** An element that ends where another one may: a text, a number, or a name that is no word of another language. */
const ELEMENT =
  /^(?:"(?:[^"\\\n]|\\.)*"|-?\d[\w.]*|(?!(?:as|else|for|if|in|is|like|not|of|or|then|unless|when)\b)[A-Za-z_][\w.-]*)\s*[,()\]}]/;
const ENTRY = /^(?:"[^"\n]*"|[A-Za-z_][\w-]*)\s*[:=](?![=>])/;

/** Reads on where an element follows another one without a comma; fails where something else follows. */
export function missingComma(s: Cursor, what: string, isEntry = false): void {
  const at = s.pos;
  const next = s.src.slice(at, at + MAX_ELEMENT);
  if (!(isEntry ? ENTRY : ELEMENT).test(next)) s.expected(what);
  const end = s.tokenEndAt(at);
  s.error("FLOW1006", at, end, {
    parts: { what, found: s.tokenText(at, end) },
    fix: replacement("write ,", s.tokenEnd, s.tokenEnd, ","),
  });
}
