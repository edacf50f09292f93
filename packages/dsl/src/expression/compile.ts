/**
 * From expression trees to closures: pure, total, without `eval`. Names are resolved to slots once; a root is asked for at
 * most once per evaluation, and not at all when its value is given by slot.
 */
import type { Json } from "@millrace/contracts";
import { setMember } from "../data.ts";
import {
  type BinaryExpression,
  type ConditionalExpression,
  type Expression,
  type ListExpression,
  MAX_EXPRESSION_HEIGHT,
  type ObjectExpression,
  type Span,
} from "../syntax/ast.ts";
import { treeOf } from "../syntax/trees.ts";
import {
  type ExpressionLimits,
  produceElements,
  produceText,
  resolveLimits,
  type Scope,
  type Slots,
} from "./budget.ts";
import { callPart } from "./calls.ts";
import { chainPart } from "./chain.ts";
import { checkData, checkResult, toText } from "./data.ts";
import { evaluation } from "./evaluations.ts";
import { binaryPart, logicalPart, notBool, unaryPart } from "./operators.ts";
import { distinctReferences, findReferences, type Reference } from "./references.ts";
import {
  type Closure,
  constantPart,
  Part,
  pay,
  stepsOf,
  syntaxError,
  Unit,
  type Variables,
} from "./unit.ts";

/** Options of `compileExpression` and `compileValue`. */
export interface CompileOptions {
  /** Lower or (up to tenfold) higher limits of one evaluation. */
  readonly limits?: Partial<ExpressionLimits>;
  /** Names that the scope has but that are no references: the locals of a body, the extra roots of a deferred field. */
  readonly locals?: readonly string[];
  /** Names whose values `evaluate` takes by place, in this order; all others are unknown then. Default: all are asked for by name. */
  readonly roots?: readonly string[];
}

/** Options with `roots`: `evaluate` takes their values as a list. */
export type SlotOptions = CompileOptions & Required<Pick<CompileOptions, "roots">>;

/** An expression, ready to be evaluated any number of times: over names, or over the values of its `roots`. */
export interface CompiledExpression<Names = Scope> {
  /** Its references, each once, in source order. */
  readonly references: readonly Reference[];
  /** It reads no name and no clock. */
  readonly constant: boolean;
  /** Throws `ExpressionError`. `nowEpoch` is what `now()` gives, in epoch milliseconds. */
  evaluate(names: Names, context: { readonly nowEpoch: number }): Json;
}

/** Compiles an expression. Throws `ExpressionError` code `syntax` for a source with errors; nothing else. */
export function compileExpression(
  source: string | Expression,
  options: SlotOptions,
): CompiledExpression<Slots>;
export function compileExpression(
  source: string | Expression,
  options?: CompileOptions,
): CompiledExpression;
export function compileExpression(
  source: string | Expression,
  options: CompileOptions = {},
): CompiledExpression<Scope | Slots> {
  const ast = typeof source === "string" ? parse(source) : source;
  const { locals = [], roots } = options;
  const unit = new Unit(locals, roots);
  const part = compileInto(unit, ast);
  const { nests, multiplies } = unit;
  const limits = resolveLimits(options.limits);
  return {
    references: distinctReferences(findReferences(ast, locals)),
    constant: !unit.reads,
    evaluate: evaluation({
      ...{ unit, limits, part, place: ast },
      check(ev, value) {
        if (nests) checkResult(ev, ast, value, multiplies);
        else checkData(ast, value);
      },
    }),
  };
}

/** The tree of a source. Throws `ExpressionError` code `syntax` at its first error. */
export function parse(source: string): Expression {
  const tree = treeOf(source);
  if ("kind" in tree) return tree;
  const [error] = tree;
  const start = error?.range?.start.offset ?? 0;
  const end = error?.range?.end.offset ?? source.length;
  return syntaxError({ start, end }, error?.message ?? "expected an expression");
}

/** The part of a tree, with the slots and findings of a unit. */
export function compileInto(unit: Unit, ast: Expression): Part {
  return compile(ast, unit, null, 1);
}

