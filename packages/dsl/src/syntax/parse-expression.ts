/**
 * The expression parser, shared by flow text and `parseExpression`.
 *   P1  nesting is counted by the scanner, and the height of a tree is bounded, so no walk over a tree overflows.
 *   P2  operators of one level are read in a loop; only brackets, holes and arms recurse.
 */

import type { Diagnostic } from "@millrace/contracts";
import { replacement } from "../diagnostics/bag.ts";
import { type BinaryOperator, type Expression, PRECEDENCE } from "./ast.ts";
import { isDigit, isNameStart } from "./chars.ts";
import { hoist } from "./collections.ts";
import { type CursorOptions, DEFAULT_CURSOR_OPTIONS, FAIL, STOP } from "./cursor.ts";
import { readNumber } from "./numbers.ts";
import { isPointNumber, parsePostfix, parsePostfixOf } from "./parse-operand.ts";
import { LINE_END, Scanner, TEXT_END } from "./scanner.ts";

/** Result of `parseExpression`. `ast` is absent when there are errors. */
export interface ParsedExpression {
  readonly ast: Expression | undefined;
  readonly diagnostics: Diagnostic[];
}

const EXPRESSION_OPTIONS: CursorOptions = { ...DEFAULT_CURSOR_OPTIONS, noBackticks: true };

/** Parses the source of one expression, such as the text under `$` in a graph. Never throws. */
export function parseExpression(source: string): ParsedExpression {
  const s = new Parser(source, EXPRESSION_OPTIONS);
  let ast: Expression | undefined;
  try {
    s.flat = 1;
    const read = s.readValue();
    if (s.peek() !== TEXT_END) s.expected("an operator");
    ast = read;
  } catch (thrown) {
    if (thrown !== FAIL && thrown !== STOP) throw thrown;
  }
  const failed = s.report.hasErrors;
  return { ast: failed ? undefined : ast, diagnostics: s.report.diagnostics(source) };
}

/** The parser of expressions, which the readers of flow text use too. */
export class Parser extends Scanner {
  override readValue(inValue = false): Expression {
    const code = this.peek();
    const start = this.pos;
    const first = parseUnary(this, code, inValue);
    if (endsValue(this.peek())) return first;
    const test = parseBinary(this, first, start, 0, inValue);
    if (this.peek() !== 63) return test;
    const question = this.pos;
    this.enter(question);
    const plain = inValue ? hoist(this, test) : test;
    let height = this.height;
    this.pos += 1;
    const then = this.readValue();
    height = Math.max(height, this.height);
    if (this.peek() !== 58) this.expected("`:`");
    this.pos += 1;
    const otherwise = this.readValue();
    this.setHeight(Math.max(height, this.height) + 1, question);
    this.depth -= 1;
    return { kind: "conditional", test: plain, then, otherwise, start, end: this.tokenEnd };
  }

  override readHole(): Expression {
    const open = this.pos + 1;
    const flat = this.openBracket(open);
    OBJECT.lastIndex = this.pos + 1;
    const isDoubled = this.src.charCodeAt(this.pos) === 123 && !OBJECT.test(this.src);
    if (isDoubled) this.pos += 1;
    const expression = this.readValue();
    if (isDoubled) endDoubled(this, open);
    this.closeBracket(125, flat);
    return expression;
  }
}

