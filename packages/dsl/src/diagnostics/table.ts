/**
 * The one table of diagnostic codes: severity, message, hint. `{part}` in a text is filled by the place that reports. A
 * code never changes its meaning, and a retired code is never used again; new ones go to the end of a family. What a code
 * means at length, with examples, is in `explain.ts`.
 * @see the diagnostics page
 */
import type { Severity } from "@millrace/contracts";
import { EXPRESSION_RULES, GRAPH_RULES } from "./rules/graph.ts";
import { SECURITY_RULES, STYLE_RULES } from "./rules/lints.ts";
import { FIELD_RULES, STRUCTURE_RULES } from "./rules/nodes.ts";
import { FILE_RULES, SLIP_RULES, SYNTAX_RULES } from "./rules/text.ts";

/** A row of the table. */
export interface DiagnosticRule {
  readonly severity: Severity;
  /** Where a code has several by case; the first is `severity`. */
  readonly severities?: readonly Severity[];
  /** Lower-case, names what was found, no full stop. */
  readonly message: string;
  readonly hint?: string;
}

/** Every code of the language. */
export type DiagnosticCode =
  | keyof typeof FILE_RULES
  | keyof typeof SYNTAX_RULES
  | keyof typeof SLIP_RULES
  | keyof typeof STRUCTURE_RULES
  | keyof typeof FIELD_RULES
  | keyof typeof GRAPH_RULES
  | keyof typeof EXPRESSION_RULES
  | keyof typeof SECURITY_RULES
  | keyof typeof STYLE_RULES;

/** Code to severity, message and hint, in order of codes. */
export const DIAGNOSTICS: { readonly [code in DiagnosticCode]: DiagnosticRule } = {
  ...FILE_RULES,
  ...SYNTAX_RULES,
  ...SLIP_RULES,
  ...STRUCTURE_RULES,
  ...FIELD_RULES,
  ...GRAPH_RULES,
  ...EXPRESSION_RULES,
  ...SECURITY_RULES,
  ...STYLE_RULES,
};

/** The text with its `{part}`s filled; parts that are not given stay as they are. */
export function fillText(
  text: string,
  parts: { readonly [name: string]: string | number },
): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(parts, name) ? String(parts[name]) : whole,
  );
}
