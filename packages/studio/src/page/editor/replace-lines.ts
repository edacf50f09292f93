/** What is typed over several lines. */
import { EditorSelection, type Extension, type Transaction } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

/**
 * A browser that replaces several lines by itself writes style attributes, which the policy of the page refuses and reports. The editor
 * replaces them in its place.
 */
export const replaceLines: Extension = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { state, composing } = view;
    const { from, to } = state.selection.main;
    const isOurs = event.inputType === "insertText" && event.data !== null && !composing;
    if (!isOurs || state.readOnly || to <= state.doc.lineAt(from).to) return false;
    const text = event.data ?? "";
    const insert = (): Transaction => {
      const made = state.toText(text);
      return state.update({
        changes: { from, to, insert: made },
        selection: EditorSelection.cursor(from + made.length),
        userEvent: "input.type",
        scrollIntoView: true,
      });
    };
    const handlers = state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
    return true;
  },
});
