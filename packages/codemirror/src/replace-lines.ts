/** What is typed over several lines. */
import type { Extension, Transaction } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

/**
 * Replaces several lines in place of the browser, which writes style attributes while it does: a strict policy of the page refuses
 * those and reports them.
 */
export const replaceLines: Extension = EditorView.domEventHandlers({
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
