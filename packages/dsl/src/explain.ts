/**
 * What each diagnostic means, with an example of wrong and right: the texts of `millrace explain` and of the reference page.
 * They are an entry of their own, so that a program that only reads flows does not carry them.
 */

import { GRAPH_EXPLANATIONS } from "./diagnostics/explanations/graph.ts";
import { LINTS_EXPLANATIONS } from "./diagnostics/explanations/lints.ts";
import { NODES_EXPLANATIONS } from "./diagnostics/explanations/nodes.ts";
import { TEXT_EXPLANATIONS } from "./diagnostics/explanations/text.ts";
import type { DiagnosticCode } from "./diagnostics/table.ts";

export { DIAGNOSTICS, type DiagnosticCode, type DiagnosticRule } from "./diagnostics/table.ts";

/** What a diagnostic's message does not say. */
export interface Explanation {
  /** A sentence: what it means, and why it is said. */
  readonly why: string;
  /** Text of a flow, without its first line, that has the problem. */
  readonly wrong: string;
  /** The same without the problem. */
  readonly right: string;
  /** `whole`: the two are whole texts; `prose`: they say in words what a short text cannot show. */
  readonly form?: "whole" | "prose";
}

/** Code to explanation, in order of codes. */
export const EXPLANATIONS: { readonly [code in DiagnosticCode]: Explanation } = {
  ...TEXT_EXPLANATIONS,
  ...NODES_EXPLANATIONS,
  ...GRAPH_EXPLANATIONS,
  ...LINTS_EXPLANATIONS,
};
