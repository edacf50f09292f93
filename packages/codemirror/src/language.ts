import {
  delimitedIndent,
  foldInside,
  foldNodeProp,
  indentNodeProp,
  LanguageSupport,
  LRLanguage,
} from "@codemirror/language";
import type { EditorState, Extension, Transaction } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import type { SyntaxNode } from "@lezer/common";
import { parser } from "./parser.ts";

const indentInside = (closing: string) => delimitedIndent({ closing, align: false });

/** The language of `.flow` files. Its trees serve colours, brackets and folds; whether a text is valid says `parseFlow`. */
export const flowLanguage: LRLanguage = LRLanguage.define({
  name: "flow",
  parser: parser.configure({
    props: [
      indentNodeProp.add({
        "Body Object ObjectType Hole": indentInside("}"),
        List: indentInside("]"),
        "Arguments Group": indentInside(")"),
        Index: indentInside("]"),
        BlockString: () => null, // a line of text stands as it is written
      }),
      foldNodeProp.add({
        "Body Object ObjectType List Arguments Group": foldInside,
        BlockString: foldLines,
      }),
    ],
  }),
  languageData: {
    commentTokens: { line: "#" },
    closeBrackets: { brackets: ["(", "[", "{", '"'] },
    indentOnInput: /^\s*[\])}]$/,
    wordChars: "-",
  },
});

/** The lines of a block string, from behind its opening quotes to before the closing ones. */
function foldLines({ from, to }: SyntaxNode, state: EditorState): { from: number; to: number } {
  const line = state.doc.lineAt(from);
  return { from: line.to, to };
}

/** The flow language for an editor: colours, brackets, folding, indentation and the toggling of comments. */
export function flow(): LanguageSupport {
  return new LanguageSupport(flowLanguage, replaceLines);
}

/**
 * Replaces several lines in place of the browser, which writes style attributes while it does: a strict policy of the page refuses
 * those and reports them.
 */
const replaceLines: Extension = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { state, composing } = view;
    const { from, to } = state.selection.main;
    const isOurs = event.inputType === "insertText" && event.data !== null && !composing;
    if (!isOurs || state.readOnly || to <= state.doc.lineAt(from).to) return false;
    const text = event.data ?? "";
    const insert = (): Transaction =>
      state.update(state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
    const handlers = state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
    return true;
  },
});
