/** Closures of the operators. Nothing is converted: operands of the wrong kind are `type_mismatch`. */
import type { Json } from "@millrace/contracts";
import { isObject } from "../data.ts";
import type { BinaryExpression, Span, UnaryExpression } from "../syntax/ast.ts";
import {
  type Evaluation,
  fail,
  handleText,
  overSteps,
  produceElements,
  produceText,
  spend,
} from "./budget.ts";
import { compareText, equals, finite, kindName, listHas } from "./data.ts";
import type { Closure } from "./unit.ts";

type Site = BinaryExpression;

const ORDERED = "two numbers or two strings";

/** The closure of a prefix operator. */
export function unaryClosure(node: UnaryExpression, operand: Closure): Closure {
  const { op } = node;
  if (op === "!") {
    return (ev) => {
      if (--ev.steps < 0) overSteps(ev, node);
      const value = operand(ev);
      if (typeof value !== "boolean") notBool(node, "`!`", value);
      return !value;
    };
  }
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    const value = operand(ev);
    if (typeof value !== "number") {
      fail(node, "type_mismatch", `\`-\` takes a number, found ${kindName(value)}`);
    }
    return 0 - value;
  };
}

/**
 * The closure of an operator between two operands. A literal, the usual right side of a comparison, is looked up in
 * `constants` and compared without a call.
 */
export function binaryClosure(
  node: BinaryExpression,
  left: Closure,
  right: Closure,
  constants: ReadonlyMap<Closure, Json>,
): Closure {
  switch (node.op) {
    case "??":
      return (ev) => {
        if (--ev.steps < 0) overSteps(ev, node);
        return left(ev) ?? right(ev);
      };
    case "||":
      return logical(node, left, right, true);
    case "&&":
      return logical(node, left, right, false);
    case "==":
    case "!=":
      return equality(node, left, right, constants.get(right));
    case "in":
      return membership(node, left, right, constants.get(left));
    case "<":
    case "<=":
    case ">":
    case ">=":
      return order(node, left, right, constants.get(right));
    case "+":
      return (ev) => {
        if (--ev.steps < 0) overSteps(ev, node);
        return add(ev, node, left(ev), right(ev));
      };
    default:
      return arithmetic(node, left, right);
  }
}

/** Ends the evaluation: something that must be true or false is not. */
export function notBool(place: Span, what: string, value: Json): never {
  fail(place, "type_mismatch", `${what} takes true or false, found ${kindName(value)}`);
}

/** `||` and `&&`: `decisive` is the left value that decides alone. */
function logical(node: Site, left: Closure, right: Closure, decisive: boolean): Closure {
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    const a = left(ev);
    if (a === decisive) return decisive;
    if (typeof a !== "boolean") notBool(node.left, `\`${node.op}\``, a);
    const b = right(ev);
    if (typeof b !== "boolean") notBool(node.right, `\`${node.op}\``, b);
    return b;
  };
}

function equality(node: Site, left: Closure, right: Closure, literal: Json | undefined): Closure {
  const wanted = node.op === "==";
  if (typeof literal === "number" || typeof literal === "boolean" || literal === null) {
    return (ev) => {
      ev.steps -= 2;
      if (ev.steps < 0) overSteps(ev, node);
      return (left(ev) === literal) === wanted;
    };
  }
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    return equals(ev, node, left(ev), right(ev)) === wanted;
  };
}

function order(node: Site, left: Closure, right: Closure, literal: Json | undefined): Closure {
  const { op } = node;
  const orEqual = op === "<=" || op === ">=";
  const below = op === "<" || op === "<=";
  if (typeof literal === "number") {
    return (ev) => {
      ev.steps -= 2;
      if (ev.steps < 0) overSteps(ev, node);
      const a = left(ev);
      if (typeof a !== "number") return mismatch(node, ORDERED, a, literal);
      return a === literal ? orEqual : a < literal === below;
    };
  }
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    const a = left(ev);
    const b = right(ev);
    if (typeof a === "number" && typeof b === "number") {
      return a === b ? orEqual : a < b === below;
    }
    if (typeof a !== "string" || typeof b !== "string") return mismatch(node, ORDERED, a, b);
    handleText(ev, node, Math.min(a.length, b.length));
    const compared = compareText(a, b);
    return compared === 0 ? orEqual : compared < 0 === below;
  };
}

function arithmetic(node: Site, left: Closure, right: Closure): Closure {
  const { op } = node;
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    const a = left(ev);
    const b = right(ev);
    if (typeof a !== "number" || typeof b !== "number") return mismatch(node, "two numbers", a, b);
    if (op === "-") return finite(node, a - b);
    if (op === "*") return finite(node, a * b);
    if (b === 0) fail(node, "division_by_zero", `the right side of \`${op}\` is 0`);
    return finite(node, op === "/" ? a / b : a % b);
  };
}

function add(ev: Evaluation, node: Site, a: Json, b: Json): Json {
  if (typeof a === "number" && typeof b === "number") return finite(node, a + b);
  if (typeof a === "string" && typeof b === "string") {
    produceText(ev, node, a.length + b.length);
    return a + b;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    produceElements(ev, node, a.length + b.length);
    return [...a, ...b];
  }
  return mismatch(node, "two numbers, two strings or two lists", a, b);
}

/** A short literal text is compared with elements for a step each, as `equals` does, but without a call. */
function membership(node: Site, left: Closure, right: Closure, literal: Json | undefined): Closure {
  if (typeof literal === "string" && literal.length < 64) {
    return (ev) => {
      ev.steps -= 2;
      if (ev.steps < 0) overSteps(ev, node);
      const whole = right(ev);
      if (!Array.isArray(whole)) return isIn(ev, node, literal, whole);
      const at = whole.indexOf(literal);
      spend(ev, node, at < 0 ? whole.length : at + 1);
      return at >= 0;
    };
  }
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    return isIn(ev, node, left(ev), right(ev));
  };
}

function isIn(ev: Evaluation, node: Site, item: Json, whole: Json): boolean {
  if (Array.isArray(whole)) return listHas(ev, node, whole, item);
  if (!isObject(whole)) {
    fail(
      node,
      "type_mismatch",
      `\`in\` takes a list or an object on its right, found ${kindName(whole)}`,
    );
  }
  if (typeof item !== "string") {
    fail(node, "type_mismatch", `\`in\` looks for a string in an object, found ${kindName(item)}`);
  }
  return Object.hasOwn(whole, item) && whole[item] !== undefined;
}

function mismatch(node: Site, takes: string, a: Json, b: Json): never {
  const found = `${kindName(a)} and ${kindName(b)}`;
  fail(node, "type_mismatch", `\`${node.op}\` takes ${takes}, found ${found}`);
}
