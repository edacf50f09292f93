/** The state of one type inference, and the checks that the rules for operators, calls and chains have in common. */
import { append } from "../data.ts";
import type { BinaryExpression, Expression } from "../syntax/ast.ts";
import { printExpression } from "../syntax/print-expression.ts";
import { Findings, quoted } from "./findings.ts";
import {
  ANY,
  describeType,
  type FlowType,
  mayBeNull,
  membersOf,
  withoutNull,
} from "./flow-type.ts";
import { orElse } from "./or-else.ts";
import type { TypeScope } from "./scope.ts";

/** The operands that `+` accepts, for messages. */
export const SUMMANDS = "two numbers, two strings or two lists";

/** One inference over one expression. */
export abstract class Inference {
  readonly findings: Findings = new Findings();
  readonly #texts = new Map<
    Expression,
    { readonly parts: (string | Expression)[]; readonly found: readonly FlowType[] }
  >();

  /** The type of a part of the expression. */
  abstract of(node: Expression, scope: TypeScope): FlowType;

  /** The type of a part that is never evaluated: wrong values in it are not reported as errors. */
  unreached(node: Expression, scope: TypeScope): FlowType {
    return this.findings.unreached(() => this.of(node, scope));
  }

  /** Reports a part that may be null where null is not allowed; returns its type without null. */
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

  /** Reports operands whose types the operator never accepts; `instead`: the text of the fix. */
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

  /** Whether a part is a `+` of text and another type, so that a further `+` belongs to the same template. */
  isText(node: Expression): boolean {
    return this.#texts.has(node);
  }

  /** Records a `+` of text and another type; a recorded one on its left becomes part of it. */
  text(node: BinaryExpression, found: readonly FlowType[]): void {
    const before = this.#texts.get(node.left);
    const parts = before?.parts ?? textParts(node.left);
    append(parts, textParts(node.right));
    this.#texts.delete(node.left);
    this.#texts.set(node, { parts, found: before?.found ?? found });
  }

  /** Reports every `+` of text and another type, once for each chain of them. */
  reportTexts(): void {
    for (const [node, { parts, found }] of this.#texts) {
      const { start, end } = node;
      const text = printExpression({ kind: "template", parts, start, end });
      this.mismatch(node, "+", SUMMANDS, found, text);
    }
  }

  /** Checks a condition: FLOW5005 when it is never true or false, FLOW5011 when its result is constant. */
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
}

/** An operand of `+` as parts of a template. */
function textParts(node: Expression): (string | Expression)[] {
  if (node.kind === "template") return [...node.parts];
  return [node.kind === "literal" ? String(node.value) : node];
}
