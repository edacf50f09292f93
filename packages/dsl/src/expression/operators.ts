/** Parts of the operators. Nothing is converted: operands of the wrong kind are `type_mismatch`. */
import type { Json } from "@millrace/contracts";
import { isObject } from "../data.ts";
import type { BinaryExpression, Span, UnaryExpression } from "../syntax/ast.ts";
import {
  type Evaluation,
  fail,
  handleText,
  lacks,
  overSteps,
  produceElements,
  produceText,
  wrongType,
} from "./budget.ts";
import { compareText, equals, finite, kindName, listIndex } from "./data.ts";
import { type Closure, Part, pay } from "./unit.ts";

type Site = BinaryExpression;

const ORDERED = "two numbers or two strings";

/** The part of a prefix operator. */
export function unaryPart(node: UnaryExpression, operand: Part): Part {
  const steps = operand.steps + 1;
  if (node.op === "!") {
    return new Part((ev) => {
      const value = operand.closure(ev);
      if (typeof value !== "boolean") notBool(node, "`!`", value);
      return !value;
    }, steps);
  }
  return new Part((ev) => {
    const value = operand.closure(ev);
    if (typeof value !== "number") {
      wrongType(node, `\`-\` takes a number, found ${kindName(value)}`);
    }
    return 0 - value;
  }, steps);
}

/** The part of an operator between two operands. */
export function binaryPart(node: BinaryExpression, left: Part, right: Part): Part {
  if (node.op === "??") {
    return new Part((ev) => {
      const value = left.closure(ev);
      if (value !== null) return value;
      pay(ev, right, node.right);
      return right.closure(ev);
    }, left.steps + 1);
  }
  return new Part(binaryClosure(node, left, right), left.steps + right.steps + 1);
}

function binaryClosure(node: BinaryExpression, left: Part, right: Part): Closure {
  switch (node.op) {
    case "==":
    case "!=":
      return equality(node, left, right);
    case "in":
      return membership(node, left, right);
    case "<":
    case "<=":
    case ">":
    case ">=":
      return order(node, left, right);
    case "+":
      return (ev) => {
        const a = left.closure(ev);
        return add(ev, node, a, right.closure(ev));
      };
    default:
      return arithmetic(node, left, right);
  }
}

/** Ends the evaluation: something that must be true or false is not. */
export function notBool(place: Span, what: string, value: Json): never {
  wrongType(place, `${what} takes true or false, found ${kindName(value)}`);
}

/** The part of `a && b && …` or `a || b || …`: `sites` are the operators from left to right, `parts` what stands between. */
export function logicalPart(sites: readonly Site[], parts: readonly Part[]): Part {
  const { op, left } = sites[0] as Site;
  const going = op === "&&";
  const placeOf = (operand: number): Span =>
    operand === 0 ? left : (sites[operand - 1] as Site).right;
  const refuse: Refuse = (operand, value, ev) => {
    const place = placeOf(operand);
    if (ev !== undefined) overSteps(ev, place);
    return notBool(place, `\`${op}\``, value);
  };
  const [first, second, third] = parts as [Part, Part, Part | undefined];
  const steps = first.steps + sites.length;
  // Few operands have their calls written out: engines of JavaScript learn for each place of a call what is called there.
  if (third === undefined) return new Part(ofTwo(going, refuse, first, second), steps);
  if (parts.length === 3) return new Part(ofThree(going, refuse, first, second, third), steps);
  return new Part((ev) => {
    for (let i = 0; i < parts.length; i += 1) {
      const part = parts[i] as Part;
      if (i > 0) pay(ev, part, placeOf(i));
      const value = part.closure(ev);
      if (value !== going) return value === !going ? value : refuse(i, value);
    }
    return going;
  }, steps);
}

/** Ends the evaluation: an operand is neither true nor false or, with `ev`, there are no steps for it. */
type Refuse = (operand: number, value: Json, ev?: Evaluation) => never;

function ofTwo(going: boolean, refuse: Refuse, first: Part, second: Part): Closure {
  return (ev) => {
    let value = first.closure(ev);
    if (value !== going) return value === !going ? value : refuse(0, value);
    ev.steps -= second.steps;
    if (ev.steps < 0) refuse(1, null, ev);
    value = second.closure(ev);
    return typeof value === "boolean" ? value : refuse(1, value);
  };
}

