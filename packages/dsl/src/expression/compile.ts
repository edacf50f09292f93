/**
 * From expression trees to closures: pure, total, without `eval`. Names are resolved to slots once; a root is asked for at
 * most once per evaluation.
 */
import type { Json } from "@millrace/contracts";
import { setMember } from "../data.ts";
import {
  type Expression,
  type ListExpression,
  MAX_EXPRESSION_HEIGHT,
  type ObjectExpression,
  type Span,
} from "../syntax/ast.ts";
import { parseExpression } from "../syntax/parse-expression.ts";
import {
  Evaluation,
  type ExpressionLimits,
  overSteps,
  produceElements,
  produceText,
  resolveLimits,
  type Scope,
} from "./budget.ts";
import { callClosure } from "./calls.ts";
import { chainClosure } from "./chain.ts";
import { checkData, checkResult, toText } from "./data.ts";
import { binaryClosure, notBool, unaryClosure } from "./operators.ts";
import { distinctReferences, findReferences, type Reference } from "./references.ts";
import { type Closure, syntaxError, Unit, type Variables } from "./unit.ts";

/** Options of `compileExpression` and `compileValue`. */
export interface CompileOptions {
  /** Lower or (up to tenfold) higher limits of one evaluation. */
  readonly limits?: Partial<ExpressionLimits>;
  /** Names that the scope has but that are no references: the locals of a body, the extra roots of a deferred field. */
  readonly locals?: readonly string[];
}

/** An expression, ready to be evaluated any number of times. */
export interface CompiledExpression {
  /** What it reads, each once, in source order. */
  readonly references: readonly Reference[];
  /** It reads no name and no clock. */
  readonly constant: boolean;
  /** Throws `ExpressionError`. `nowEpoch` is what `now()` gives, in epoch milliseconds. */
  evaluate(scope: Scope, context: { readonly nowEpoch: number }): Json;
}

/** Compiles an expression. Throws `ExpressionError` code `syntax` for a source with errors; nothing else. */
export function compileExpression(
  source: string | Expression,
  options: CompileOptions = {},
): CompiledExpression {
  const ast = typeof source === "string" ? parse(source) : source;
  const { locals = [] } = options;
  const unit = new Unit(locals);
  const closure = compileInto(unit, ast);
  const limits = resolveLimits(options.limits);
  const { constant, nests, multiplies, slots } = unit;
  return {
    references: distinctReferences(findReferences(ast, locals)),
    constant,
    evaluate(scope, { nowEpoch }) {
      const ev = new Evaluation(limits, scope, nowEpoch, slots);
      const value = closure(ev);
      if (nests) checkResult(ev, ast, value, multiplies);
      else checkData(ast, value);
      return value;
    },
  };
}

/** The tree of a source. Throws `ExpressionError` code `syntax` at its first error. */
export function parse(source: string): Expression {
  const { ast, diagnostics } = parseExpression(source);
  const error = diagnostics.find(({ severity }) => severity === "error");
  if (error !== undefined || ast === undefined) {
    const start = error?.range?.start.offset ?? 0;
    const end = error?.range?.end.offset ?? source.length;
    syntaxError({ start, end }, error?.message ?? "expected an expression");
  }
  return ast;
}

/** The closure of a tree, with the slots and findings of a unit. */
export function compileInto(unit: Unit, ast: Expression): Closure {
  return compile(ast, unit, null, 1);
}

/** A closure that gives one frozen value. */
function constantClosure(unit: Unit, place: Span, value: Json): Closure {
  const closure: Closure = (ev) => {
    if (--ev.steps < 0) overSteps(ev, place);
    return value;
  };
  unit.constants.set(closure, value);
  return closure;
}

function compile(
  node: Expression,
  unit: Unit,
  variables: Variables | null,
  height: number,
): Closure {
  if (height > MAX_EXPRESSION_HEIGHT) {
    syntaxError(node, `nested deeper than ${MAX_EXPRESSION_HEIGHT} operators`);
  }
  const part = (child: Expression, inner: Variables | null = variables): Closure =>
    compile(child, unit, inner, height + 1);
  switch (node.kind) {
    case "literal":
      return constantClosure(unit, node, node.value);
    case "duration":
      return constantClosure(unit, node, node.ms);
    case "name":
    case "member":
    case "index":
      return chainClosure(node, unit, variables, part);
    case "template":
      return templateClosure(
        node,
        node.parts.map((text) => (typeof text === "string" ? text : part(text))),
      );
    case "list":
      return listClosure(
        node,
        unit,
        node.elements.map((element) => part(element)),
      );
    case "object":
      return objectClosure(
        node,
        unit,
        node.entries.map(({ value }) => part(value)),
      );
    case "call":
      return callClosure(node, unit, variables, part);
    case "unary":
      return unaryClosure(node, part(node.operand));
    case "binary":
      return binaryClosure(node, part(node.left), part(node.right), unit.constants);
    case "conditional": {
      const test = part(node.test);
      const then = part(node.then);
      const otherwise = part(node.otherwise);
      return (ev) => {
        if (--ev.steps < 0) overSteps(ev, node);
        const value = test(ev);
        if (typeof value !== "boolean") notBool(node.test, "the condition before `?`", value);
        return value ? then(ev) : otherwise(ev);
      };
    }
  }
}

/** The closure of text with holes; values become text as `string()` makes it. */
export function templateClosure(place: Span, parts: readonly (string | Closure)[]): Closure {
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, place);
    let text = "";
    for (const part of parts) {
      const next = typeof part === "string" ? part : toText(ev, place, part(ev));
      produceText(ev, place, next.length);
      text += next;
    }
    return text;
  };
}

function listClosure(node: ListExpression, unit: Unit, elements: readonly Closure[]): Closure {
  unit.nests = true;
  if (elements.every((element) => unit.constants.has(element))) {
    const list = elements.map((element) => unit.constants.get(element) as Json);
    return constantClosure(unit, node, Object.freeze(list));
  }
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    produceElements(ev, node, elements.length);
    const list: Json[] = [];
    for (const element of elements) list.push(element(ev));
    return list;
  };
}

function objectClosure(node: ObjectExpression, unit: Unit, values: readonly Closure[]): Closure {
  unit.nests = true;
  const keys = node.entries.map(({ key }) => key);
  const build = (value: (closure: Closure) => Json): Json => {
    const object: Record<string, Json> = {};
    for (let i = 0; i < keys.length; i += 1) {
      setMember(object, keys[i] as string, value(values[i] as Closure));
    }
    return object;
  };
  if (values.every((value) => unit.constants.has(value))) {
    return constantClosure(
      unit,
      node,
      Object.freeze(build((value) => unit.constants.get(value) as Json)),
    );
  }
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    produceElements(ev, node, keys.length);
    return build((value) => value(ev));
  };
}
