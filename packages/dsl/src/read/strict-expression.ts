/**
 * Recognises expressions in canonical text.
 *   X1  an expression is only moved over: it is its own canonical source, so that the graph takes it as it stands.
 *   X2  what is recognised, the parser reads without a finding, and prints as it stands.
 */

import { MAX_EXPRESSION_HEIGHT, PRECEDENCE } from "../syntax/ast.ts";
import { identEnd, isDigit, isNameStart } from "../syntax/chars.ts";
import { numberText, readPlainNumber } from "../syntax/numbers.ts";
import { readsAsWord, WORDS } from "../syntax/parse-operand.ts";
import { CONDITIONAL, escapeText, POSTFIX, UNARY } from "../syntax/print-expression.ts";
import type { Scanner } from "../syntax/scanner.ts";
import {
  enter,
  mayBeWord,
  readDuration,
  skipIdent,
  take,
  unescaped,
  unknown,
} from "./strict-text.ts";

/** Operators, members and brackets of one expression that cannot be higher than is allowed, however they are nested. */
const MAX_STEPS = MAX_EXPRESSION_HEIGHT / 2;

/** Moves over the expression at `pos` and gives its source. */
export function readSource(s: Scanner): string {
  const start = s.pos;
  s.height = 0;
  skipExpression(s);
  return s.src.slice(start, s.pos);
}

/** Moves over the hole whose `$` is at `at`, and gives the source in it. */
export function readHole(s: Scanner, at: number): string {
  s.height = 0;
  skipHole(s, at);
  return s.src.slice(at + 2, s.pos - 1);
}

function skipHole(s: Scanner, at: number): void {
  s.pos = at + 1;
  if (s.src.charCodeAt(at + 2) === 123) unknown(); // may be `${{` of other tools
  skipInBrackets(s, 123, 125);
}

/** Counts a step of the expression. */
function step(s: Scanner): void {
  s.height += 1;
  if (s.height > MAX_STEPS) unknown();
}

// How tight an expression binds is a number as in `PRECEDENCE`. In parentheses it is the negative of that, and they have to be
// needed where it stands.

/** Refuses parentheses where something that binds as tight as `strength` or tighter needs none. */
function checkParentheses(found: number, strength: number): void {
  if (found < 0 && -found >= strength) unknown();
}

/** Moves over an expression and gives how tight it binds. */
function skipExpression(s: Scanner): number {
  const test = skipBinary(s, 0);
  if (s.src.charCodeAt(s.pos + 1) !== 63 || !s.src.startsWith(" ? ", s.pos)) {
    checkParentheses(test, CONDITIONAL);
    return test;
  }
  checkParentheses(test, CONDITIONAL + 1);
  enter(s);
  step(s);
  s.pos += 3;
  skipExpression(s);
  if (!s.src.startsWith(" : ", s.pos)) unknown();
  s.pos += 3;
  skipExpression(s);
  s.depth -= 1;
  return CONDITIONAL;
}

/** An operand, with the operators behind it that bind tighter than `above`. */
function skipBinary(s: Scanner, above: number): number {
  let left = skipOperand(s);
  for (;;) {
    const strength = operatorAt(s.src, s.pos);
    if (strength <= above) return left;
    checkParentheses(left, strength);
    step(s);
    s.pos += s.src.charCodeAt(s.pos + 2) === 32 ? 3 : 4;
    checkParentheses(skipBinary(s, strength), strength + 1);
    left = strength;
  }
}

/** How tight an operator binds, by its characters as one number; the second of one that is short is a space. */
const OPERATORS: Uint8Array = operatorTable();

function operatorTable(): Uint8Array {
  const table = new Uint8Array(128 * 128);
  for (const [operator, strength] of Object.entries(PRECEDENCE)) {
    const [first = "", second = " "] = operator;
    table[first.charCodeAt(0) * 128 + second.charCodeAt(0)] = strength;
  }
  return table;
}

/** How tight the operator binds that stands here between two spaces; 0: there is none. */
function operatorAt(src: string, at: number): number {
  if (src.charCodeAt(at) !== 32) return 0;
  const first = src.charCodeAt(at + 1);
  if (first === 10) return 0;
  const second = src.charCodeAt(at + 2);
  if (first > 127 || second > 127) return 0;
  const isWhole = second === 32 || (second !== 10 && src.charCodeAt(at + 3) === 32);
  return isWhole ? (OPERATORS[first * 128 + second] as number) : 0;
}

