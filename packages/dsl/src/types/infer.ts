/**
 * Static types of expressions, with what is sure or likely to go wrong.
 *   I1  an error means that no evaluation that reaches the place gets anything of use; what only may fail is a warning or
 *       silent.
 *   I2  `any` silences: where nothing is known nothing is reported.
 *   I3  one pass: each part of a tree is visited once, an erroneous part is `any` from then on.
 */
import type { Diagnostic } from "@millrace/contracts";
import { append } from "../append.ts";
import type {
  BinaryExpression,
  ConditionalExpression,
  Expression,
  TemplateExpression,
} from "../expression/ast.ts";
import { printExpression } from "../expression/print.ts";
import { MAX_EXPRESSION_HEIGHT } from "../expression/unit.ts";
import { callType } from "./call-types.ts";
import { chainType } from "./chain-types.ts";
import { type Finding, Findings, quoted, toDiagnostic } from "./findings.ts";
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
  NULL,
  NUMBER,
  objectOf,
  STRING,
  unionOfAll,
  withoutNull,
} from "./flow-type.ts";
import { binaryType, negatedType, notType, SUMMANDS } from "./operator-types.ts";
import { orElse } from "./or-else.ts";
import { factsOf, type TypeEnv, TypeScope } from "./scope.ts";

/**
 * The type of an expression and its diagnostics (FLOW5001 to 5011). Ranges are relative to the expression's source: line 1,
 * `column = offset + 1`; add the offset of the source in its text to `offset` and count lines anew.
 */
export function inferType(
  ast: Expression,
  env: TypeEnv,
): { type: FlowType; diagnostics: Diagnostic[] } {
  const { type, findings } = findTypes(ast, env);
  return { type, diagnostics: findings.map(toDiagnostic) };
}

/** The type of an expression and what is wrong with it. */
export function findTypes(
  ast: Expression,
  env: TypeEnv,
): { type: FlowType; findings: readonly Finding[] } {
  const inference = new Inference();
  const type = inference.of(ast, new TypeScope(env));
  inference.reportTexts();
  return { type, findings: inference.findings.list() };
}

/** What the parts of the inference share. */
export class Inference {
  readonly findings: Findings = new Findings();
  #height = 0;
  readonly #texts = new Map<
    Expression,
    { readonly parts: (string | Expression)[]; readonly found: readonly FlowType[] }
  >();

  /** The type of a part. */
  of(node: Expression, scope: TypeScope): FlowType {
    if (this.#height >= MAX_EXPRESSION_HEIGHT) return ANY;
    this.#height += 1;
    const type = this.#of(node, scope);
    this.#height -= 1;
    return type;
  }

  /** The type of a part that is never evaluated: a mistake with values in it refuses nothing. */
  unreached(node: Expression, scope: TypeScope): FlowType {
    return this.findings.unreached(() => this.of(node, scope));
  }

  #of(node: Expression, scope: TypeScope): FlowType {
    switch (node.kind) {
      case "literal":
        return literalType(node.value);
      case "duration":
        return INT;
      case "name":
      case "member":
      case "index":
        return chainType(node, scope, this);
      case "template":
        return this.#template(node, scope);
      case "list":
        return listOf(unionOfAll(node.elements.map((element) => this.of(element, scope))));
      case "object":
        return objectOf(node.entries.map(({ key, value }) => [key, this.of(value, scope)]));
      case "call":
        return callType(node, scope, this);
      case "unary": {
        const operand = this.of(node.operand, scope);
        return node.op === "!" ? notType(node, operand, this) : negatedType(node, operand, this);
      }
      case "binary":
        return binaryType(node, scope, this);
      case "conditional":
        return this.#conditional(node, scope);
    }
  }

  /** Reports a part that must not be null but may be, and gives its type without null. */
  solid(node: Expression, type: FlowType): FlowType {
    if (!mayBeNull(type)) return type;
    const rest = withoutNull(type);
    if (membersOf(rest).length === 0) return rest;
    const text = orElse(node, rest);
    const fix =
      text === undefined ? text : { title: `write ${quoted(text)}`, newText: `(${text})` };
    this.mayBeNull(node, fix);
    return rest;
  }

