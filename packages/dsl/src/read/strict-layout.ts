/**
 * How canonical text is laid out, for the strict reader where the text is kept (`s.layout`): line ends, indents, empty lines and
 * comments as they are printed, and lists and objects over as many lines as they are printed over. Anything else is unknown.
 */

import type { Layout, Scanner } from "../syntax/scanner.ts";
import { isBlockText, MAX_INLINE } from "../write/print-value.ts";
import { next, take, unknown } from "./strict-text.ts";

/** Moves over the comment behind an item, to its line end. */
function skipComment(s: Scanner): void {
  const { pos } = s;
  if (s.src.charCodeAt(pos) !== 35 || s.src.charCodeAt(pos - 1) !== 32) unknown();
  moveOverComment(s);
}

/** Moves over the comment that stands here, to its line end. */
function moveOverComment(s: Scanner): void {
  s.pos = s.src.indexOf("\n", s.pos);
  if (s.src.charCodeAt(s.pos - 1) === 32) unknown();
}

/** Moves over a line end, and over an empty line if one follows and `mayPart`. Gives the indent behind them. */
function skipLineEnd(s: Scanner, mayPart: boolean): number {
  take(s, 10);
  if (mayPart && s.src.charCodeAt(s.pos) === 10) s.pos += 1;
  const start = s.pos;
  while (s.src.charCodeAt(s.pos) === 32) s.pos += 1;
  return s.pos - start;
}

/** Moves to the next item of a block, over the comments before it, or behind the `}`; false for that. */
function hasItem(s: Scanner): boolean {
  const { src } = s;
  let isFirst = src.charCodeAt(s.pos - 1) === 123;
  for (; ; isFirst = false) {
    const start = s.pos;
    const indent = skipLineEnd(s, !isFirst);
    const code = src.charCodeAt(s.pos);
    if (code === 125) {
      s.level -= 1;
      if (isFirst || s.pos - start !== indent + 1) unknown();
    }
    if (indent !== 2 * s.level) unknown();
    if (code === 35) moveOverComment(s);
    else {
      if (code === 125) s.pos += 1;
      return code !== 125;
    }
  }
}

/** Moves over blanks and line ends before an item of the file, and counts the line ends. */
function skipEmptyLines(s: Scanner): number {
  let count = 0;
  for (; ; s.pos += 1) {
    const code = s.src.charCodeAt(s.pos);
    if (code === 10) count += 1;
    else if (code !== 32) return count;
  }
}

/** Moves over the comments before an item of the file. */
function skipLead(s: Scanner): void {
  while (s.src.charCodeAt(s.pos) === 35) {
    moveOverComment(s);
    if (skipLineEnd(s, true) > 0) unknown();
  }
}

/** Moves to the next element of the list or object that begins at `start`, or behind its closer; false for that. */
function hasElement(s: Scanner, closer: number, start: number, count: number): boolean {
  const { src } = s;
  if (src.charCodeAt(start + 1) !== 10) {
    if (src.charCodeAt(s.pos) !== closer) {
      if (count > 0) take(s, 44);
      next(s, count > 0 || closer === 125 ? 1 : 0);
      return true;
    }
  } else {
    if (count > 0) take(s, 44);
    else s.level += 1;
    const indent = skipLineEnd(s, false);
    if (count === 0 || src.charCodeAt(s.pos) !== closer) {
      if (indent !== 2 * s.level) unknown();
      return true;
    }
    s.level -= 1;
    if (indent !== 2 * s.level) unknown();
  }
  s.pos += 1;
  return false;
}

/** Checks that the list or object from `start` to `pos` is on one line exactly when it fits there. */
function checkLines(s: Scanner, start: number, count: number): void {
  const isLines = s.src.charCodeAt(start + 1) === 10;
  let width = s.pos - start - (isLines || s.src.charCodeAt(start) === 91 ? 2 : 4);
  // Over several lines each element has a line end, an indent and a comma, on one line all but the last a comma and a blank.
  if (isLines) width -= 3 + 2 * s.level + count * (2 * s.level + 2);
  if (isLines === (s.height <= 2 && width <= MAX_INLINE)) unknown();
}

/** Checks the block string with these lines, indent and number of quotes. */
function checkBlock(s: Scanner, lines: string, indent: number, quotes: number): void {
  const isPrinted = indent === 2 * s.level + 2 && quotes === 3 && !lines.includes('"""');
  if (!isPrinted || !isBlockText(lines)) unknown();
}

/** Canonical text as `printFlow` lays it out. */
export const LAYOUT: Layout = {
  hasItem,
  hasElement,
  checkLines,
  checkBlock,
  skipComment,
  skipEmptyLines,
  skipLead,
};
