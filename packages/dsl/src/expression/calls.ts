/** Parts of calls: functions with checked arguments, and macros. */
import type { Json } from "@millrace/contracts";
import type { CallExpression, Expression, Span } from "../syntax/ast.ts";
import type { FlowType } from "../types/flow-type.ts";
import { type Evaluation, wrongType } from "./budget.ts";
import { Kind, kindName, kindOf, kindsText } from "./data.ts";
import type { FunctionSpec } from "./functions/define.ts";
import { findMacro, type MacroBody, type MacroSite, type MacroSpec } from "./functions/macros.ts";
import { findFunction } from "./functions/table.ts";
import { type Closure, Part, stepsOf, syntaxError, type Unit, type Variables } from "./unit.ts";

type Compile = (node: Expression, variables: Variables | null) => Part;

/** Bit of an argument that must be a whole number. */
const WHOLE = 64;

/** The part of a call. Throws `ExpressionError` code `syntax` for an unknown function or a wrong number of arguments. */
export function callPart(
  node: CallExpression,
  unit: Unit,
  variables: Variables | null,
  compile: Compile,
): Part {
  const macro = findMacro(node.name);
  if (macro !== undefined) return macroPart(node, macro, unit, variables, compile);
  const spec = findFunction(node.name);
  if (spec === undefined) syntaxError(node, `unknown function ${node.name}`);
  const [least, most] = spec.arity;
  if (node.args.length < least || node.args.length > most) {
    syntaxError(node, `wrong number of arguments: ${spec.signature}`);
  }
  if (spec.readsClock === true) unit.reads = true;
  if (spec.nests === true) unit.nests = true;
  const args = node.args.map((argument) => compile(argument, variables));
  return new Part(functionClosure(node, spec, args), stepsOf(args) + 1);
}

function functionClosure(
  node: CallExpression,
  spec: FunctionSpec,
  parts: readonly Part[],
): Closure {
  const kinds = spec.params.map(kindsOf);
  const args = parts.map((part, i): Argument => {
    const place = node.args[i] as Span;
    const takes = kinds[i] ?? (kinds.at(-1) as number);
    return { spec, place, part, kinds: takes, passes: (takes & WHOLE) === 0 ? takes : 0 };
  });
  const [a, b] = args;
  if (spec.rest || args.length > 2 || a === undefined) {
    return (ev) => {
      const values = args.map((argument) => given(ev, argument));
      return spec.rest ? spec.call(ev, node, values) : spec.call(ev, node, ...values);
    };
  }
  if (spec.name === "size") {
    return sizeClosure(a.part, (ev, value) => spec.call(ev, node, checked(a, value)));
  }
  if (b === undefined) return (ev) => spec.call(ev, node, given(ev, a));
  return (ev) => {
    const first = given(ev, a);
    return spec.call(ev, node, first, given(ev, b));
  };
}

/** `size`, which is mostly asked of lists. */
function sizeClosure(part: Part, other: (ev: Evaluation, value: Json) => Json): Closure {
  return (ev) => {
    const value = part.closure(ev);
    return Array.isArray(value) ? value.length : other(ev, value);
  };
}

/** An argument and what the function takes there. */
interface Argument {
  readonly spec: FunctionSpec;
  readonly place: Span;
  readonly part: Part;
  readonly kinds: number;
  /** Kinds of which nothing more is asked: all, but none for a whole number. */
  readonly passes: number;
}

/** The value of an argument, of a kind that the function takes. */
function given(ev: Evaluation, argument: Argument): Json {
  const { part } = argument;
  return checked(argument, part.closure(ev));
}

function checked(argument: Argument, value: Json): Json {
  if ((kindOf(value) & argument.passes) === 0) checkKinds(argument, value);
  return value;
}

function checkKinds(argument: Argument, value: Json): void {
  const { kinds } = argument;
  if ((kindOf(value) & kinds) === 0) {
    const takes = (kinds & WHOLE) !== 0 ? "whole number" : kindsText(kinds);
    refuse(argument, `${takes} here, found ${kindName(value)}`);
  }
  if ((kinds & WHOLE) !== 0 && !Number.isInteger(value)) {
    refuse(argument, "a whole number here, found a fraction");
  }
}

function refuse({ place, spec }: Argument, what: string): never {
  wrongType(place, `${spec.name} takes ${what}`);
}

function kindsOf(type: FlowType): number {
  if (type.kind === "union")
    return type.types.reduce((kinds, member) => kinds | kindsOf(member), 0);
  return type.kind === "int" ? Kind.number | WHOLE : Kind[type.kind];
}

function macroPart(
  node: CallExpression,
  macro: MacroSpec,
  unit: Unit,
  variables: Variables | null,
  compile: Compile,
): Part {
  const [list, variable, body] = node.args;
  if (node.args.length !== 3 || list === undefined || body === undefined) {
    syntaxError(node, `wrong number of arguments: ${macro.signature}`);
  }
  if (variable?.kind !== "name") {
    syntaxError(variable ?? node, `the second argument of ${macro.name} must be a new name`);
  }
  if (macro.nests) unit.nests = true;
  if (macro.multiplies) unit.multiplies = true;
  const site: MacroSite = { name: node.name, start: node.start, end: node.end, body };
  const elements = compile(list, variables);
  const slot = unit.newSlot();
  const each: MacroBody = {
    slot,
    part: compile(body, { name: variable.name, slot, outer: variables }),
  };
  const closure: Closure = (ev) => {
    const values = elements.closure(ev);
    if (!Array.isArray(values)) {
      wrongType(list, `${macro.name} takes a list, found ${kindName(values)}`);
    }
    return macro.ev(ev, site, values, each);
  };
  return new Part(closure, elements.steps + 1);
}
