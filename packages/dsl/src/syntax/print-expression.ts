/**
 * Canonical source of an expression, on one line: minimal parentheses, one space around binary operators and `? :`.
 * Recursion goes no deeper than the tree is high, and the parser bounds that.
 */

import { type Expression, ownEntries, PRECEDENCE } from "./ast.ts";
import { isIdent, unicodeEscape } from "./chars.ts";
import { durationText, numberText } from "./numbers.ts";

/** How tight expressions bind that are no binary operators. */
export const CONDITIONAL = 1;
/** Precedence of a prefix operator: above every binary one. */
export const UNARY = 9;
/** Precedence of names, literals, calls and members: above all operators. */
export const POSTFIX = 10;

/** Prints an expression as its canonical source: `(1+2)*size( x )` prints as `(1 + 2) * size(x)`. */
export function printExpression(ast: Expression): string {
  return print(ast, CONDITIONAL);
}

function print(e: Expression, atLeast: number): string {
  const text = printBare(e);
  return precedenceOf(e) < atLeast ? `(${text})` : text;
}

function precedenceOf(e: Expression): number {
  if (e.kind === "conditional") return CONDITIONAL;
  if (e.kind === "binary") return PRECEDENCE[e.op];
  return e.kind === "unary" ? UNARY : POSTFIX;
}

function printBare(e: Expression): string {
  switch (e.kind) {
    case "literal":
      if (typeof e.value === "string") return quoteText(e.value);
      return typeof e.value === "number" ? numberText(e.value) : String(e.value);
    case "duration":
      return durationText(e.ms);
    case "template":
      return `"${printParts(e.parts)}"`;
    case "list":
      return `[${e.elements.map(printExpression).join(", ")}]`;
    case "object": {
      const entries = ownEntries(e).map(
        ({ key, value }) => `${nameText(key)}: ${printExpression(value)}`,
      );
      return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
    }
    case "name":
      return e.name;
    case "member":
      return `${printOwner(e.object)}${e.optional ? "?." : "."}${nameText(e.name)}`;
    case "index":
      return `${print(e.object, POSTFIX)}[${printExpression(e.index)}]`;
    case "call":
      return `${e.name}(${e.args.map(printExpression).join(", ")})`;
    case "unary":
      return printUnary(e.op, e.operand);
    case "binary": {
      const precedence = PRECEDENCE[e.op];
      return `${print(e.left, precedence)} ${e.op} ${print(e.right, precedence + 1)}`;
    }
    case "conditional":
      return `${print(e.test, CONDITIONAL + 1)} ? ${print(e.then, CONDITIONAL)} : ${print(e.otherwise, CONDITIONAL)}`;
  }
}

function printParts(parts: readonly (string | Expression)[]): string {
  let text = "";
  for (const part of parts) {
    text += typeof part === "string" ? escapeText(part) : `\${${printExpression(part)}}`;
  }
  return text;
}

/** Prints the object before a dot: `1.a` would read as a broken number. */
function printOwner(e: Expression): string {
  const isNumber = e.kind === "duration" || (e.kind === "literal" && typeof e.value === "number");
  return isNumber ? `(${printBare(e)})` : print(e, POSTFIX);
}

/** A minus directly before a number would become part of it, so `-(1[0])` keeps its parentheses. */
function printUnary(op: "!" | "-", operand: Expression): string {
  if (op === "-" && operand.kind !== "unary") {
    const first = firstOperand(operand);
    if (first.kind === "literal" && typeof first.value === "number" && first.value >= 0) {
      const text = print(operand, UNARY);
      return text.startsWith("(") ? `-${text}` : `-(${text})`;
    }
  }
  return `${op}${print(operand, UNARY)}`;
}

function firstOperand(e: Expression): Expression {
  let first = e;
  while (first.kind === "member" || first.kind === "index") first = first.object;
  return first;
}

/** A name: bare when it is an ident, else quoted. */
export function nameText(name: string): string {
  return isIdent(name) ? name : quoteText(name);
}

/** A string in double quotes with the shortest escapes. */
export function quoteText(text: string): string {
  return `"${escapeText(text)}"`;
}

const SHORT: { readonly [char: string]: string } = {
  "\n": "\\n",
  "\t": "\\t",
  "\r": "\\r",
  "\b": "\\b",
  "\f": "\\f",
  '"': '\\"',
  "\\": "\\\\",
  "${": "\\${",
};

// Controls, line separators, byte order mark, bidirectional controls, lone surrogates: nothing that a reader cannot see.
const UNSEEN = String.raw`[\0-\x1f\x80-\x9f\u2028\u2029\ufeff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}`;
const ESCAPED = new RegExp(`["\\\\]|\\$\\{|${UNSEEN}`, "gu");
const NEEDS_UNICODE = new RegExp(`(?![\\n\\t])(?:${UNSEEN})`, "u");

/** A text as it stands between quotes, with the shortest escapes. */
export function escapeText(text: string): string {
  if (isPlain(text)) return text;
  return text.replace(ESCAPED, (char) => SHORT[char] ?? unicodeEscape(char.charCodeAt(0)));
}

/** Whether a text needs no escape, for texts of printable ASCII; others are looked at by the expression. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 32 || code > 126 || code === 34 || code === 92) return false;
    if (code === 36 && text.charCodeAt(at + 1) === 123) return false;
  }
  return true;
}

/** Whether a text holds something that only an escape can say, so that it cannot stand in a block string. */
export function needsEscape(text: string): boolean {
  return NEEDS_UNICODE.test(text);
}