function skipOperand(s: Scanner): number {
  const code = s.src.charCodeAt(s.pos);
  if (code !== 33 && code !== 45) return skipPostfix(s);
  const next = s.src.charCodeAt(s.pos + 1);
  if (code === 45 && isDigit(next)) return skipNumber(s);
  if (code === 45 && next !== 40 && !isNameStart(next)) unknown();
  enter(s);
  step(s);
  s.pos += 1;
  checkParentheses(skipOperand(s), UNARY);
  s.depth -= 1;
  return UNARY;
}

/** A number or a duration; members and indexes of one are not known. */
function skipNumber(s: Scanner): number {
  const start = s.pos;
  const value = readPlainNumber(s, start);
  const isPrinted =
    value === undefined
      ? readDuration(s) !== undefined
      : numberText(value) === s.src.slice(start, s.pos);
  return isPrinted ? POSTFIX : unknown();
}

/** An operand with its members, indexes and calls. */
function skipPostfix(s: Scanner): number {
  const { src } = s;
  const first = src.charCodeAt(s.pos);
  let found: number = POSTFIX;
  if (isNameStart(first)) {
    const start = s.pos;
    s.pos = identEnd(src, start);
    const isCall = src.charCodeAt(s.pos) === 40;
    if (mayBeWord(first, s.pos - start)) {
      const name = src.slice(start, s.pos);
      if (isCall && name === "not") unknown();
      if (readsAsWord(name)) {
        return !isCall && String(WORDS.get(name)) === name ? POSTFIX : unknown();
      }
    }
    if (isCall) skipList(s, 41);
  } else if (isDigit(first)) return skipNumber(s);
  else if (first === 34) skipQuoted(s);
  else if (first === 91) skipList(s, 93);
  else if (first === 123) skipObject(s);
  else found = -skipInBrackets(s, 40, 41);
  for (;;) {
    const code = src.charCodeAt(s.pos);
    if (code === 91) skipInBrackets(s, 91, 93);
    else {
      const isOptional = code === 63 && src.charCodeAt(s.pos + 1) === 46;
      if (code !== 46 && !isOptional) return found;
      s.pos += isOptional ? 2 : 1;
      skipIdent(s);
      step(s);
    }
    checkParentheses(found, POSTFIX);
    found = POSTFIX;
  }
}

function skipInBrackets(s: Scanner, opener: number, closer: number): number {
  take(s, opener);
  enter(s);
  step(s);
  const found = skipExpression(s);
  take(s, closer);
  s.depth -= 1;
  return found;
}

/** The list or the arguments whose opening bracket stands here. */
function skipList(s: Scanner, closer: number): void {
  enter(s);
  step(s);
  s.pos += 1;
  if (s.src.charCodeAt(s.pos) !== closer) {
    skipExpression(s);
    while (s.src.charCodeAt(s.pos) === 44) {
      s.pos += 1;
      take(s, 32);
      skipExpression(s);
    }
  }
  take(s, closer);
  s.depth -= 1;
}

/** Members up to which each is compared with each. */
const FEW_MEMBERS = 16;

function skipObject(s: Scanner): void {
  const keys: string[] = [];
  enter(s);
  step(s);
  s.pos += 1;
  if (s.src.charCodeAt(s.pos) !== 125) {
    do {
      if (keys.length > 0) s.pos += 1;
      take(s, 32);
      const start = s.pos;
      skipIdent(s);
      const key = s.src.slice(start, s.pos);
      if (keys.length === FEW_MEMBERS || keys.includes(key)) unknown();
      keys.push(key);
      take(s, 58);
      take(s, 32);
      skipExpression(s);
    } while (s.src.charCodeAt(s.pos) === 44);
    take(s, 32);
  }
  take(s, 125);
  s.depth -= 1;
}

/** A string or template inside an expression, whose escapes are those that would be printed. */
function skipQuoted(s: Scanner): void {
  const { src } = s;
  let from = s.pos + 1;
  let isPlain = true;
  for (let at = from; ; ) {
    const code = src.charCodeAt(at);
    const isHole = code === 36 && src.charCodeAt(at + 1) === 123;
    if (code === 34 || isHole) {
      const raw = isPlain ? "" : src.slice(from, at);
      if (raw !== "" && escapeText(unescaped(raw)) !== raw) unknown();
      isPlain = true;
      if (code === 34) {
        // Three quotes begin a block string.
        if (src.charCodeAt(at + 1) === 34) unknown();
        s.pos = at + 1;
        return;
      }
      skipHole(s, at);
      at = from = s.pos;
    } else if (code >= 32) {
      isPlain &&= code < 127 && code !== 92;
      at += code === 92 ? 2 : 1;
    } else unknown();
  }
}