/** Matches behind the `{` of an object: a key, a comment, another object, or its end. */
const OBJECT = /\s*(?:[A-Za-z_][\w-]*\s*[:=]|"|[}#'`]|\.\.\.)/y;

/** The first of the two `}` of `${{ expr }}`; `open`: where its first `{` stands. */
function endDoubled(s: Scanner, open: number): void {
  if (s.peek() !== 125) s.expected("`}`");
  const close = s.pos;
  s.pos += 1;
  if (s.src.charCodeAt(s.pos) !== 125) s.expected("`}}`");
  const inside = s.src.slice(open + 2, close);
  const begin = close - inside.trimStart().length;
  const end = open + 2 + inside.trimEnd().length;
  s.error("FLOW1101", open - 1, s.pos + 1, {
    message: "`${{…}}` is written `${…}` here",
    fix: {
      title: "write ${…}",
      edits: [
        { start: open + 1, end: begin, text: "" },
        { start: end, end: close + 1, text: "" },
      ],
    },
  });
}

/** Whether nothing can go on an expression here: most are one operand. */
function endsValue(code: number): boolean {
  if (code === LINE_END || code === TEXT_END) return true;
  return code === 44 || code === 93 || code === 125 || code === 41;
}

/** The operators behind `first`, which begins at `start`, that bind tighter than `above`. */
function parseBinary(
  s: Scanner,
  first: Expression,
  start: number,
  above: number,
  inValue: boolean,
): Expression {
  let left = first;
  let height = s.height;
  for (;;) {
    const op = peekOperator(s, start);
    if (op === undefined || PRECEDENCE[op] <= above) {
      s.height = height;
      return left;
    }
    const opStart = s.pos;
    takeOperator(s, op);
    if (inValue) left = hoist(s, left);
    const code = s.peek();
    const rightStart = s.pos;
    const operand = parseUnary(s, code, false);
    const right = parseBinary(s, operand, rightStart, PRECEDENCE[op], false);
    s.setHeight(Math.max(height, s.height) + 1, opStart);
    height = s.height;
    left = { kind: "binary", op, left, right, start, end: s.tokenEnd };
  }
}

/** The operator at the next token, without reading it; `start`: where its left side begins. */
function peekOperator(s: Scanner, start: number): BinaryOperator | undefined {
  const code = s.peek();
  if (endsValue(code)) return undefined;
  const next = s.src.charCodeAt(s.pos + 1);
  switch (code) {
    case 63: // ?
      return next === 63 ? "??" : undefined;
    case 124: // |
      return next === 124 ? "||" : undefined;
    case 38: // &
      return next === 38 ? "&&" : undefined;
    case 61: // =
      return next === 61 || isCompared(s, start, next) ? "==" : undefined;
    case 33: // !
      return next === 61 ? "!=" : undefined;
    case 60: // <
      return next === 61 ? "<=" : next === 62 ? "!=" : "<";
    case 62: // >
      return next === 61 ? ">=" : ">";
    case 43:
      return "+";
    case 45:
      return next === 62 ? undefined : "-";
    case 42:
      return "*";
    case 47:
      return "/";
    case 37:
      return "%";
    case 97: // and
    case 105: // in
    case 111: {
      const word = s.src.slice(s.pos, s.identEnd(s.pos));
      return word === "in" ? "in" : word === "and" ? "&&" : word === "or" ? "||" : undefined;
    }
    default:
      return undefined;
  }
}

/** Whether a single `=` stands between two values, where `==` is meant: not behind a name that begins its line. */
function isCompared(s: Scanner, start: number, next: number): boolean {
  return s.flat === 0 && next !== 62 && !s.isFirstOnLine(start);
}

/** Moves behind the operator that `peekOperator` saw; spellings of other languages are slips. */
function takeOperator(s: Scanner, op: BinaryOperator): void {
  const start = s.pos;
  const code = s.src.charCodeAt(start);
  s.pos += op.length;
  if (op !== "in" && isNameStart(code)) s.pos = s.identEnd(start);
  else if (op === "==" && s.src.charCodeAt(start + 1) !== 61) s.pos = start + 1;
  else if ((op === "==" || op === "!=") && s.src.charCodeAt(s.pos) === 61) s.pos += 1;
  else if (op !== "!=" || code !== 60) return;
  s.error("FLOW1109", start, s.pos, { parts: { operator: op }, fix: op });
}

function parseUnary(s: Scanner, code: number, inValue: boolean): Expression {
  return isPrefix(s, code) ? parsePrefixed(s) : parsePostfix(s, inValue);
}

/** `!` and `-`, as many as there are, and their operand. */
function parsePrefixed(s: Scanner): Expression {
  const depth = s.depth;
  const prefixes: Prefix[] = [];
  let operand: Expression | undefined;
  while (operand === undefined && isPrefix(s, s.peek())) {
    const at = s.pos;
    const op = s.src.charCodeAt(at) === 45 ? "-" : "!";
    if (s.src.charCodeAt(at) === 110) readNotWord(s);
    else s.pos += 1;
    const isNumber = op === "-" && (isDigit(s.src.charCodeAt(s.pos)) || isPointNumber(s));
    const number = isNumber ? readNumber(s, at) : undefined;
    if (number) {
      s.height = 1;
      operand = parsePostfixOf(s, number, number.start);
    }
    if (number?.kind === "literal") break;
    enterPrefix(s, at);
    prefixes.push({ op, at });
  }
  operand ??= parsePostfix(s, false);
  s.depth = depth;
  s.setHeight(s.height + prefixes.length, prefixes[0]?.at ?? operand.start);
  return applyPrefixes(prefixes, operand, s.tokenEnd);
}

interface Prefix {
  readonly op: "!" | "-";
  readonly at: number;
}

/** Whether a prefix operator stands at `pos`, where the character `code` is. */
function isPrefix(s: Scanner, code: number): boolean {
  return code === 33 || code === 45 || (code === 110 && isNotWord(s));
}

function readNotWord(s: Scanner): void {
  const start = s.pos;
  const end = start + 3;
  s.pos = s.tokenEnd = end;
  s.skipBlanks();
  s.error("FLOW1109", start, end, {
    parts: { operator: "!" },
    fix: replacement("write !", start, s.pos, "!"),
  });
}

/** Prefix operators count as nesting; there is no bracket to skip to. */
function enterPrefix(s: Scanner, at: number): void {
  if (s.depth < s.maxDepth) {
    s.depth += 1;
    return;
  }
  s.error("FLOW1014", at, at + 1, { parts: { limit: `${s.maxDepth} levels` } });
  throw FAIL;
}

function applyPrefixes(prefixes: readonly Prefix[], operand: Expression, end: number): Expression {
  let result = operand;
  for (const { op, at } of prefixes.toReversed()) {
    const value = result.kind === "literal" ? result.value : undefined;
    result =
      op === "-" && typeof value === "number" && value >= 0
        ? { kind: "literal", value: 0 - value, start: at, end }
        : { kind: "unary", op, operand: result, start: at, end };
  }
  return result;
}

/** Whether the word `not` stands here as an operator: something to negate follows on the line. */
function isNotWord(s: Scanner): boolean {
  const { src, pos } = s;
  if (!src.startsWith("not", pos) || s.identEnd(pos) !== pos + 3) return false;
  let at = pos + 3;
  while (src.charCodeAt(at) === 32 || src.charCodeAt(at) === 9) at += 1;
  const code = src.charCodeAt(at);
  if (code === 40 || code === 34 || isDigit(code)) return true;
  if (code === 33) return src.charCodeAt(at + 1) !== 61;
  if (!isNameStart(code)) return false;
  return !["in", "and", "or"].includes(src.slice(at, s.identEnd(at)));
}
