/**
 * Searches in text that could not be parsed: only brackets, strings and comments are recognised. Iterative, so nesting of any
 * depth is safe.
 */

/** The position behind the bracket that closes the one at `open`, or the end of the text. */
export function behindBrackets(src: string, open: number): number {
  let level = 0;
  let at = open;
  while (at < src.length) {
    const code = src.charCodeAt(at);
    if (code === 40 || code === 91 || code === 123) level += 1;
    else if (code === 41 || code === 93 || code === 125) {
      level -= 1;
      if (level <= 0) {
        at += 1;
        break;
      }
    } else if (code === 34 || code === 35) {
      at = skipQuoted(src, at);
      continue;
    }
    at += 1;
  }
  return at;
}

/**
 * The next separator or closer at the nesting level of `from`: the position of a comma, a line end or a closing bracket; -1
 * when the text ends first, or a line with at most the indent of the item begins first.
 */
export function findSeparator(src: string, from: number, itemIndent: number): number {
  let level = 0;
  let at = from;
  while (at < src.length) {
    const code = src.charCodeAt(at);
    if (code === 40 || code === 91 || code === 123) level += 1;
    else if (code === 41 || code === 93 || code === 125) {
      if (level === 0) return at;
      level -= 1;
    } else if (code === 44) {
      if (level === 0) return at;
    } else if (code === 10) {
      if (leavesItem(src, at + 1, itemIndent)) return -1;
      if (level === 0) return at;
    } else if (code === 34 || code === 35) {
      at = skipQuoted(src, at);
      continue;
    }
    at += 1;
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
  let at = from;
  while (at < to) {
    const code = src.charCodeAt(at);
    if (code === 40 || code === 91 || code === 123) level += 1;
    else if (code === 41 || code === 93 || code === 125) level = Math.max(0, level - 1);
    else if (code === 34 || code === 35) {
      at = skipQuoted(src, at);
      continue;
    }
    at += 1;
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
