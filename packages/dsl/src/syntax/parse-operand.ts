/** Operands of expressions: words, literals, brackets, and the members, indexes and calls behind them. */

import { aliasOf, FUNCTION_ALIASES, NAME_HINTS, NAMESPACES } from "../diagnostics/aliases.ts";
import { replacement } from "../diagnostics/bag.ts";
import type { CallExpression, Expression, MemberExpression } from "./ast.ts";
import { readBlock } from "./block-strings.ts";
import { isDigit, isIdent, isNameStart } from "./chars.ts";
import { hoist, readList, readObject } from "./collections.ts";
import { FAIL } from "./cursor.ts";
import { missingComma } from "./foreign.ts";
import { readNumber } from "./numbers.ts";
import { printExpression } from "./print-expression.ts";
import { type Scanner, TEXT_END } from "./scanner.ts";
import { closesSingle, readName, readQuoted } from "./strings.ts";

/** Whether a number without its zero, `.5`, stands here. */
export function isPointNumber(s: Scanner): boolean {
  return s.src.charCodeAt(s.pos) === 46 && isDigit(s.src.charCodeAt(s.pos + 1));
}

/** Reads one operand: a primary with its members, indexes and calls. */
export function parsePostfix(s: Scanner, inValue: boolean): Expression {
  s.peek();
  const start = s.pos;
  const primary = parsePrimary(s, inValue);
  return parsePostfixOf(s, primary, start, inValue);
}

/** Members, indexes and calls behind `first`. */
export function parsePostfixOf(
  s: Scanner,
  first: Expression,
  start: number,
  inValue = false,
): Expression {
  let result = first;
  let height = s.height;
  let hoisted = !inValue;
  let called: CallExpression | undefined;
  for (;;) {
    const code = s.peek();
    const at = s.pos;
    const optional =
      code === 63 && s.src.charCodeAt(at + 1) === 46 && !isDigit(s.src.charCodeAt(at + 2));
    if (!optional && code !== 46 && code !== 91 && code !== 40) {
      if (called) reportMethod(s, called);
      s.height = height;
      return result;
    }
    if (!hoisted) {
      result = hoist(s, result);
      hoisted = true;
    }
    if (code === 91) {
      result = parseIndex(s, result, start, height);
    } else if (code === 40) {
      const isMethod = result.kind === "member";
      result = parseCall(s, result, start, height);
      if (isMethod) called = result as CallExpression;
    } else {
      s.pos += optional ? 2 : 1;
      const name = readName(s);
      if (name === undefined) s.expected("a name");
      s.setHeight(height + 1, at);
      result = { kind: "member", object: result, name, optional, start, end: s.tokenEnd };
    }
    height = s.height;
  }
}

/** `list[i]`; `list[a:b]` is read as `slice(list, a, b)`. */
function parseIndex(
  s: Scanner,
  object: Expression,
  start: number,
  objectHeight: number,
): Expression {
  const open = s.pos;
  const flat = s.openBracket(open);
  const isFromStart = s.peek() === 58;
  const index: Expression = isFromStart
    ? { kind: "literal", value: 0, start: open, end: open }
    : s.readValue();
  let height = Math.max(objectHeight, isFromStart ? 1 : s.height);
  const colon = s.peek() === 58 ? s.pos : -1;
  const args = [object, index];
  if (colon !== -1) {
    s.pos = s.tokenEnd = colon + 1;
    if (s.peek() !== 93) {
      args.push(s.readValue());
      height = Math.max(height, s.height);
    }
  }
  s.closeBracket(93, flat);
  s.setHeight(height + 1, open);
  const end = s.pos;
  if (colon === -1) return { kind: "index", object, index, start, end };
  const call: Expression = { kind: "call", name: "slice", args, start, end };
  s.error("FLOW1006", colon, colon + 1, {
    parts: { what: "`]`", found: ":" },
    hint: "a part of a list or of text is `slice(list, from, to)`",
    fix: replacement("write slice(…)", start, end, printExpression(call)),
  });
  return call;
}

/** A call of a bare name. `x.size()` is read as `size(x)`. */
function parseCall(
  s: Scanner,
  callee: Expression,
  start: number,
  calleeHeight: number,
): CallExpression {
  const open = s.pos;
  const flat = s.openBracket(open);
  const args: Expression[] = [];
  let height = callee.kind === "name" ? 0 : calleeHeight;
  while (s.peek() !== 41) {
    args.push(s.readValue());
    height = Math.max(height, s.height);
    const code = s.peek();
    if (code === 44) s.pos += 1;
    else if (code === 61 && s.src.charCodeAt(s.pos + 1) === 62) {
      if (callee.kind === "name") lambdaArrow(s);
      else s.pos += 2;
    } else if (code !== 41) missingComma(s, "`,` or `)`");
  }
  s.closeBracket(41, flat);
  s.setHeight(height + 1, open);
  const end = s.pos;
  if (callee.kind === "name") return { kind: "call", name: callee.name, args, start, end };
  const isMethod = callee.kind === "member" && isBareName(callee.name);
  if (!isMethod) {
    s.error("FLOW5003", callee.start, end, { message: NO_METHODS, hint: null });
    throw FAIL;
  }
  return methodCall(callee, args, start, end);
}

const NO_METHODS = "functions are called as `f(x)`";

/** A method as the function that does the same; `Math.max(a)` is `max(a)`. */
function methodCall(
  { object, name }: MemberExpression,
  args: readonly Expression[],
  start: number,
  end: number,
): CallExpression {
  const meant = (word: string): string | undefined => aliasOf(word, FUNCTION_ALIASES);
  if (object.kind !== "name" || !NAMESPACES.has(object.name)) {
    return { kind: "call", name: meant(name) ?? name, args: [object, ...args], start, end };
  }
  const whole = meant(`${object.name}_${name}`) ?? meant(name) ?? name;
  return { kind: "call", name: whole, args, start, end };
}