function ofThree(going: boolean, refuse: Refuse, first: Part, second: Part, third: Part): Closure {
  return (ev) => {
    let value = first.closure(ev);
    if (value !== going) return value === !going ? value : refuse(0, value);
    ev.steps -= second.steps;
    if (ev.steps < 0) refuse(1, null, ev);
    value = second.closure(ev);
    if (value !== going) return value === !going ? value : refuse(1, value);
    ev.steps -= third.steps;
    if (ev.steps < 0) refuse(2, null, ev);
    value = third.closure(ev);
    return typeof value === "boolean" ? value : refuse(2, value);
  };
}

function equality(node: Site, left: Part, right: Part): Closure {
  const wanted = node.op === "==";
  const literal = right.constant;
  if (typeof literal === "number" || typeof literal === "boolean" || literal === null) {
    return (ev) => (left.closure(ev) === literal) === wanted;
  }
  return (ev) => {
    const a = left.closure(ev);
    return equals(ev, node, a, right.closure(ev)) === wanted;
  };
}

function order(node: Site, left: Part, right: Part): Closure {
  const { op } = node;
  const orEqual = op === "<=" || op === ">=";
  const below = op === "<" || op === "<=";
  const literal = right.constant;
  if (typeof literal === "number") {
    const refuse = (a: Json): never => mismatch(node, ORDERED, a, literal);
    return numberOrder(refuse, left, literal, orEqual, below);
  }
  return (ev) => {
    const a = left.closure(ev);
    const b = right.closure(ev);
    if (typeof a === "number" && typeof b === "number") {
      return a === b ? orEqual : a < b === below;
    }
    if (typeof a !== "string" || typeof b !== "string") return mismatch(node, ORDERED, a, b);
    handleText(ev, node, Math.min(a.length, b.length));
    const compared = compareText(a, b);
    return compared === 0 ? orEqual : compared < 0 === below;
  };
}

function numberOrder(
  refuse: (a: Json) => never,
  left: Part,
  literal: number,
  orEqual: boolean,
  below: boolean,
): Closure {
  return (ev) => {
    const a = left.closure(ev);
    if (typeof a !== "number") return refuse(a);
    return a === literal ? orEqual : a < literal === below;
  };
}

function arithmetic(node: Site, left: Part, right: Part): Closure {
  const { op } = node;
  return (ev) => {
    const a = left.closure(ev);
    const b = right.closure(ev);
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
function membership(node: Site, left: Part, right: Part): Closure {
  const literal = left.constant;
  if (typeof literal === "string" && literal.length < 64) {
    return textIn(literal, right, (ev, whole) => isIn(ev, node, literal, whole));
  }
  return (ev) => {
    const item = left.closure(ev);
    return isIn(ev, node, item, right.closure(ev));
  };
}

/** Whether a text is there of which a comparison takes one step; `other` has what is no list, and the error of too few steps. */
function textIn(
  text: string,
  right: Part,
  other: (ev: Evaluation, whole: Json) => boolean,
): Closure {
  return (ev) => {
    const whole = right.closure(ev);
    if (!Array.isArray(whole)) return other(ev, whole);
    // A loop takes two thirds of the time of `indexOf` for a few elements.
    let compared = 0;
    let isThere = false;
    while (!isThere && compared < whole.length) {
      isThere = whole[compared] === text;
      compared += 1;
    }
    return lacks(ev, compared) ? other(ev, whole) : isThere;
  };
}

function isIn(ev: Evaluation, node: Site, item: Json, whole: Json): boolean {
  if (Array.isArray(whole)) return listIndex(ev, node, whole, item) >= 0;
  if (!isObject(whole)) {
    wrongType(node, `\`in\` takes a list or an object on its right, found ${kindName(whole)}`);
  }
  if (typeof item !== "string") {
    wrongType(node, `\`in\` looks for a string in an object, found ${kindName(item)}`);
  }
  return Object.hasOwn(whole, item) && whole[item] !== undefined;
}

function mismatch(node: Site, takes: string, a: Json, b: Json): never {
  const found = `${kindName(a)} and ${kindName(b)}`;
  wrongType(node, `\`${node.op}\` takes ${takes}, found ${found}`);
}
