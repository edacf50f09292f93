/**
 * A position in a text, with the report of its errors and the state that the readers of flows and of expressions share.
 *   S1  `pos` only moves forward, but for the recovery of an item (`read/recover.ts`), which pays for it from a budget.
 *   S3  nothing here recurses; nesting is counted by `enter`, and the count never passes `maxDepth`.
 */

import { MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { append } from "../data.ts";
import type { Details } from "../diagnostics/bag.ts";
import { shown } from "../diagnostics/quote.ts";
import { Report } from "../diagnostics/report.ts";
import { MAX_EXPRESSION_HEIGHT } from "./ast.ts";
import { CHAR, CLASSES, identEnd, isNamePart } from "./chars.ts";
import { type Comment, NO_COMMENTS } from "./notes.ts";
import { behindBrackets, lineEnd, tokenEnd } from "./skip.ts";
import { DASH, FIVE, NAME_BITS, Words } from "./words.ts";

/** In a shorter text no word is worth a table. */
const WORDS_TEXT = 64;

/** Thrown inside the parsers when an element or item cannot be read; never thrown out of the package. */
export const FAIL: unique symbol = Symbol("item failed");
/** Thrown inside the parsers when reading stops for good. */
export const STOP: unique symbol = Symbol("too many errors");

export interface CursorOptions {
  readonly maxDepth: number;
  readonly maxErrors: number;
  /** Second pass: indentation says where blocks end. */
  readonly guided: boolean;
  /** The text is one expression of a graph: a string in backticks is no slip that `fmt` would mend, but an error. */
  readonly noBackticks?: boolean;
}

export const DEFAULT_CURSOR_OPTIONS: CursorOptions = {
  maxDepth: MAX_JSON_DEPTH,
  maxErrors: 100, // more cannot be mended in one go, and broken text makes follow-up errors
  guided: false,
};

export class Cursor {
  /** The text; a lone CR has become LF, so offsets are those of the source. */
  readonly src: string;
  readonly report: Report;
  readonly maxDepth: number;
  readonly guided: boolean;
  readonly noBackticks: boolean;
  /** Whether control characters occur at all, so that long texts need not be looked through one by one. */
  readonly hasControl: boolean;
  /** Whether some line ends in CR and LF. */
  readonly hasCr: boolean;
  pos = 0;
  /** End of the last token. */
  tokenEnd = 0;
  depth = 0;
  /** Height of the expression that was read last. */
  height = 0;
  /** More than 0: line ends are blanks here. */
  flat = 0;
  /** An empty line stands before `pos`; set by `skipLines`. */
  blank = false;
  /** First character of the item being read. */
  itemStart = 0;
  /** A block ran to the end of the text, or into an item that cannot stand in it, without its `}`. */
  unclosed = false;
  /** A `}` closed nothing. */
  stray = false;
  /** The guided pass has just closed a block that has no `}`. */
  closedByGuide = false;
  /** The first item of the text could not be read. */
  headless = false;
  /** A block string ran to the end of the text, so nothing after it counts as missing. */
  swallowed = false;
  /** Start of the closing line of a Markdown fence whose opening line was reported; -1 when there is none. */
  fenceEnd = -1;
  /** Characters that recovery may still read a second time. */
  rereadBudget: number;
  /** Spreads, `...x`, in the lists and objects that are being read. */
  spreads = 0;
  /** Elements of the lists, objects and blocks that are being read; each takes its own off the end. */
  readonly stack: unknown[] = [undefined]; // not of numbers alone at any time
  /** Start of the key and end of the value of each entry of the objects that are being read. */
  readonly spans: number[] = [];
  protected comments: Comment[] = [];
  /** Undefined in a short text. */
  readonly words: Words | undefined;
  private readonly loneCr: number;
  private holeFrom = 0;
  private holeAt = -2;
  /** Indent of the line of `itemStart`; -1: not computed yet. */
  private knownIndent = -1;
  private lineFrom = 0;
  private lineTo = -1;

  constructor(source: string, options: CursorOptions = DEFAULT_CURSOR_OPTIONS) {
    this.report = new Report(options.maxErrors);
    this.maxDepth = options.maxDepth;
    this.guided = options.guided;
    this.noBackticks = options.noBackticks ?? false;
    this.rereadBudget = 2 * source.length + 1000;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    this.hasControl = /[\0-\x08\x0b\x0c\x0e-\x1f]/.test(source);
    this.hasCr = source.includes("\r");
    const loneCr = this.hasCr ? source.search(/\r(?!\n)/) : -1;
    this.words = source.length < WORDS_TEXT ? undefined : new Words(source.length);
    this.src = loneCr === -1 ? source : loneCrToLf(source);
    this.loneCr = loneCr;
    if (source.charCodeAt(0) === 0xfeff) this.pos = 1;
  }

  /** Reports what is wrong with the text as a whole. */
  start(): void {
    const at = this.loneCr;
    if (at === -1) return;
    this.error("FLOW1001", at, at + 1, {
      parts: { found: "carriage return without a line feed" },
      hint: "end lines with LF or CRLF",
    });
  }

  /** Reports, and stops everything when there were too many errors. */
  error(code: Parameters<Report["add"]>[0], start: number, end: number, details?: Details): void {
    this.report.add(code, start, end, details);
    if (this.report.full) throw STOP;
  }

  /** Reports at the next token that something else was expected, and fails. */
  expected(what: string, at: number = this.pos): never {
    // In brackets a line end is a blank; what is missing is missed on the line that was written last.
    const isLater = this.flat > 0 && this.tokenEnd <= at && this.lineEnd(this.tokenEnd) < at;
    const start = isLater ? this.tokenEnd : at;
    const end = isLater ? start : this.tokenEndAt(at);
    this.error("FLOW1006", start, end, {
      parts: { what, found: isLater ? "line end" : this.tokenText(at, end) },
    });
    throw FAIL;
  }

  /** One level of nesting deeper, opened at `open`. Too deep: the bracket is skipped as a whole, and the element fails. */
  enter(open: number): void {
    if (this.depth < this.maxDepth) {
      this.depth += 1;
      return;
    }
    this.error("FLOW1014", open, open + 1, { parts: { limit: `${this.maxDepth} levels` } });
    this.pos = this.tokenEnd = behindBrackets(this.src, open);
    throw FAIL;
  }

  /** Checks and remembers the height of the tree that ends here. */
  setHeight(height: number, at: number): void {
    this.height = height;
    if (height <= MAX_EXPRESSION_HEIGHT) return;
    this.error("FLOW1014", at, this.tokenEndAt(at), {
      parts: { limit: `${MAX_EXPRESSION_HEIGHT} operators` },
    });
    throw FAIL;
  }

  /** Comments collected since `mark`, and forgets them. */
  takeComments(mark = 0): readonly Comment[] {
    if (this.comments.length === mark) return NO_COMMENTS;
    return this.comments.splice(mark);
  }

  /** Puts comments back in front of whatever comes next. */
  giveComments(comments: readonly Comment[]): void {
    append(this.comments, comments);
  }

  get commentCount(): number {
    return this.comments.length;
  }

  /** Position of the next `${` from `from` on, or the end. The answer is kept, so asking line by line stays linear. */
  nextHole(from: number): number {
    if (from < this.holeFrom || (this.holeAt !== this.src.length && from > this.holeAt)) {
      const at = this.src.indexOf("${", from);
      this.holeAt = at === -1 ? this.src.length : at;
      this.holeFrom = from;
    }
    return this.holeAt;
  }

  /** Reads an ident that starts here. */
  readIdent(): string {
    const { src, pos: start } = this;
    // The last ten characters, six bits each: all of most idents.
    let high = 0;
    let low = 0;
    let end = start;
    for (; end < src.length; end += 1) {
      const code = src.charCodeAt(end);
      if (code > 127) break;
      const bits = NAME_BITS[code] as number;
      if (bits >= DASH) {
        const joins = bits === DASH && end + 1 < src.length && isNamePart(src.charCodeAt(end + 1));
        if (!joins) break;
      }
      high = ((high << 6) | (low >>> 24)) & FIVE;
      low = ((low << 6) | bits) & FIVE;
    }
    this.pos = this.tokenEnd = end;
    return this.words?.read(src, start, end, high, low) ?? src.slice(start, end);
  }

  /** End of the ident that starts at `at`. */
  identEnd(at: number): number {
    return identEnd(this.src, at);
  }

  /** Start of the line of `at`. The line is kept, so asking along one long line stays linear. */
  lineStart(at: number): number {
    if (at < this.lineFrom || at > this.lineTo) {
      this.lineFrom = this.src.lastIndexOf("\n", at - 1) + 1;
      this.lineTo = lineEnd(this.src, at);
    }
    return this.lineFrom;
  }

  /** Blanks at the start of the line of `at`. */
  indentOf(at: number): number {
    const lineStart = this.lineStart(at);
    const start = lineStart === 0 && this.src.charCodeAt(0) === 0xfeff ? 1 : lineStart;
    let first = start;
    while (CLASSES[this.src.charCodeAt(first)] === CHAR.blank) first += 1;
    return first - start;
  }

  /** A line end, and the blanks that the line of `at` begins with: what a fix puts before the rest of that line. */
  lineBreak(at: number): string {
    const start = this.lineStart(at);
    return `\n${this.src.slice(start, start + this.indentOf(at)).replace("\ufeff", "")}`;
  }

  /** Whether `at` is the first character of its line that is not blank. */
  isFirstOnLine(at: number): boolean {
    const lineStart = this.lineStart(at);
    const start = lineStart === 0 && this.src.charCodeAt(0) === 0xfeff ? 1 : lineStart;
    return start + this.indentOf(at) === at;
  }

  /** Sets the item being read. */
  startItem(start: number): void {
    this.itemStart = start;
    this.knownIndent = -1;
  }

  /** Indent of the line on which the item being read starts. */
  get itemIndent(): number {
    if (this.knownIndent === -1) this.knownIndent = this.indentOf(this.itemStart);
    return this.knownIndent;
  }

  skipBlanks(): void {
    const { src } = this;
    while (this.pos < src.length && CLASSES[src.charCodeAt(this.pos)] === CHAR.blank) this.pos += 1;
  }

  /** End of the token at `at`, for the range of a message. */
  tokenEndAt(at: number): number {
    return tokenEnd(this.src, at);
  }

  /** A token as a message shows it. */
  tokenText(at: number, end: number): string {
    if (at >= this.src.length) return "end of file";
    const code = this.src.charCodeAt(at);
    if (code === 10 || code === 13 || code === 35) return "line end";
    return shown(this.src.slice(at, end));
  }

  /** End of the line of `at`, without its CR. */
  lineEnd(at: number): number {
    this.lineStart(at);
    const end = this.lineTo;
    return end > at && this.src.charCodeAt(end - 1) === 13 ? end - 1 : end;
  }
}

/** A text in which every CR that no LF follows is an LF; offsets stay. */
function loneCrToLf(source: string): string {
  // Ten times as fast as a replacement, and linear whatever the text.
  const lines = source.split("\r\n");
  return lines.map((line) => line.split("\r").join("\n")).join("\r\n");
}