/** The last of the methods of one operand: its fix mends them all. */
function reportMethod(s: Scanner, call: CallExpression): void {
  s.error("FLOW5003", call.start, call.end, {
    message: NO_METHODS,
    hint: null,
    fix: [`write ${call.name}(…)`, printExpression(call)],
  });
}

/** Words that are no names, with those of other languages, which are read as meant and reported. */
export const WORDS: ReadonlyMap<string, null | boolean> = new Map<string, null | boolean>([
  ["true", true],
  ["false", false],
  ["null", null],
  ["True", true],
  ["TRUE", true],
  ["False", false],
  ["FALSE", false],
  ["None", null],
  ["Null", null],
  ["NULL", null],
  ["nil", null],
  ["undefined", null],
]);

/** Whether a name that stands bare is read as something else: a node of this name is read as `nodes["in"]`. */
export function readsAsWord(name: string): boolean {
  return name === "in" || WORDS.has(name);
}

/** Whether a name stands as it is where an expression begins. */
export function isBareName(name: string): boolean {
  return isIdent(name) && !readsAsWord(name);
}

function parsePrimary(s: Scanner, inValue: boolean): Expression {
  const code = s.peek();
  const start = s.pos;
  s.height = 1;
  if (isNameStart(code)) return parseWord(s);
  if (isDigit(code) || isPointNumber(s)) return readNumber(s, -1);
  switch (code) {
    case 34:
      return s.src.startsWith('"""', start) ? readBlock(s) : readQuoted(s);
    case 91:
      return readList(s, inValue);
    case 123:
      return s.src.charCodeAt(start + 1) === 123 ? parseNeedlessHole(s) : readObject(s, inValue);
    case 40: {
      const flat = s.openBracket(start);
      const inner = s.readValue();
      s.closeBracket(41, flat);
      return inner;
    }
    case 39:
    case 96:
      if (closesSingle(s)) return readQuoted(s);
      break;
    case 36:
      if (s.src.charCodeAt(start + 1) === 123) return parseNeedlessHole(s);
      if (isNameStart(s.src.charCodeAt(start + 1))) return parseDollarName(s);
      break;
    default:
      if (code > 127) {
        if (closesSingle(s)) return readQuoted(s);
        const end = s.tokenEndAt(start);
        const isQuote = code >= 0x2018 && code <= 0x201f;
        s.error("FLOW1001", start, end, {
          parts: { found: s.tokenText(start, end) },
          fix: isQuote ? '"' : undefined,
        });
        throw FAIL;
      }
  }
  return s.expected("a value");
}

/** `f(l, x => …)`, where a comma belongs. */
function lambdaArrow(s: Scanner): void {
  const start = s.pos;
  s.pos += 2;
  const from = s.src.charCodeAt(start - 1) === 32 ? start - 1 : start;
  s.error("FLOW1006", start, s.pos, {
    parts: { what: "`,`", found: "=>" },
    fix: replacement("write ,", from, s.pos, ","),
  });
}

/** `${x}` or `{{x}}` where a value stands: read as `x`. */
function parseNeedlessHole(s: Scanner): Expression {
  const start = s.pos;
  const braces = s.src.charCodeAt(start) === 123;
  const inner = s.readHole();
  if (braces) {
    if (s.src.charCodeAt(s.pos) !== 125) s.expected("`}`");
    s.pos = s.tokenEnd = s.pos + 1;
  }
  const end = s.pos;
  const height = s.height;
  const next = s.peek();
  const alone = next === 10 || next === 44 || next === 93 || next === 125 || next === TEXT_END;
  s.height = height;
  const simple = alone || !["binary", "conditional", "unary"].includes(inner.kind);
  s.error("FLOW1101", start, end, {
    ...(braces && {
      message: "`{{…}}` is not needed here: this place is already an expression",
    }),
    fix: {
      title: braces ? "remove {{ }}" : "remove ${ }",
      edits: [
        { start, end: start + 2, text: simple ? "" : "(" },
        { start: braces ? end - 2 : end - 1, end, text: simple ? "" : ")" },
      ],
    },
  });
  return inner;
}

/** `$name`: read as the name, where it is none that another tool gives. */
function parseDollarName(s: Scanner): Expression {
  const start = s.pos;
  const end = s.identEnd(start + 1);
  const hint = aliasOf(s.src.slice(start + 1, end), NAME_HINTS);
  s.error("FLOW1006", start, hint === undefined ? start + 1 : end, {
    parts: { what: "a value", found: s.src.slice(start, end) },
    ...(hint === undefined ? { fix: ["remove $", ""] as const } : { hint }),
  });
  if (hint !== undefined) throw FAIL;
  s.pos = start + 1;
  return parseWord(s);
}

function parseWord(s: Scanner): Expression {
  const start = s.pos;
  const name = s.readIdent();
  const end = s.pos;
  const value = WORDS.get(name);
  if (value === undefined) {
    if (name === "in") s.expected("a value", start);
    return { kind: "name", name, start, end };
  }
  const word = String(value);
  if (name !== word) {
    if (!standsAlone(s)) return { kind: "name", name, start, end };
    s.error("FLOW1110", start, end, { parts: { word }, fix: word });
  }
  return { kind: "literal", value, start, end };
}

/** Whether no member, index or call follows: `None.x` reads a node of that name. */
function standsAlone(s: Scanner): boolean {
  const code = s.peek();
  const next = s.src.charCodeAt(s.pos + 1);
  return code !== 46 && code !== 91 && code !== 40 && !(code === 63 && next === 46);
}
