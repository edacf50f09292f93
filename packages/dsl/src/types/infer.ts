/**
 * Static types of expressions, with what is sure or likely to go wrong.
 *   I1  an error means that no evaluation that reaches the place gets anything of use; what only may fail is a warning or
 *       silent.
 *   I2  `any` silences: where nothing is known nothing is reported.
 *   I3  one pass: each part of a tree is visited once, an erroneous part is `any` from then on.
 */

import type { Diagnostic, Range } from "@millrace/contracts";
import type { Finding } from "../diagnostics/bag.ts";
import { byPlace, replacement, toDiagnostic } from "../diagnostics/bag.ts";
import { quoted } from "../diagnostics/quote.ts";
import { DIAGNOSTICS } from "../diagnostics/table.ts";
import {
  type ConditionalExpression,
  type Expression,
  MAX_EXPRESSION_HEIGHT,
  type TemplateExpression,
} from "../syntax/ast.ts";
import { printExpression } from "../syntax/print-expression.ts";
import { callType } from "./call-types.ts";
import { chainType } from "./chain-types.ts";
import {
  ANY,
  type FlowType,
  INT,
  isAlways,
  listOf,
  objectOf,
  STRING,
  unionOfAll,
} from "./flow-type.ts";
import { literalType } from "./from-schema.ts";
import { Inference } from "./inference.ts";
import { binaryType, negatedType, notType } from "./operator-types.ts";
import { factsOf, type TypeEnv } from "./scope.ts";

/**
 * The type of an expression and its diagnostics (FLOW5001 to 5013). Ranges are relative to the expression's source: line 1,
 * `column = offset + 1`; add the offset of the source in its text to `offset` and count lines anew.
 */
export function inferType(
  ast: Expression,
  env: TypeEnv,
): { type: FlowType; diagnostics: Diagnostic[] } {
  const { type, findings } = findTypes(ast, env);
  return {
    type,
    diagnostics: findings.map((found) => toDiagnostic(found, DIAGNOSTICS, onOneLine)),
  };
}

/** A range in a source of one line. */
function onOneLine(start: number, end: number): Range {
  const position = (offset: number) => ({ line: 1, column: offset + 1, offset });
  return { start: position(start), end: position(end) };
}

/** The type of an expression and what is wrong with it, by offset, then code. */
export function findTypes(
  ast: Expression,
  env: TypeEnv,
): { type: FlowType; findings: readonly Finding[] } {
  const inference = new ExpressionInference(env);
  const type = inference.of(ast);
  inference.reportTexts();
  return { type, findings: inference.findings.found.sort(byPlace) };
}

/** Chooses the rule for each kind of expression, and bounds the recursion. */
class ExpressionInference extends Inference {
  #height = 0;

  override of(node: Expression): FlowType {
    if (this.#height >= MAX_EXPRESSION_HEIGHT) return ANY;
    this.#height += 1;
    const type = this.#of(node);
    this.#height -= 1;
    return type;
  }

  #of(node: Expression): FlowType {
    switch (node.kind) {
      case "literal":
        return literalType(node.value);
      case "duration":
        return INT;
      case "name":
      case "member":
      case "index":
        return chainType(node, this);
      case "template":
        return this.#template(node);
      case "list":
        return listOf(unionOfAll(node.elements.map((element) => this.of(element))));
      case "object":
        return objectOf(node.entries.map(({ key, value }) => [key, this.of(value)]));
      case "call":
        return callType(node, this);
      case "unary": {
        const operand = this.of(node.operand);
        return node.op === "!" ? notType(node, operand, this) : negatedType(node, operand, this);
      }
      case "binary":
        return binaryType(node, this);
      case "conditional":
        return this.#conditional(node);
    }
  }

  #conditional(node: ConditionalExpression): FlowType {
    const { scope } = this;
    const test = this.of(node.test);
    this.condition(node.test, test, "the condition before `?`");
    const arms = [node.then, node.otherwise].map((arm, index) => {
      const holds = index === 0;
      const inner = scope.given(factsOf(node.test, holds, scope));
      return this.inner(arm, inner, isAlways(test, !holds));
    });
    return unionOfAll(arms);
  }

  #template(node: TemplateExpression): FlowType {
    for (const part of node.parts) if (typeof part !== "string") this.of(part);
    const [only] = node.parts;
    if (node.parts.length === 1 && only !== undefined && typeof only !== "string") {
      const source = printExpression(only);
      this.findings.add("FLOW5008", node, {
        parts: { expression: quoted(source) },
        fix: {
          ...replacement("read it without quotes", node.start, node.end, source),
          uncertain: true,
        },
      });
    }
    return STRING;
  }
}
