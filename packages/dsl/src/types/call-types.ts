/** Types of calls. */

import type { Json } from "@millrace/contracts";
import { aliasOf, FUNCTION_ALIASES, FUNCTION_HINTS, meantName } from "../diagnostics/aliases.ts";
import { writing } from "../diagnostics/bag.ts";
import { MAX_RANGE } from "../expression/functions/collections.ts";
import type { FunctionSpec } from "../expression/functions/define.ts";
import { findMacro, type MacroSpec } from "../expression/functions/macros.ts";
import { itemsOf } from "../expression/functions/numbers.ts";
import { allFunctions, findFunction } from "../expression/functions/table.ts";
import type { CallExpression, Expression } from "../syntax/ast.ts";
import { printExpression } from "../syntax/print-expression.ts";
import { fits } from "./fits.ts";
import {
  ANY,
  describeType,
  type FlowType,
  LIST,
  listOf,
  mayBeNull,
  membersOf,
  objectOf,
  unionOfAll,
  withoutNull,
} from "./flow-type.ts";
import { literalType } from "./from-schema.ts";
import type { Inference } from "./inference.ts";
import { has } from "./operator-types.ts";
import { factsOf, type TypeScope } from "./scope.ts";

/** The type of a call of a function or macro. */
export function callType(node: CallExpression, inference: Inference): FlowType {
  const macro = findMacro(node.name);
  if (macro !== undefined) return macroType(node, macro, inference);
  const args = node.args.map((argument) => inference.of(argument));
  const spec = findFunction(node.name);
  if (spec === undefined) {
    unknownFunction(node, inference);
    return ANY;
  }
  if (!checkArity(node, spec.signature, spec.arity, inference)) return resultOf(spec, []);
  const solid = args.map((type, i) => {
    const param = spec.params[i] ?? (spec.params.at(-1) as FlowType);
    checkLiteral(node, i, spec, inference);
    return argumentType(node, i, type, param, inference);
  });
  if (node.name === "range") checkRange(node, inference);
  return resultOf(spec, solid);
}

function resultOf(spec: FunctionSpec, args: readonly FlowType[]): FlowType {
  return typeof spec.returns === "function" ? spec.returns(args) : spec.returns;
}

function argumentType(
  node: CallExpression,
  i: number,
  type: FlowType,
  param: FlowType,
  inference: Inference,
): FlowType {
  const argument = node.args[i] as Expression;
  if (param.kind === "any") return type;
  if (fits(type, param) === "no") {
    inference.mismatch(argument, node.name, describeType(param), [type]);
    return ANY;
  }
  return mayBeNull(param) ? type : inference.solid(argument, type);
}

function macroType(node: CallExpression, macro: MacroSpec, inference: Inference): FlowType {
  if (!checkArity(node, macro.signature, [3, 3], inference)) return macro.returns(LIST, ANY);
  const { scope } = inference;
  const [list, variable, body] = node.args as [Expression, Expression, Expression];
  const given = inference.of(list);
  const lists = inference.solid(list, given);
  if (!has(lists, "list")) inference.mismatch(list, node.name, "list", [given]);
  const items = itemsOf(lists);
  const name = newName(variable, macro, inference);
  const inner = name === undefined ? scope : scope.bind(name, items);
  const isEmpty = lists.kind === "list" && membersOf(items).length === 0;
  const result = inference.inner(body, inner, isEmpty);
  if (isEmpty) return macro.returns(lists, result);
  if (macro.condition) inference.condition(body, result, `the condition of ${macro.name}`);
  else if (macro.keys !== undefined) checkKeys(body, result, macro.name, macro.keys, inference);
  const kept = macro.name === "filter" ? keptItems(items, variable, body, inner) : items;
  return macro.returns(listOf(kept), result);
}

/** The keys by which a macro goes: where null is none, each must be there. */
function checkKeys(
  body: Expression,
  type: FlowType,
  name: string,
  [words, ...kinds]: readonly [words: string, ...kinds: FlowType["kind"][]],
  inference: Inference,
): void {
  const given = kinds.includes("null") ? type : inference.solid(body, type);
  if (has(given, ...kinds)) return;
  const asText = kinds.length === 1 && has(given, "int", "number", "bool");
  const text = asText ? `string(${printExpression(body)})` : undefined;
  inference.mismatch(body, name, words, [type], text);
}

