/** Completions at the cursor. */

import {
  type Completion,
  type CompletionResult,
  type CompletionSource,
  snippet as snippetOf,
} from "@codemirror/autocomplete";
import type { CompletionKind, Completion as Offered } from "@millrace/dsl/editor";
import { analysisOf } from "./current.ts";

/** Text after which completions open by themselves; they also open while a word is typed. */
const TRIGGER = /[\w.@":${>-]$|->\s$|:\s$/;
/** Text that the list stays open for. */
const WORD = /^[\w-]*$/;

/** Icons of the list, as the library names them. */
const ICONS: { readonly [kind in CompletionKind]: string } = {
  keyword: "keyword",
  type: "class",
  node: "variable",
  local: "variable",
  input: "constant",
  property: "property",
  field: "property",
  policy: "keyword",
  value: "enum",
  function: "function",
  port: "enum",
  flow: "namespace",
  connection: "interface",
};

/** Offers what the analysis offers, in its order. */
export const completionSource: CompletionSource = async ({ state, pos, explicit, aborted }) => {
  const { text, from } = state.doc.lineAt(pos);
  if (!explicit && !TRIGGER.test(text.slice(0, pos - from))) return null;
  const offered = await analysisOf(state).completions(pos);
  const [first] = offered;
  if (first === undefined || aborted) return null;
  const result: CompletionResult = {
    from: first.from,
    to: first.to,
    options: offered.map(toOption),
    validFor: WORD,
  };
  return result;
};

function toOption(offered: Offered): Completion {
  const { label, kind, insert, snippet, detail, documentation, deprecated, rank } = offered;
  return {
    label,
    // Where the cursor ends is a place without a text.
    apply: snippet === undefined ? insert : snippetOf(snippet.replace("$0", "${}")),
    type: deprecated ? `${ICONS[kind]} deprecated` : ICONS[kind],
    boost: -rank,
    ...(detail !== undefined && { detail }),
    ...(documentation && { info: () => documented(documentation) }),
  };
}

function documented(documentation: () => string): Node | null {
  const text = documentation();
  if (text === "") return null;
  const node = document.createElement("p");
  node.textContent = text;
  return node;
}
