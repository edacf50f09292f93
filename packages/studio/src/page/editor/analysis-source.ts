/** The answers of the worker for the extensions of an editor. */
import type { AnalysisSource } from "@millrace/codemirror";
import type { Completion } from "@millrace/dsl/editor";
import type { SentCompletion } from "../../worker/protocol.ts";
import { askAbout } from "./worker.ts";

/** A source that asks the worker. */
export const workerSource: AnalysisSource = {
  analyse(text) {
    return {
      completions: async (offset) => (await askAbout(text, "completions", offset)).map(received),
      definition: (offset) => askAbout(text, "definition", offset),
      // Nobody has begun to write: there is nothing to find fault with.
      diagnostics: async () => (text.trim() === "" ? [] : askAbout(text, "diagnostics")),
      fixesAt: (from, to) => askAbout(text, "fixesAt", from, to),
      format: () => askAbout(text, "format"),
      hover: (offset) => askAbout(text, "hover", offset),
      renamable: (offset) => askAbout(text, "renamable", offset),
      rename: (offset, to) => askAbout(text, "rename", offset, to),
      signature: (offset) => askAbout(text, "signature", offset),
    };
  },
};

/** A completion as editors take it. */
function received({ documentation, ...rest }: SentCompletion): Completion {
  return documentation === undefined ? rest : { ...rest, documentation: () => documentation };
}
