/** A text as lines: what stands alone on them, how they are indented, and which comments belong to what is below. */

import type { Span } from "../../syntax/ast.ts";

const BLANK = /^[ \t]*$/;
const COMMENT = /^[ \t]*#/;

/** The lines of a text, whatever its line ends. */
export class Lines {
  readonly text: string;
  /** The line end of the text: that of its first line. */
  readonly lineBreak: string;

  constructor(text: string) {
    this.text = text;
    this.lineBreak = /\r\n?|\n/.exec(text)?.[0] ?? "\n";
  }

  /** Where the line of an offset starts; a byte order mark is before the first. */
  start(at: number): number {
    let start = at;
    while (start > 0 && !isLineBreak(this.text.charCodeAt(start - 1))) start -= 1;
    return start === 0 && this.text.charCodeAt(0) === 0xfeff && at > 0 ? 1 : start;
  }

  /** Where the line of an offset ends, before its line end. */
  end(at: number): number {
    let end = at;
    while (end < this.text.length && !isLineBreak(this.text.charCodeAt(end))) end += 1;
    return end;
  }

  /** Where the line behind the one that ends at `end` starts. */
  next(end: number): number {
    const isPair = this.text.startsWith("\r\n", end);
    return Math.min(end + (isPair ? 2 : 1), this.text.length);
  }

  /** The line above the one that starts at `start`; undefined: there is none. */
  above(start: number): Span | undefined {
    if (start <= this.start(0)) return undefined;
    const end = this.text.startsWith("\r\n", start - 2) ? start - 2 : start - 1;
    return end < 0 ? undefined : { start: this.start(end), end };
  }

  /** The blanks at the start of the line of an offset. */
  indent(at: number): string {
    return /^[ \t]*/.exec(this.text.slice(this.start(at), at))?.[0] ?? "";
  }

  /** Whether only blanks stand before an offset on its line. */
  isFirst(at: number): boolean {
    return BLANK.test(this.text.slice(this.start(at), at));
  }

  /** Whether only blanks and a comment stand behind an offset on its line. */
  isLast(at: number): boolean {
    return /^[ \t]*(?:#|$)/.test(this.text.slice(at, this.end(at)));
  }

  /** Whether the line that starts at an offset is empty, or the text ends there. */
  isBlank(start: number): boolean {
    return BLANK.test(this.text.slice(start, this.end(start)));
  }

  /** Where the comments start that stand directly above a line. */
  paragraph(start: number): number {
    let from = start;
    for (let line = this.above(from); line && this.holds(COMMENT, line); line = this.above(from)) {
      from = line.start;
    }
    return from;
  }

  /** Where the empty lines start that stand directly above a line. */
  gap(start: number): number {
    let from = start;
    for (let line = this.above(from); line && this.holds(BLANK, line); line = this.above(from)) {
      from = line.start;
    }
    return from;
  }

  /** Where the blanks before an offset start that are on its line or are line ends. */
  blanksBefore(at: number): number {
    let from = at;
    while (from > 0 && /\s/.test(this.text[from - 1] as string)) from -= 1;
    return from;
  }

  /** Where the blanks behind an offset end. */
  blanksBehind(at: number): number {
    let to = at;
    while (to < this.text.length && /[ \t]/.test(this.text[to] as string)) to += 1;
    return to;
  }

  /** Printed lines with another indent, and the line ends of the text. `first`: the first line is indented too. */
  laidOut(printed: string, indent: string, first: boolean): string {
    return printed
      .split("\n")
      .map((line, index) => (line === "" || (index === 0 && !first) ? line : indent + line))
      .join(this.lineBreak);
  }

  private holds(pattern: RegExp, { start, end }: Span): boolean {
    return pattern.test(this.text.slice(start, end));
  }
}

function isLineBreak(code: number): boolean {
  return code === 10 || code === 13;
}
