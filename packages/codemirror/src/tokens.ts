/** The tokens that a table cannot tell: line ends that count, minus signs, strings with holes, words of expressions. */

import { ContextTracker, ExternalTokenizer, type InputStream, type Stack } from "@lezer/lr";
import * as terms from "./parser.terms.ts";

const LINE_FEED = 10;
const QUOTE = 34;
const DOLLAR = 36;
const MINUS = 45;
const BACKSLASH = 92;
const BRACE = 123;
const END = -1;

/** Quotes that open a block string. */
const MIN_FENCE = 3;

/** The strings around a place, the innermost first. */
interface Fence {
  /** Quotes that close it; 1 for a string of one line. */
  readonly quotes: number;
  readonly around: Fence | undefined;
  readonly hash: number;
}

const NO_FENCE: Fence = { quotes: 0, around: undefined, hash: 0 };

/** Keeps how many quotes close each string that is open: a hole may hold strings again. */
export const fences: ContextTracker<Fence> = new ContextTracker<Fence>({
  start: NO_FENCE,
  shift(fence, term, _stack, input) {
    if (term === terms.stringOpen) return within(fence, 1);
    if (term === terms.blockOpen) return within(fence, countOf(input, QUOTE, 0));
    const closes =
      term === terms.stringClose || term === terms.stringBreak || term === terms.blockClose;
    return closes ? (fence.around ?? NO_FENCE) : fence;
  },
  hash: (fence) => fence.hash,
});

function within(around: Fence, quotes: number): Fence {
  return { quotes, around, hash: (around.hash * 31 + quotes) | 0 };
}

/** How often a code stands from an offset behind the position on. */
function countOf(input: InputStream, code: number, from: number): number {
  let count = 0;
  while (input.peek(from + count) === code) count += 1;
  return count;
}

/** A line end separates where something can end there, and is a blank elsewhere, as in parentheses. */
export const lines: ExternalTokenizer = new ExternalTokenizer(
  (input, stack) => {
    if (input.next !== LINE_FEED) return;
    input.acceptToken(stack.canShift(terms.lineEnd) ? terms.lineEnd : terms.lineBlank, 1);
  },
  { contextual: true },
);

/** Behind an operand a minus subtracts; else it belongs to the number behind it, or negates. */
export const signs: ExternalTokenizer = new ExternalTokenizer(
  (input, stack) => {
    if (input.next !== MINUS || input.peek(1) === 62) return; // `->` is an arrow
    if (stack.canShift(terms.Minus)) input.acceptToken(terms.Minus, 1);
    else if (stack.canShift(terms.Negate)) {
      const length = numberLength(input);
      if (length > 0) input.acceptToken(terms.signedNumber, length);
      else input.acceptToken(terms.Negate, 1);
    }
  },
  { contextual: true },
);

/** Length of the number behind the minus at the position, with it; 0 when there is none, or a duration. */
function numberLength(input: InputStream): number {
  let at = digitsEnd(input, 1);
  if (at === 1) return 0;
  if (input.peek(at) === 46 && isDigit(input.peek(at + 1))) at = digitsEnd(input, at + 1);
  const isExponent = input.peek(at) === 101 || input.peek(at) === 69;
  if (isExponent) {
    const sign = input.peek(at + 1);
    const from = sign === 43 || sign === MINUS ? at + 2 : at + 1;
    if (isDigit(input.peek(from))) at = digitsEnd(input, from);
  }
  return isLetter(input.peek(at)) ? 0 : at;
}

