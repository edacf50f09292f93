/** A text with errors by its lines: what each one says, in which block it stands, and where that block ends. */

import type { Span } from "../../syntax/ast.ts";

/** One line. */
export interface Line extends Span {
  readonly index: number;
  /** Without blanks around it, and without a comment or a semicolon behind it. */
  readonly text: string;
  /** Where `text` starts and ends. */
  readonly from: number;
  readonly to: number;
  /** Where its comment starts. */
  readonly comment: number | undefined;
  /** It begins inside a text of several lines. */
  readonly isText: boolean;
  /** The line that opens the block around it. */
  readonly opener: Line | undefined;
  /** The line that closes the block that it opens. */
  closer?: Line;
}

/** Longer texts are no flows that somebody wrote, and longer lines are data. */
const MAX_TEXT = 200_000;
const MAX_LINE = 1000;

/** Strings, comments and brackets. A string that is not closed ends with its line. */
const TOKENS = /"""[\s\S]*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|(?:#|(?<!:)\/\/)[^\n]*|[{}[\]\n]/g;

/** The lines of a text; none of one that is too long. */
export function linesOf(source: string): readonly Line[] {
  if (source.length > MAX_TEXT) return [];
  const lines: Line[] = [];
  const open: Line[] = [];
  const closers: [opener: Line, index: number][] = [];
  let start = 0;
  let opened: number[] = [];
  let comment: number | undefined;
  let isText = false;
  const finish = (end: number): void => {
    const whole = source.slice(start, Math.min(comment ?? end, start + MAX_LINE));
    const text = whole.trim().replace(/[ \t]*;+$/, "");
    const from = start + whole.length - whole.trimStart().length;
    // A line that closes a block stands in the one around it.
    const opener = open.at(-1);
    const line: Line = {
      index: lines.length,
      start,
      end,
      text,
      from,
      to: from + text.length,
      comment,
      isText,
      opener,
    };
    lines.push(line);
    for (let count = opened.length; count > 0; count -= 1) open.push(line);
    opened = [];
    comment = undefined;
    isText = false;
    start = end + 1;
  };
  for (const { 0: token, index } of source.matchAll(TOKENS)) {
    if (token === "{" || token === "[") opened.push(index);
    else if (token === "}" || token === "]") {
      const opener = opened.pop() === undefined ? open.pop() : undefined;
      if (opener) closers.push([opener, lines.length]);
    } else if (token === "\n") finish(index);
    else if (token.startsWith('"""')) {
      for (let at = source.indexOf("\n", index); at !== -1 && at < index + token.length; ) {
        finish(at);
        isText = true;
        at = source.indexOf("\n", at + 1);
      }
    } else if (!token.startsWith('"')) comment = index;
  }
  finish(source.length);
  for (const [opener, index] of closers) {
    const closer = lines[index];
    if (closer) opener.closer = closer;
  }
  return lines;
}

/** The first word of the block around a line; "file" where there is none. */
export function placeOf({ opener }: Line): string {
  return opener === undefined ? "file" : (/^@?[\w-]*/.exec(opener.text)?.[0] ?? "");
}

/** The lines directly in the block that a line opens. */
export function innerLines(lines: readonly Line[], opener: Line): readonly Line[] {
  const end = opener.closer?.index ?? opener.index;
  return lines
    .slice(opener.index + 1, end)
    .filter((line) => line.opener === opener && line.text !== "" && !line.isText);
}
