/**
 * What each diagnostic means, with an example of wrong and right: the texts of `millrace explain` and of the reference page.
 * They are an entry of their own, so that a program that only reads flows does not carry them.
 */

import { GRAPH_EXPLANATIONS } from "./diagnostics/explanations/graph.ts";
import { TEXT_EXPLANATIONS } from "./diagnostics/explanations/text.ts";
import type { DiagnosticCode } from "./diagnostics/table.ts";

export { DIAGNOSTICS, type DiagnosticCode, type DiagnosticRule } from "./diagnostics/table.ts";

/** Explanation of a diagnostic beyond its message. */
export interface Explanation {
  /** A sentence: the meaning, and the reason of the finding. */
  readonly why: string;
  /** Text of a flow, without its first line, that has the problem. */
  readonly wrong: string;
  /** The same without the problem. */
  readonly right: string;
  /** `whole`: the two are whole texts; `prose`: they say in words what a short text cannot show. */
  readonly form?: "whole" | "prose";
}

type Row = readonly [why: string, wrong: string, right: string, form?: Explanation["form"]];

const ROWS: { readonly [code in DiagnosticCode]: Row } = {
  ...TEXT_EXPLANATIONS,
  ...GRAPH_EXPLANATIONS,
};

type Explanations = { readonly [code in DiagnosticCode]: Explanation };

/** Code to explanation, in order of codes. */
export const EXPLANATIONS: Explanations = /* @__PURE__ */ Object.fromEntries(
  Object.entries(ROWS).map(([code, [why, wrong, right, form]]) => [
    code,
    { why, wrong, right, ...(form && { form }) },
  ]),
) as Explanations;

export {
  type BlockDescription,
  describeLanguage,
  type LanguageDescription,
  type MemberDescription,
} from "./page/describe-language.ts";
export { languagePage } from "./page/language-page.ts";
export { BLOCK_WORDS, type LanguageWord, POLICY_WORDS } from "./page/words.ts";