  mayBeNull(node: Expression, fix?: { title: string; newText: string; at?: Expression }): void {
    this.findings.add("FLOW5006", node, {
      parts: { expression: quoted(printExpression(node)) },
      ...(fix === undefined ? {} : { fix }),
    });
  }

  /** Reports operands of which no value is taken; `instead`: what to write for them. */
  mismatch(
    node: Expression,
    op: string,
    types: string,
    found: readonly FlowType[],
    instead?: string,
  ): FlowType {
    this.findings.add("FLOW5002", node, {
      parts: { op, types, found: found.map(describeType).join(" and ") },
      ...(instead !== undefined && {
        fix: { title: `write ${quoted(instead)}`, newText: instead },
      }),
    });
    return ANY;
  }

  /** Whether a part adds something to text; with what is added to it, it is one text with holes. */
  isText(node: Expression): boolean {
    return this.#texts.has(node);
  }

  /** Notes a `+` of text and something else, and what stands on its left when that is one too. */
  text(node: BinaryExpression, found: readonly FlowType[]): void {
    const before = this.#texts.get(node.left);
    const parts = before?.parts ?? textParts(node.left);
    append(parts, textParts(node.right));
    this.#texts.delete(node.left);
    this.#texts.set(node, { parts, found: before?.found ?? found });
  }

  /** Reports every `+` of text and something else, the longest of a row. */
  reportTexts(): void {
    for (const [node, { parts, found }] of this.#texts) {
      const { start, end } = node;
      const text = printExpression({ kind: "template", parts, start, end });
      this.mismatch(node, "+", SUMMANDS, found, text);
    }
  }

  /** Checks a part that decides something: FLOW5005 when it is never true or false, FLOW5011 when it is always the same. */
  condition(node: Expression, type: FlowType, place: string): void {
    const rest = this.solid(node, type);
    if (rest.kind === "any") return;
    const bools = membersOf(rest).filter(({ kind }) => kind === "bool");
    if (bools.length === 0) {
      this.findings.add("FLOW5005", node, { parts: { place, type: describeType(type) } });
    } else if (rest.kind === "bool" && rest.value !== undefined && rest === type) {
      this.findings.add("FLOW5011", node, { parts: { result: String(rest.value) } });
    }
  }

  #conditional(node: ConditionalExpression, scope: TypeScope): FlowType {
    const test = this.of(node.test, scope);
    this.condition(node.test, test, "the condition before `?`");
    const arms = [node.then, node.otherwise].map((arm, index) => {
      const holds = index === 0;
      const inner = scope.given(factsOf(node.test, holds, scope));
      return isAlways(test, !holds) ? this.unreached(arm, inner) : this.of(arm, inner);
    });
    return unionOfAll(arms);
  }

  #template(node: TemplateExpression, scope: TypeScope): FlowType {
    for (const part of node.parts) if (typeof part !== "string") this.of(part, scope);
    const [only] = node.parts;
    if (node.parts.length === 1 && only !== undefined && typeof only !== "string") {
      const source = printExpression(only);
      this.findings.add("FLOW5008", node, {
        parts: { expression: quoted(source) },
        fix: { title: "read it without quotes", newText: source },
      });
    }
    return STRING;
  }
}

/** An operand of `+` as a part of a text with holes. */
function textParts(node: Expression): (string | Expression)[] {
  if (node.kind === "template") return [...node.parts];
  return [node.kind === "literal" ? String(node.value) : node];
}

function literalType(value: null | boolean | number | string): FlowType {
  if (value === null) return NULL;
  if (typeof value === "boolean") return { ...BOOL, value } as FlowType;
  if (typeof value === "number") return Number.isInteger(value) ? INT : NUMBER;
  return { kind: "string", values: [value] };
}
