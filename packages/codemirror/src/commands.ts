/** Commands of keys that act on the symbol at the cursor. */

import { nextDiagnostic, openLintPanel } from "@codemirror/lint";
import { type Command, EditorView, type KeyBinding, showDialog } from "@codemirror/view";
import { analysisOf, applyEdits, hasChanged, settle } from "./current.ts";
import { closeHelp, showHover, showSignature } from "./help.ts";

/** Brings the text into canonical form, as one step of undo. A text with errors of families 0 and 1 stays. */
export const formatText: Command = (view) => {
  settle(view, async () => {
    const { state } = view;
    const edits = await analysisOf(state).format();
    if (hasChanged(view, state)) return;
    const isChanged = applyEdits(view, edits, "input.format");
    if (!isChanged) announce(view, "nothing to format");
  });
  return true;
};

/** Selects the declaration of the name at the cursor; `open` is given the address of another flow. */
export function goToDefinition(open?: (uri: string) => void): Command {
  return (view) => {
    settle(view, async () => {
      const { state } = view;
      const target = await analysisOf(state).definition(state.selection.main.head);
      if (hasChanged(view, state)) return;
      if (target === undefined) announce(view, "nothing here is declared in this flow");
      else if (target.uri !== undefined) open?.(target.uri);
      else {
        const { start, end } = target.name;
        const selection = { anchor: start, head: end };
        view.dispatch({ selection, scrollIntoView: true, userEvent: "select" });
      }
    });
    return true;
  };
}

/** Asks for another name of what the cursor is on, and gives it everywhere. */
export const renameSymbol: Command = (view) => {
  settle(view, async () => {
    const { state } = view;
    const { head } = state.selection.main;
    const found = await analysisOf(state).renamable(head);
    if (hasChanged(view, state)) return;
    if (found === undefined) announce(view, "nothing here can be renamed");
    else await askName(view, head, found.name, `New name of ${found.name}`);
  });
  return true;
};

/** Asks until a name is taken or the dialog is closed; a refusal is the label of the next question. */
async function askName(
  view: EditorView,
  offset: number,
  name: string,
  label: string,
): Promise<void> {
  const { state } = view;
  const { result } = showDialog(view, {
    label,
    input: { name: "name", type: "text", value: name },
    submitLabel: "Rename",
    focus: true,
    class: "cm-flow-rename",
  });
  const form = await result;
  const to = form && new FormData(form).get("name");
  if (typeof to !== "string") return view.focus();
  const renamed = await analysisOf(state).rename(offset, to);
  if (hasChanged(view, state)) return announce(view, "the text has changed; rename once more");
  if ("refused" in renamed) return askName(view, offset, to, renamed.message);
  applyEdits(view, renamed.edits, "input.rename");
  view.focus();
}

function announce(view: EditorView, message: string): void {
  view.dispatch({ effects: EditorView.announce.of(message) });
}

/** The keys of `flowAnalysis`. */
export function flowKeymap(open?: (uri: string) => void): readonly KeyBinding[] {
  return [
    { key: "F2", run: renameSymbol, preventDefault: true },
    { key: "F8", run: nextDiagnostic },
    { key: "F12", run: goToDefinition(open), preventDefault: true },
    { key: "Mod-Shift-f", run: formatText, preventDefault: true },
    { key: "Mod-Shift-m", run: openLintPanel, preventDefault: true },
    { key: "Mod-Shift-Space", run: showSignature, preventDefault: true },
    { key: "Alt-F1", run: showHover, preventDefault: true },
    { key: "Escape", run: closeHelp },
  ];
}
