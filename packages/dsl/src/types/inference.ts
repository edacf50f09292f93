/** The state of one type inference, and the checks that the rules for operators, calls and chains have in common. */

import { append } from "../data.ts";
import type { Details, TextFix } from "../diagnostics/bag.ts";
import { DiagnosticBag, writing } from "../diagnostics/bag.ts";
import { quoted } from "../diagnostics/quote.ts";
import type { DiagnosticCode } from "../diagnostics/table.ts";
import type { BinaryExpression, Expression, Span } from "../syntax/ast.ts";
import { printExpression } from "../syntax/print-expression.ts";
import {
  ANY,
  describeType,
  type FlowType,
  mayBeNull,
  membersOf,
  withoutNull,
} from "./flow-type.ts";
import { type TypeEnv, TypeScope } from "./scope.ts";

/** The operands that `+` accepts, for messages. */
export const SUMMANDS = "two numbers, two strings or two lists";

/** One inference over one expression. */
export abstract class Inference {
  readonly findings: DiagnosticBag = new DiagnosticBag();
  /** Names and their types at the current place. */
  scope: TypeScope;
  #unreached = 0;
  #texts:
    | Map<
        Expression,
        { readonly parts: (string | Expression)[]; readonly found: readonly FlowType[] }
      >
    | undefined;

  constructor(env: TypeEnv) {
    this.scope = new TypeScope(env);
  }

  /** The type of a part of the expression. */
  abstract of(node: Expression): FlowType;

  /** The type of a part that is seen with another scope; wrong values in one that is never evaluated are no errors. */
  inner(node: Expression, scope: TypeScope, isUnreached: boolean): FlowType {
    const outer = this.scope;
    this.scope = scope;
    if (isUnreached) this.#unreached += 1;
    const type = this.of(node);
    if (isUnreached) this.#unreached -= 1;
    this.scope = outer;
    return type;
  }

  /** Notes a finding about what happens to a value; of a part that is never evaluated there is nothing to say. */
  ofValue(code: DiagnosticCode, node: Span, details: Details): void {
    if (this.#unreached === 0) this.findings.add(code, node, details);
  }

  /** Reports a part that may be null where null is not allowed; returns its type without null. */
  solid(node: Expression, type: FlowType): FlowType {
    if (!mayBeNull(type)) return type;
    const rest = withoutNull(type);
    if (membersOf(rest).length === 0) return rest;
    const text = orElse(node, rest);
    this.mayBeNull(node, text === undefined ? undefined : writing(quoted(text), node, `(${text})`));
    return rest;
  }

  mayBeNull(node: Expression, fix?: TextFix): void {
    this.ofValue("FLOW5006", node, {
      parts: { expression: quoted(printExpression(node)) },
      fix,
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
    this.ofValue("FLOW5002", node, {
      parts: { op, types, found: found.map(describeType).join(" and ") },
      fix: writing(instead && quoted(instead), node, instead),
    });
    return ANY;
  }

  /** Whether a part is a `+` of text and another type, so that a further `+` belongs to the same template. */
  isText(node: Expression): boolean {
    return this.#texts?.has(node) === true;
  }

  /** Records a `+` of text and another type; a recorded one on its left becomes part of it. */
  text(node: BinaryExpression, found: readonly FlowType[]): void {
    this.#texts ??= new Map();
    const before = this.#texts.get(node.left);
    const parts = before?.parts ?? textParts(node.left);
    append(parts, textParts(node.right));
    this.#texts.delete(node.left);
    this.#texts.set(node, { parts, found: before?.found ?? found });
  }

  /** Reports every `+` of text and another type, once for each chain of them. */
  reportTexts(): void {
    for (const [node, { parts, found }] of this.#texts ?? []) {
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
      this.ofValue("FLOW5005", node, { parts: { place, type: describeType(type) } });
    } else if (rest.kind === "bool" && rest.value !== undefined && rest === type) {
      this.ofValue("FLOW5011", node, { parts: { result: String(rest.value) } });
    }
  }
}

/** An operand of `+` as parts of a template. */
function textParts(node: Expression): (string | Expression)[] {
  if (node.kind === "template") return [...node.parts];
  return [node.kind === "literal" ? String(node.value) : node];
}

/** The usual replacement of an absent value, by kind. */
const EMPTY: { readonly [kind: string]: string } = {
  bool: "false",
  int: "0",
  list: "[]",
  number: "0",
  string: '""',
};

/** `x ?? 0` for a value that is read, of a type that has such an end. */
export function orElse(node: Expression, { kind }: FlowType): string | undefined {
  const empty = EMPTY[kind];
  if (empty === undefined || !READS.has(node.kind)) return undefined;
  return `${printExpression(node)} ?? ${empty}`;
}

/** Expressions that read a value as it is written, `a.b`. */
export const READS: ReadonlySet<string> = new Set(["name", "member", "index", "call"]);
