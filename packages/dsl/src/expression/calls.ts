/** Closures of calls: functions with checked arguments, and macros. */
import type { Json } from "@millrace/contracts";
import type { CallExpression, Expression, Span } from "../syntax/ast.ts";
import type { FlowType } from "../types/flow-type.ts";
import { type Evaluation, fail, overSteps } from "./budget.ts";
import { Kind, kindName, kindOf, kindsText } from "./data.ts";
import type { FunctionSpec } from "./functions/define.ts";
import type { MacroSite, MacroSpec } from "./functions/macros.ts";
import { arityOf, findFunction, findMacro } from "./functions/table.ts";
import { type Closure, syntaxError, type Unit, type Variables } from "./unit.ts";

type Compile = (node: Expression, variables: Variables | null) => Closure;

/** Bit of an argument that must be a whole number. */
const WHOLE = 64;

/** The closure of a call. Throws `ExpressionError` code `syntax` for an unknown function or a wrong number of arguments. */
export function callClosure(
  node: CallExpression,
  unit: Unit,
  variables: Variables | null,
  compile: Compile,
): Closure {
  const macro = findMacro(node.name);
  if (macro !== undefined) return macroClosure(node, macro, unit, variables, compile);
  const spec = findFunction(node.name);
  if (spec === undefined) syntaxError(node, `unknown function ${node.name}`);
  const [least, most] = arityOf(spec);
  if (node.args.length < least || node.args.length > most) {
    syntaxError(node, `wrong number of arguments: ${spec.signature}`);
  }
  if (spec.readsClock === true) unit.readsClock = true;
  if (spec.name === "entries") unit.nests = true;
  const args = node.args.map((argument) => compile(argument, variables));
  return functionClosure(node, spec, args);
}

function functionClosure(
  node: CallExpression,
  spec: FunctionSpec,
  args: readonly Closure[],
): Closure {
  const kinds = spec.params.map(kindsOf);
  const checks = node.args.map((place, i) =>
    check(place, spec, kinds[i] ?? (kinds.at(-1) as number)),
  );
  const [a, b] = args;
  const [checkA, checkB] = checks;
  if (spec.rest === true || args.length > 2 || a === undefined || checkA === undefined) {
    return (ev) => {
      if (--ev.steps < 0) overSteps(ev, node);
      const values = args.map((arg, i) => (checks[i] as Check)(arg(ev)));
      return spec.rest === true ? spec.call(ev, node, values) : spec.call(ev, node, ...values);
    };
  }
  if (b === undefined || checkB === undefined) {
    return (ev) => {
      if (--ev.steps < 0) overSteps(ev, node);
      return spec.call(ev, node, checkA(a(ev)));
    };
  }
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    const first = checkA(a(ev));
    return spec.call(ev, node, first, checkB(b(ev)));
  };
}

type Check = (value: Json) => Json;

function check(place: Span, spec: FunctionSpec, kinds: number): Check {
  return (value) => {
    if ((kindOf(value) & kinds) === 0) {
      const takes = (kinds & WHOLE) !== 0 ? "whole number" : kindsText(kinds);
      fail(place, "type_mismatch", `${spec.name} takes ${takes} here, found ${kindName(value)}`);
    }
    if ((kinds & WHOLE) !== 0 && !Number.isInteger(value)) {
      fail(place, "type_mismatch", `${spec.name} takes a whole number here, found a fraction`);
    }
    return value;
  };
}

function kindsOf(type: FlowType): number {
  if (type.kind === "union")
    return type.types.reduce((kinds, member) => kinds | kindsOf(member), 0);
  return type.kind === "int" ? Kind.number | WHOLE : Kind[type.kind];
}

function macroClosure(
  node: CallExpression,
  macro: MacroSpec,
  unit: Unit,
  variables: Variables | null,
  compile: Compile,
): Closure {
  const [list, variable, body] = node.args;
  if (node.args.length !== 3 || list === undefined || body === undefined) {
    syntaxError(node, `wrong number of arguments: ${macro.signature}`);
  }
  if (variable?.kind !== "name") {
    syntaxError(variable ?? node, `the second argument of ${macro.name} must be a new name`);
  }
  if (macro.multiplies) {
    unit.nests = true;
    unit.multiplies = true;
  }
  const site: MacroSite = { name: node.name, start: node.start, end: node.end, body };
  const elements = compile(list, variables);
  const slot = unit.newSlot();
  const each = compile(body, { name: variable.name, slot, outer: variables });
  const ev = (at: Evaluation, element: Json): Json => {
    at.slots[slot] = element;
    return each(at);
  };
  return (at) => {
    if (--at.steps < 0) overSteps(at, node);
    const values = elements(at);
    if (!Array.isArray(values)) {
      fail(list, "type_mismatch", `${macro.name} takes a list, found ${kindName(values)}`);
    }
    return macro.ev(at, site, values, ev);
  };
}
