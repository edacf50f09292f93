/**
 * Finds its way over text that is not understood: brackets, strings and comments are told apart, nothing else. Iterative,
 * so the nesting of what is skipped does not matter.
 */
import type { Scanner } from "./scanner.ts";

/** Moves `pos` behind the bracket that closes the one at `open`, or to the end. */
export function skipBalanced(s: Scanner, open: number): void {
  let level = 0;
  let at = open;
  while (at < s.src.length) {
    const code = s.src.charCodeAt(at);
    if (code === 40 || code === 91 || code === 123) level += 1;
    else if (code === 41 || code === 93 || code === 125) {
      level -= 1;
      if (level <= 0) {
        at += 1;
        break;
      }
    } else if (code === 34 || code === 35) {
      at = skipQuoted(s, at);
      continue;
    }
    at += 1;
  }
  s.pos = s.tokenEnd = at;
}

/**
 * The next separator or closer on the nesting of `from`: the position of a comma, a line end or a closing bracket; -1 when
 * the text ends, or a line begins that is indented no deeper than the item, first.
 */
export function findSeparator(s: Scanner, from: number): number {
  let level = 0;
  let at = from;
  while (at < s.src.length) {
    const code = s.src.charCodeAt(at);
    if (code === 40 || code === 91 || code === 123) level += 1;
    else if (code === 41 || code === 93 || code === 125) {
      if (level === 0) return at;
      level -= 1;
    } else if (code === 44) {
      if (level === 0) return at;
    } else if (code === 10) {
      if (leavesItem(s, at + 1)) return -1;
      if (level === 0) return at;
    } else if (code === 34 || code === 35) {
      at = skipQuoted(s, at);
      continue;
    }
    at += 1;
  }
  return -1;
}

/** The first line that begins between two positions, is indented no deeper than the item, and is no closer; -1: none. */
export function lineOutsideItem(s: Scanner, from: number, to: number): number {
  for (let at = s.src.indexOf("\n", from); at !== -1 && at < to; at = s.src.indexOf("\n", at + 1)) {
    if (leavesItem(s, at + 1)) return at + 1;
  }
  return -1;
}

/** How many brackets are open at `to`, never below 0, when `open` were at `from`. */
export function openBrackets(s: Scanner, from: number, to: number, open: number): number {
  let level = open;
  let at = from;
  while (at < to) {
    const code = s.src.charCodeAt(at);
    if (code === 40 || code === 91 || code === 123) level += 1;
    else if (code === 41 || code === 93 || code === 125) level = Math.max(0, level - 1);
    else if (code === 34 || code === 35) {
      at = skipQuoted(s, at);
      continue;
    }
    at += 1;
  }
  return level;
}

/** First character of the line at `lineStart` that is not blank. */
export function firstOfLine(s: Scanner, lineStart: number): number {
  let at = lineStart;
  for (;;) {
    const code = s.src.charCodeAt(at);
    if (code !== 32 && code !== 9 && code !== 13) return at;
    at += 1;
  }
}

function leavesItem(s: Scanner, lineStart: number): boolean {
  const first = firstOfLine(s, lineStart);
  const code = s.src.charCodeAt(first);
  if (code === 10 || Number.isNaN(code) || first - lineStart > s.itemIndent) return false;
  return code !== 125 && code !== 93 && code !== 41 && code !== 35;
}

/** End of the comment or string at `at`; a string ends with its line, a run of three or more quotes is only a run. */
function skipQuoted(s: Scanner, at: number): number {
  const { src } = s;
  if (src.charCodeAt(at) === 35) {
    const end = src.indexOf("\n", at);
    return end === -1 ? src.length : end;
  }
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