function compile(node: Expression, unit: Unit, variables: Variables | null, height: number): Part {
  if (height > MAX_EXPRESSION_HEIGHT) {
    syntaxError(node, `nested deeper than ${MAX_EXPRESSION_HEIGHT} operators`);
  }
  const part = (child: Expression, inner: Variables | null = variables): Part =>
    compile(child, unit, inner, height + 1);
  switch (node.kind) {
    case "literal":
      return constantPart(node.value);
    case "duration":
      return constantPart(node.ms);
    case "name":
    case "member":
    case "index":
      return chainPart(node, unit, variables, part);
    case "template":
      return templatePart(
        node,
        node.parts.map((text) => (typeof text === "string" ? text : part(text))),
      );
    case "list":
      return listPart(
        node,
        unit,
        node.elements.map((element) => part(element)),
      );
    case "object":
      return objectPart(
        node,
        unit,
        node.entries.map(({ value }) => part(value)),
      );
    case "call":
      return callPart(node, unit, variables, part);
    case "unary":
      return unaryPart(node, part(node.operand));
    case "binary":
      if (node.op === "&&" || node.op === "||") return logical(node, unit, variables, height);
      return binaryPart(node, part(node.left), part(node.right));
    case "conditional":
      return conditionalPart(node, part(node.test), part(node.then), part(node.otherwise));
  }
}

/** `a && b && …` is one part: its operands are one behind the other, however its operators nest. */
function logical(
  node: BinaryExpression,
  unit: Unit,
  variables: Variables | null,
  height: number,
): Part {
  const sites = [node];
  let { left } = node;
  // What stands too high is not looked into: `compile` refuses it.
  while (
    left.kind === "binary" &&
    left.op === node.op &&
    height + sites.length <= MAX_EXPRESSION_HEIGHT
  ) {
    sites.push(left);
    left = left.left;
  }
  sites.reverse();
  const lowest = height + sites.length;
  const parts = [compile(left, unit, variables, lowest)];
  for (const { right } of sites) {
    parts.push(compile(right, unit, variables, lowest + 1 - parts.length));
  }
  return logicalPart(sites, parts);
}

function conditionalPart(
  node: ConditionalExpression,
  test: Part,
  then: Part,
  otherwise: Part,
): Part {
  return new Part((ev) => {
    const value = test.closure(ev);
    if (typeof value !== "boolean") notBool(node.test, "the condition before `?`", value);
    if (value) {
      pay(ev, then, node.then);
      return then.closure(ev);
    }
    pay(ev, otherwise, node.otherwise);
    return otherwise.closure(ev);
  }, test.steps + 1);
}

/** The part of text with holes; values become text as `string()` makes it. */
export function templatePart(place: Span, parts: readonly (string | Part)[]): Part {
  const closure: Closure = (ev) => {
    let text = "";
    for (const part of parts) {
      const next = typeof part === "string" ? part : toText(ev, place, part.closure(ev));
      produceText(ev, place, next.length);
      text += next;
    }
    return text;
  };
  return new Part(closure, stepsOf(parts.filter((part) => typeof part !== "string")) + 1);
}

function listPart(node: ListExpression, unit: Unit, elements: readonly Part[]): Part {
  unit.nests = true;
  if (elements.every(({ constant }) => constant !== undefined)) {
    return constantPart(Object.freeze(elements.map(({ constant }) => constant as Json)));
  }
  const closure: Closure = (ev) => {
    produceElements(ev, node, elements.length);
    const list: Json[] = [];
    for (const element of elements) list.push(element.closure(ev));
    return list;
  };
  return new Part(closure, stepsOf(elements) + 1);
}

function objectPart(node: ObjectExpression, unit: Unit, values: readonly Part[]): Part {
  unit.nests = true;
  const keys = node.entries.map(({ key }) => key);
  const build = (value: (part: Part) => Json): Json => {
    const object: Record<string, Json> = {};
    for (let i = 0; i < keys.length; i += 1) {
      setMember(object, keys[i] as string, value(values[i] as Part));
    }
    return object;
  };
  if (values.every(({ constant }) => constant !== undefined)) {
    return constantPart(Object.freeze(build(({ constant }) => constant as Json)));
  }
  const closure: Closure = (ev) => {
    produceElements(ev, node, keys.length);
    return build((value) => value.closure(ev));
  };
  return new Part(closure, stepsOf(values) + 1);
}
