/** Where the answers about a text come from: the analysis of `@millrace/dsl/editor`, in this thread or in another. */

import type { Analyser, Analysis } from "@millrace/dsl/editor";

type Later<Member> = Member extends (...args: infer Args) => infer Answer
  ? (...args: Args) => Promise<Answer>
  : never;

type Asked =
  | "completions"
  | "definition"
  | "diagnostics"
  | "fixesAt"
  | "format"
  | "hover"
  | "renamable"
  | "rename"
  | "signature";

/** The functions of an analysis, with promises as results. */
export type LaterAnalysis = { readonly [member in Asked]: Later<Analysis[member]> };

/** Analyses the versions of one document. */
export interface AnalysisSource {
  /**
   * The analysis of a text; it is called once a version, before anything is asked about it. Line ends are LF. Versions count up: an
   * answer about an earlier one is not used any more, so it may also reject.
   */
  analyse(text: string, version: number): LaterAnalysis;
}

/** A source in this thread. A page with long texts asks a worker instead, which calls the same members there. */
export function analysisSource(analyser: Analyser): AnalysisSource {
  let previous: Analysis | undefined;
  return {
    analyse(text) {
      const analysis = (): Analysis => {
        previous = analyser.analyse(text, previous);
        return previous;
      };
      return {
        completions: async (offset) => analysis().completions(offset),
        definition: async (offset) => analysis().definition(offset),
        diagnostics: async () => analysis().diagnostics(),
        fixesAt: async (from, to) => analysis().fixesAt(from, to),
        format: async () => analysis().format(),
        hover: async (offset) => analysis().hover(offset),
        renamable: async (offset) => analysis().renamable(offset),
        rename: async (offset, to) => analysis().rename(offset, to),
        signature: async (offset) => analysis().signature(offset),
      };
    },
  };
}
