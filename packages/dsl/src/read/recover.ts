/**
 * Where reading goes on after an item failed: at the next line indented no deeper than its first line.
 *   R1  a line is read a second time only out of `rereadBudget`, so recovery stays linear.
 *   R2  closers of brackets that the failed item opened belong to it.
 */
import { isBlankOrLineEnd } from "../syntax/chars.ts";
import type { Scanner } from "../syntax/scanner.ts";
import { findSeparator, firstOfLine, lineOutsideItem, openBrackets } from "../syntax/skip.ts";

/** The block whose items are being read: its word, its `{`, and its first character. */
export class Opener {
  readonly keyword: string;
  readonly at: number;
  private readonly start: number;
  private knownIndent = -1;

  constructor(keyword: string, at: number, start: number) {
    this.keyword = keyword;
    this.at = at;
    this.start = start;
  }

  /** Indent of the line of its first character. */
  indent(s: Scanner): number {
    if (this.knownIndent === -1) this.knownIndent = s.indentOf(this.start);
    return this.knownIndent;
  }
}

/** Moves behind the item at `start`, which failed at `pos`; its findings begin at `mark`. */
export function recover(s: Scanner, start: number, opener: Opener | undefined, mark: number): void {
  const outside = lineOutsideItem(s.src, start, s.pos, s.itemIndent);
  if (outside !== -1) s.report.moveBack(mark, outside, endOfLineBefore(s, outside));
  skipItem(s, start, s.itemIndent, opener);
  s.report.dropped.push({ start, end: s.pos });
}

/** End of what is written on the lines before the one at `lineStart`. */
function endOfLineBefore(s: Scanner, lineStart: number): number {
  let end = lineStart - 1;
  while (end > 0 && isBlankOrLineEnd(s.src.charCodeAt(end - 1))) end -= 1;
  return end;
}

function skipItem(s: Scanner, start: number, indent: number, opener: Opener | undefined): void {
  const failedAt = s.pos;
  const lineEnd = s.lineEnd(start);
  if (opener && s.lineEnd(opener.at) === lineEnd) {
    const closer = findSeparator(s.src, failedAt, s.itemIndent);
    const isClose = s.src.charCodeAt(closer) === 125 && closer <= lineEnd;
    s.pos = isClose ? closer : lineEnd;
    return;
  }
  let from = lineEnd;
  if (failedAt > lineEnd) {
    if (failedAt - lineEnd <= s.rereadBudget) s.rereadBudget -= failedAt - lineEnd;
    else from = failedAt;
  }
  let open = 0;
  let counted = start;
  let line = s.src.indexOf("\n", from) + 1;
  while (line !== 0) {
    const first = firstOfLine(s.src, line);
    const code = s.src.charCodeAt(first);
    if (code !== 10 && !Number.isNaN(code) && first - line <= indent) {
      const isCloser = code === 125 || code === 93 || code === 41;
      if (isCloser && first - line === indent) {
        open = openBrackets(s.src, counted, first, open);
        counted = first;
      }
      if (!isCloser || first - line < indent || open === 0) {
        s.pos = line;
        return;
      }
    }
    line = s.src.indexOf("\n", line) + 1;
  }
  s.pos = s.src.length;
}