/** `filter(l, x, x != null)` leaves no null in the list, `filter(l, x, x.a != null)` none in that member. */
function keptItems(
  items: FlowType,
  variable: Expression,
  body: Expression,
  scope: TypeScope,
): FlowType {
  const facts = factsOf(body, true, scope);
  if (facts.size === 0) return items;
  const isGiven = (node: Expression): boolean => facts.has(scope.keyOf(node) ?? "");
  const kept = isGiven(variable) ? withoutNull(items) : items;
  return unionOfAll(
    membersOf(kept).map((item) => {
      if (item.kind !== "object") return item;
      const props = [...item.props].map(([name, type]): [string, FlowType] => {
        const member = {
          ...variable,
          kind: "member",
          object: variable,
          name,
          optional: false,
        } as const;
        return [name, isGiven(member) ? withoutNull(type) : type];
      });
      return objectOf(props, item.open);
    }),
  );
}

function newName(node: Expression, macro: MacroSpec, inference: Inference): string | undefined {
  const { scope } = inference;
  const name = node.kind === "name" ? node.name : undefined;
  const taken =
    name === undefined || scope.variable(name) !== undefined || scope.env.get(name) !== undefined;
  if (taken) inference.findings.add("FLOW5009", node, { parts: { macro: macro.name } });
  return name;
}

function checkArity(
  node: CallExpression,
  signature: string,
  [least, most]: readonly [number, number],
  inference: Inference,
): boolean {
  const found = node.args.length;
  if (found >= least && found <= most) return true;
  const n =
    least === most
      ? least
      : most === Number.POSITIVE_INFINITY
        ? `at least ${least}`
        : `${least} to ${most}`;
  inference.findings.add("FLOW5004", node, {
    parts: { function: node.name, n, m: found, signature },
  });
  return false;
}

function unknownFunction(node: CallExpression, inference: Inference): void {
  const hint = aliasOf(node.name, FUNCTION_HINTS);
  const names = allFunctions().map(({ name }) => name);
  const near = hint === undefined ? meantName(node.name, names, FUNCTION_ALIASES) : undefined;
  const at = { start: node.start, end: node.start + node.name.length };
  inference.findings.add("FLOW5003", at, {
    parts: { name: node.name, near },
    hint,
    fix: writing(near, at),
  });
}

/** An argument that is written out and that the function refuses whatever else it is given. */
function checkLiteral(
  node: CallExpression,
  index: number,
  spec: FunctionSpec,
  inference: Inference,
): void {
  const argument = node.args[index] as Expression;
  const value = spec.check === undefined ? undefined : literalOf(argument);
  const param = spec.params[index] ?? ANY;
  if (value === undefined || fits(literalType(value), param) === "no") return;
  const why = spec.check?.(value, index);
  if (why === undefined) return;
  inference.ofValue("FLOW5013", argument, { parts: { function: node.name, why } });
}

/** The value of an expression that is written out; undefined: it is computed. */
function literalOf(node: Expression): Json | undefined {
  if (node.kind === "literal") return node.value;
  if (node.kind === "duration") return node.ms;
  if (node.kind !== "object") return undefined;
  const entries = node.entries.map(({ key, value }) => [key, literalOf(value)] as const);
  return entries.some(([, value]) => value === undefined)
    ? undefined
    : (Object.fromEntries(entries) as Json);
}

/** A range of literal numbers that no budget allows. */
function checkRange(node: CallExpression, inference: Inference): void {
  const [a, b] = node.args.map((argument) => literalNumber(argument));
  if (a === undefined || (node.args.length === 2 && b === undefined)) return;
  const length = b === undefined ? a : b - a;
  if (length > MAX_RANGE) {
    inference.ofValue("FLOW5007", node, {
      parts: { why: `range gives at most ${MAX_RANGE} numbers, not ${length}` },
    });
  }
}

function literalNumber(node: Expression): number | undefined {
  if (node.kind === "literal" && typeof node.value === "number") return node.value;
  return node.kind === "duration" ? node.ms : undefined;
}
