/** Types of calls. */

import { aliasOf, FUNCTION_ALIASES, FUNCTION_HINTS, meantName } from "../diagnostics/aliases.ts";
import { writing } from "../diagnostics/bag.ts";
import { MAX_RANGE } from "../expression/functions/collections.ts";
import type { FunctionSpec } from "../expression/functions/define.ts";
import type { MacroSpec } from "../expression/functions/macros.ts";
import { itemsOf } from "../expression/functions/numbers.ts";
import { allFunctions, arityOf, findFunction, findMacro } from "../expression/functions/table.ts";
import type { CallExpression, Expression } from "../syntax/ast.ts";
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
  if (!checkArity(node, spec.signature, arityOf(spec), inference)) return resultOf(spec, []);
  const solid = args.map((type, i) => {
    const param = spec.params[i] ?? (spec.params.at(-1) as FlowType);
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
  else if (macro.name === "sortBy" && !has(result, "null", "int", "number", "string", "bool")) {
    inference.mismatch(body, "sortBy", "number, string or bool keys", [result]);
  }
  const kept = macro.name === "filter" ? keptItems(items, variable, body, inner) : items;
  return macro.returns(listOf(kept), result);
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
