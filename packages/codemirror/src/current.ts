/** The analysis of the text that an editor shows now. */

import { type EditorState, Facet, StateField, type Text } from "@codemirror/state";
import { type EditorView, logException } from "@codemirror/view";
import type { TextEdit } from "@millrace/dsl/editor";
import type { AnalysisSource, LaterAnalysis } from "./source.ts";

const NO_SOURCE: AnalysisSource = {
  analyse() {
    throw new Error("the editor has no extension flowAnalysis(source)");
  },
};

/** The source of an editor. */
export const analysisFacet: Facet<AnalysisSource, AnalysisSource> = Facet.define({
  combine: ([source = NO_SOURCE]) => source,
});

/** A version of the document; its analysis is asked for when it is first needed. */
class Version {
  readonly doc: Text;
  readonly number: number;
  #analysis: LaterAnalysis | undefined;

  constructor(doc: Text, number: number) {
    this.doc = doc;
    this.number = number;
  }

  analysis(source: AnalysisSource): LaterAnalysis {
    this.#analysis ??= source.analyse(this.doc.sliceString(0), this.number);
    return this.#analysis;
  }
}

/** Counts the versions of the document of an editor. */
export const versions: StateField<Version> = StateField.define({
  create: ({ doc }) => new Version(doc, 1),
  update: (version, { docChanged, state }) =>
    docChanged ? new Version(state.doc, version.number + 1) : version,
});

/** The analysis of the text of a state. */
export function analysisOf(state: EditorState): LaterAnalysis {
  return state.field(versions).analysis(state.facet(analysisFacet));
}

/** Editors that were closed: their texts stay as they are, but answers about them are dropped. */
const closed = new WeakSet<EditorView>();

/** Tells that an editor is open, or was closed. */
export function setOpen(view: EditorView, isOpen: boolean): void {
  if (isOpen) closed.delete(view);
  else closed.add(view);
}

/** Whether an answer about an earlier state is of no use any more: the text is another one now, or its editor was closed. */
export function hasChanged(view: EditorView, { doc }: EditorState): boolean {
  return view.state.doc !== doc || closed.has(view);
}

/** Waits for what is done with an answer. An answer that fails is logged, but where it is of no use any more. */
export function settle(view: EditorView, task: () => Promise<void>): void {
  const { state } = view;
  task().catch((error: unknown) => {
    if (!hasChanged(view, state)) logException(view.state, error, "analysis of a flow");
  });
}

/** Makes edits as one step of undo. Nothing happens where there are none, or where the text cannot be changed. */
export function applyEdits(
  view: EditorView,
  edits: readonly TextEdit[],
  userEvent: string,
): boolean {
  if (edits.length === 0 || view.state.readOnly) return false;
  const changes = edits.map(({ from, to, text }) => ({ from, to, insert: text }));
  view.dispatch({ changes, userEvent, scrollIntoView: true });
  return true;
}
