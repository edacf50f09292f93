/**
 * Where the lines, comments and items of a well-formed text lie. A second reading of the lexical rules, written apart from the
 * parser's so that the two can disagree; expects a text without syntax errors.
 */

/** What a line starts as: code, the inside of a block string, or the line that closes one. */
export type LineKind = "code" | "block" | "fence";

export interface Line {
  readonly start: number;
  end: number;
  readonly kind: LineKind;
  /** Brackets and holes open at its start. */
  readonly depth: number;
  /** Whether a comment may be put behind it: no block string is open at its end. */
  takesComment: boolean;
}

export interface TextLayout {
  readonly lines: readonly Line[];
  readonly comments: readonly { readonly at: number; readonly text: string }[];
  /** Offsets behind `,` and opening brackets, where a line may end. */
  readonly breaks: readonly number[];
}

type State = "code" | "string" | number; // a number: a block string with so many quotes

/** Reads a whole text. */
export function layoutOf(text: string): TextLayout {
  const lines: Line[] = [];
  const comments: { at: number; text: string }[] = [];
  const breaks: number[] = [];
  const states: State[] = ["code"];
  let blocks = 0;
  let at = 0;

  function startLine(): void {
    const state = states.at(-1) as State;
    const start = at;
    let kind: LineKind = "code";
    if (typeof state === "number") {
      const fence = '"'.repeat(state);
      while (text[at] === " " || text[at] === "\t") at += 1;
      const closes = text.startsWith(fence, at) && text[at + state] !== '"';
      kind = closes ? "fence" : "block";
      if (closes) {
        at += state;
        states.pop();
        blocks -= 1;
      } else at = start;
    }
    lines.push({ start, end: text.length, kind, depth: states.length - 1, takesComment: true });
  }

  startLine();
  while (at < text.length) {
    const state = states.at(-1) as State;
    const char = text[at] as string;
    if (char === "\n") {
      const line = lines.at(-1) as Line;
      line.end = text[at - 1] === "\r" ? at - 1 : at;
      line.takesComment = blocks === 0;
      at += 1;
      startLine();
    } else if (state === "code") {
      if (char === "#") {
        const end = text.indexOf("\n", at);
        const comment = text.slice(at + 1, end === -1 ? text.length : end);
        comments.push({ at, text: comment.trimEnd() });
        at = end === -1 ? text.length : end;
      } else if (char === '"') {
        let quotes = 1;
        while (text[at + quotes] === '"') quotes += 1;
        if (quotes === 2) at += 2;
        else {
          states.push(quotes === 1 ? "string" : quotes);
          if (quotes > 2) blocks += 1;
          at += quotes;
        }
      } else {
        if (char === "{" || char === "[" || char === "(") states.push("code");
        else if (char === "}" || char === "]" || char === ")") states.pop();
        at += 1;
        if (blocks === 0 && /[[{(,]/.test(char) && !isListMark(text, at)) breaks.push(at);
      }
    } else if (char === "$" && text[at + 1] === "{" && !isEscaped(text, at, state)) {
      states.push("code");
      at += 2;
      if (blocks === 0) breaks.push(at);
    } else if (state === "string") {
      if (char === "\\") at += 1;
      else if (char === '"') states.pop();
      at += 1;
    } else at += 1;
  }
  return { lines, comments, breaks };
}

/** Whether the `[` before is that of a type `T[]`, which is one token. */
function isListMark(text: string, at: number): boolean {
  return text[at] === "]" && /\S\[$/.test(text.slice(at - 2, at));
}

/** Whether an odd number of backslashes stands before; within quotes, an escape has been passed over already. */
function isEscaped(text: string, at: number, state: State): boolean {
  if (state === "string") return false;
  let start = at;
  while (text[start - 1] === "\\") start -= 1;
  return (at - start) % 2 === 1;
}

/** Line numbers of an item: its comments directly above, its code, and one past its last line. */
export interface ItemLines {
  readonly lead: number;
  readonly start: number;
  readonly end: number;
}

/** The items of a formatted text whose lines from `from` to `to` start inside of `depth` brackets. */
export function itemsIn(
  text: string,
  { lines }: TextLayout,
  { depth = 0, from = 0, to = lines.length } = {},
): ItemLines[] {
  const items: ItemLines[] = [];
  let lead = -1;
  for (let at = from; at < to; at += 1) {
    const line = lines[at] as Line;
    if (!startsAt(line, depth)) continue;
    const code = text.slice(line.start, line.end).trimStart();
    if (code === "") lead = -1;
    else if (code.startsWith("#")) lead = lead === -1 ? at : lead;
    else {
      let end = at + 1;
      // A line that closes brackets starts inside of them, so the item's last line is still within it.
      while (end < to && !startsAt(lines[end] as Line, depth)) end += 1;
      items.push({ lead: lead === -1 ? at : lead, start: at, end });
      at = end - 1;
      lead = -1;
    }
  }
  return items;
}

function startsAt(line: Line, depth: number): boolean {
  return line.kind === "code" && line.depth === depth;
}

/** Every comment of a text, in order. */
export function commentsIn(text: string): string[] {
  return layoutOf(text).comments.map((comment) => comment.text);
}
