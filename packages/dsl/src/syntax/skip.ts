/**
 * Searches in text that could not be parsed: only brackets, strings and comments are recognised. Iterative, so nesting of any
 * depth is safe.
 */
import { identEnd, isDigit, isNamePart, isNameStart } from "./chars.ts";

/** The next bracket, comma or line end from `from` on that is in no string or comment, or the end of the text. */
function nextMark(src: string, from: number): number {
  let at = from;
  while (at < src.length) {
    const code = src.charCodeAt(at);
    if (code === 34 || code === 35) at = skipQuoted(src, at);
    else if (code === 44 || code === 10 || stepOf(code) !== 0) return at;
    else at += 1;
  }
  return at;
}

/** 1 for an opening bracket, -1 for a closing one, else 0. */
function stepOf(code: number): number {
  if (code === 40 || code === 91 || code === 123) return 1;
  return code === 41 || code === 93 || code === 125 ? -1 : 0;
}

/** The position behind the bracket that closes the one at `open`, or the end of the text. */
export function behindBrackets(src: string, open: number): number {
  let level = 0;
  for (let at = nextMark(src, open); at < src.length; at = nextMark(src, at + 1)) {
    const step = stepOf(src.charCodeAt(at));
    level += step;
    if (step < 0 && level <= 0) return at + 1;
  }
  return src.length;
}

/**
 * The next separator or closer at the nesting level of `from`: the position of a comma, a line end or a closing bracket; -1
 * when the text ends first, or a line with at most the indent of the item begins first.
 */
export function findSeparator(src: string, from: number, itemIndent: number): number {
  let level = 0;
  for (let at = nextMark(src, from); at < src.length; at = nextMark(src, at + 1)) {
    const code = src.charCodeAt(at);
    const step = stepOf(code);
    if (code === 10 && leavesItem(src, at + 1, itemIndent)) return -1;
    if (level === 0 && step <= 0) return at;
    level += step;
  }
  return -1;
}

/** Start of the first line between two positions that has at most the indent of the item and is no closer; -1: none. */
export function lineOutsideItem(src: string, from: number, to: number, itemIndent: number): number {
  for (let at = src.indexOf("\n", from); at !== -1 && at < to; at = src.indexOf("\n", at + 1)) {
    if (leavesItem(src, at + 1, itemIndent)) return at + 1;
  }
  return -1;
}

/** The number of open brackets at `to`, never below 0, when `open` are open at `from`. */
export function openBrackets(src: string, from: number, to: number, open: number): number {
  let level = open;
  for (let at = nextMark(src, from); at < to; at = nextMark(src, at + 1)) {
    level = Math.max(0, level + stepOf(src.charCodeAt(at)));
  }
  return level;
}

/** First character of the line at `lineStart` that is not blank. */
export function firstOfLine(src: string, lineStart: number): number {
  let at = lineStart;
  for (;;) {
    const code = src.charCodeAt(at);
    if (code !== 32 && code !== 9 && code !== 13) return at;
    at += 1;
  }
}

function leavesItem(src: string, lineStart: number, itemIndent: number): boolean {
  const first = firstOfLine(src, lineStart);
  const code = src.charCodeAt(first);
  if (code === 10 || Number.isNaN(code) || first - lineStart > itemIndent) return false;
  return code !== 125 && code !== 93 && code !== 41 && code !== 35;
}

/** End of the comment or string at `at`; a string ends with its line, a run of three or more quotes is only a run. */
function skipQuoted(src: string, at: number): number {
  if (src.charCodeAt(at) === 35) return lineEnd(src, at);
  let end = at + 1;
  while (src.charCodeAt(end) === 34) end += 1;
  if (end - at > 1) return end;
  for (; end < src.length; end += 1) {
    const code = src.charCodeAt(end);
    if (code === 34) return end + 1;
    if (code === 10) return end;
    if (code === 92) end += 1;
  }
  return Math.min(end, src.length);
}

/** End of the token at `at`. A string ends with its line at the latest, and at a line end or the end there is none. */
export function tokenEnd(src: string, at: number): number {
  const code = src.charCodeAt(at);
  if (Number.isNaN(code) || code === 10 || code === 13) return at;
  if (code === 35) return lineEnd(src, at);
  if (isNameStart(code)) return identEnd(src, at);
  if (isDigit(code)) {
    let end = at + 1;
    while (isNamePart(src.charCodeAt(end)) || src.charCodeAt(end) === 46) end += 1;
    return end;
  }
  if (code === 34) return stringEnd(src, at);
  if (TWO_CHARACTERS.has(src.slice(at, at + 2))) return at + 2;
  return at + ((src.codePointAt(at) as number) > 0xffff ? 2 : 1);
}

const TWO_CHARACTERS = new Set(["->", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "${"]);

function stringEnd(src: string, at: number): number {
  for (let end = at + 1; ; end += 1) {
    const code = src.charCodeAt(end);
    if (code === 34) return end + 1;
    if (Number.isNaN(code) || code === 10 || code === 13) return end;
    if (code === 92 && src.charCodeAt(end + 1) >= 32) end += 1;
  }
}

/** The line end at or behind an offset. */
export function lineEnd(src: string, at: number): number {
  const found = src.indexOf("\n", at);
  return found === -1 ? src.length : found;
}