function digitsEnd(input: InputStream, from: number): number {
  let at = from;
  while (isDigit(input.peek(at))) at += 1;
  return at;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isLetter(code: number): boolean {
  const lower = code | 32;
  return (lower >= 97 && lower <= 122) || code === 95;
}

/** The quotes that open a string: one, or three and more at the end of their line for a block. */
export const openers: ExternalTokenizer = new ExternalTokenizer((input) => {
  if (input.next !== QUOTE) return;
  const quotes = countOf(input, QUOTE, 0);
  if (quotes >= MIN_FENCE && isLastOnLine(input, quotes)) {
    input.acceptToken(terms.blockOpen, quotes);
  } else input.acceptToken(terms.stringOpen, 1);
});

function isLastOnLine(input: InputStream, from: number): boolean {
  const code = input.peek(from + blanks(input, from));
  return code === LINE_FEED || code === END;
}

function blanks(input: InputStream, from: number): number {
  let at = from;
  while (isBlank(input.peek(at))) at += 1;
  return at - from;
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 13;
}

/** Tokens in a string: text, escapes, the start of a hole, and its end. */
export const contents: ExternalTokenizer = new ExternalTokenizer((input, stack) => {
  const { quotes } = stack.context as Fence;
  if (quotes >= MIN_FENCE) readBlock(input, quotes);
  else readLine(input);
});

function readLine(input: InputStream): void {
  if (input.next === QUOTE) input.acceptToken(terms.stringClose, 1);
  else if (isLineEnd(input)) input.acceptToken(terms.stringBreak);
  else if (isHole(input)) input.acceptToken(terms.HoleOpen, 2);
  else if (input.next === BACKSLASH) input.acceptToken(terms.Escape, escapeLength(input));
  else {
    while (!isLineEnd(input) && input.next !== QUOTE && input.next !== BACKSLASH) {
      if (isHole(input)) break;
      input.advance();
    }
    input.acceptToken(terms.stringText);
  }
}

function escapeLength(input: InputStream): number {
  const escaped = input.peek(1);
  if (escaped === LINE_FEED || escaped === END) return 1;
  if (escaped !== 117) return 2;
  let length = 2;
  while (length < 6 && isHex(input.peek(length))) length += 1;
  return length;
}

function isHex(code: number): boolean {
  const lower = code | 32;
  return isDigit(code) || (lower >= 97 && lower <= 102);
}

function isLineEnd(input: InputStream): boolean {
  return input.next === LINE_FEED || input.next === END;
}

function isHole(input: InputStream): boolean {
  return input.next === DOLLAR && input.peek(1) === BRACE;
}

function readBlock(input: InputStream, quotes: number): void {
  const fence = fenceLength(input, quotes);
  const escaped = blockEscape(input);
  if (input.next === END) input.acceptToken(terms.stringBreak);
  else if (fence > 0) input.acceptToken(terms.blockClose, fence);
  else if (isHole(input)) input.acceptToken(terms.HoleOpen, 2);
  else if (escaped > 0) input.acceptToken(terms.Escape, escaped);
  else {
    do skipText(input);
    while (!endsText(input, quotes));
    input.acceptToken(terms.stringText);
  }
}

/** Skips a character, or all backslashes in a row: counting them again at each would not be linear. */
function skipText(input: InputStream): void {
  const slashes = input.next === BACKSLASH ? countOf(input, BACKSLASH, 0) : 1;
  for (let left = slashes; left > 0; left -= 1) input.advance();
}

function endsText(input: InputStream, quotes: number): boolean {
  if (input.next === END || isHole(input)) return true;
  return blockEscape(input) > 0 || fenceLength(input, quotes) > 0;
}

/** Length of the blanks and quotes that close a block here, at the start of a line; 0: nothing does. */
function fenceLength(input: InputStream, quotes: number): number {
  if (input.peek(-1) !== LINE_FEED) return 0;
  const indent = blanks(input, 0);
  return countOf(input, QUOTE, indent) === quotes ? indent + quotes : 0;
}

/** Length of the backslashes here before `${`, with it when it is escaped; 0 where they are text. */
function blockEscape(input: InputStream): number {
  if (input.next !== BACKSLASH) return 0;
  const slashes = countOf(input, BACKSLASH, 0);
  if (input.peek(slashes) !== DOLLAR || input.peek(slashes + 1) !== BRACE) return 0;
  return slashes % 2 === 0 ? slashes : slashes + 2;
}

/** Words of expressions; where they cannot be meant they are names. */
export function words(word: string, stack: Stack): number {
  const term = WORDS.get(word);
  return term !== undefined && stack.canShift(term) ? term : -1;
}

const WORDS: ReadonlyMap<string, number> = new Map([
  ["true", terms.Boolean],
  ["false", terms.Boolean],
  ["null", terms.Null],
  ["in", terms.In],
  ["inputs", terms.Root],
  ["nodes", terms.Root],
  ["run", terms.Root],
  ["vars", terms.Root],
  ["secrets", terms.Root],
]);
