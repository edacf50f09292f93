/** Types of the operators. */

import { quoted } from "../diagnostics/quote.ts";
import { itemsOf } from "../expression/functions/numbers.ts";
import type { BinaryExpression, Expression, UnaryExpression } from "../syntax/ast.ts";
import { printExpression } from "../syntax/print-expression.ts";
import { areDisjoint } from "./fits.ts";
import {
  ANY,
  BOOL,
  describeType,
  type FlowType,
  INT,
  isAlways,
  listOf,
  mayBeNull,
  membersOf,
  NUMBER,
  STRING,
  unionOf,
  unionOfAll,
  withoutNull,
} from "./flow-type.ts";
import { type Inference, SUMMANDS } from "./inference.ts";
import { factsOf } from "./scope.ts";

type Bool = FlowType & { kind: "bool" };

/** `!a`. */
export function notType(node: UnaryExpression, type: FlowType, inference: Inference): FlowType {
  const rest = inference.solid(node.operand, type);
  if (!has(rest, "bool")) return inference.mismatch(node, "!", "true or false", [type]);
  return rest.kind === "bool" && rest.value !== undefined
    ? { kind: "bool", value: !rest.value }
    : BOOL;
}

/** `-a`. */
export function negatedType(node: UnaryExpression, type: FlowType, inference: Inference): FlowType {
  const rest = inference.solid(node.operand, type);
  if (!has(rest, "int", "number")) return inference.mismatch(node, "-", "a number", [type]);
  return rest.kind === "int" ? INT : NUMBER;
}

/** An operator between two operands. */
export function binaryType(node: BinaryExpression, inference: Inference): FlowType {
  const { op } = node;
  const left = inference.of(node.left);
  if (op === "&&" || op === "||") return logicalType(node, left, inference);
  const right = inference.of(node.right);
  switch (op) {
    case "??":
      return unionOf(withoutNull(left), right);
    case "==":
    case "!=":
      if (areDisjoint(left, right)) pointless(node, left, right, op === "!=", inference);
      return BOOL;
    case "in":
      return membershipType(node, left, right, inference);
    default:
      return operatorType(node, [left, right], inference);
  }
}

function logicalType(node: BinaryExpression, left: FlowType, inference: Inference): FlowType {
  const { scope } = inference;
  const decisive = node.op === "||";
  const isUnreached = isAlways(left, decisive);
  const inner = scope.given(factsOf(node.left, !decisive, scope));
  const right = inference.inner(node.right, inner, isUnreached);
  if (decisive && isDefault(left, right)) {
    const text = printExpression({ ...node, op: "??" });
    inference.mismatch(node, node.op, "true or false", [left, right], text);
    return unionOf(withoutNull(left), right);
  }
  const sides: [Expression, FlowType][] = [[node.left, left]];
  if (!isUnreached) sides.push([node.right, right]);
  const found = sides.map(([side, type]): Bool | undefined => {
    const rest = inference.solid(side, type);
    if (has(rest, "bool")) return rest.kind === "bool" ? rest : (BOOL as Bool);
    inference.mismatch(side, node.op, "true or false", [type]);
    return undefined;
  });
  const [a, b] = found;
  if (a?.value === decisive || b?.value === decisive) return { kind: "bool", value: decisive };
  return a?.value !== undefined && b?.value !== undefined
    ? { kind: "bool", value: !decisive }
    : BOOL;
}

/** Whether `a || b` says what to read where `a` is null: neither side is ever true or false. */
function isDefault(left: FlowType, right: FlowType): boolean {
  const isOther = (type: FlowType): boolean =>
    membersOf(type).length > 0 &&
    membersOf(type).every(({ kind }) => kind !== "any" && kind !== "bool");
  return mayBeNull(left) && isOther(withoutNull(left)) && isOther(right);
}

function membershipType(
  node: BinaryExpression,
  left: FlowType,
  right: FlowType,
  inference: Inference,
): FlowType {
  const whole = inference.solid(node.right, right);
  if (!has(whole, "list", "object")) {
    inference.mismatch(node, "in", "a list or an object on its right", [left, right]);
  } else if (whole.kind === "object") {
    const name = inference.solid(node.left, left);
    if (!has(name, "string"))
      inference.mismatch(node, "in", "a string and an object", [left, right]);
  } else if (whole.kind === "list" && areDisjoint(left, whole.items)) {
    pointless(node, left, whole.items, false, inference);
  }
  return BOOL;
}

/** `+ - * / %` and `< <= > >=`, of which none takes null. */
function operatorType(
  node: BinaryExpression,
  found: readonly [FlowType, FlowType],
  inference: Inference,
): FlowType {
  const { op } = node;
  const a = inference.solid(node.left, found[0]);
  const b = inference.solid(node.right, found[1]);
  const both = (...kinds: FlowType["kind"][]): boolean => has(a, ...kinds) && has(b, ...kinds);
  const number = a.kind === "int" && b.kind === "int" && op !== "/" ? INT : NUMBER;
  if (op === "+") {
    const sums: FlowType[] = both("int", "number") ? [number] : [];
    if (both("string")) sums.push(STRING);
    if (both("list")) sums.push(listOf(unionOf(itemsOf(a), itemsOf(b))));
    const isText = inference.isText(node.left);
    if (a.kind === "any" && b.kind === "any" && !isText) return ANY;
    if (sums.length > 0 && !isText) return unionOfAll(sums);
    if (!isText && a.kind !== "string" && b.kind !== "string") {
      return inference.mismatch(node, "+", SUMMANDS, found);
    }
    inference.text(node, found);
    return ANY;
  }
  if (op.startsWith("<") || op.startsWith(">")) {
    if (!both("int", "number") && !both("string")) {
      inference.mismatch(node, op, "two numbers or two strings", found);
    }
    return BOOL;
  }
  if (both("int", "number")) return number;
  inference.mismatch(node, op, "two numbers", found);
  return NUMBER;
}

function pointless(
  node: Expression,
  left: FlowType,
  right: FlowType,
  result: boolean,
  inference: Inference,
): void {
  inference.ofValue("FLOW5010", node, {
    parts: { a: exactly(left), b: exactly(right), result: String(result) },
  });
}

/** The type, with the texts when only certain ones are possible: two strings alone would not explain anything. */
function exactly(type: FlowType): string {
  if (type.kind !== "string" || type.values === undefined) return describeType(type);
  return type.values.map((text) => `"${quoted(text)}"`).join(" or ");
}

/** Whether a value of the type may be of one of the kinds. */
export function has(type: FlowType, ...kinds: readonly FlowType["kind"][]): boolean {
  if (type.kind === "union") return type.types.some((member) => has(member, ...kinds));
  return type.kind === "any" || kinds.includes(type.kind);
}
