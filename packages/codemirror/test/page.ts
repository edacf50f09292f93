/** The page of the browser tests: an editor in an open shadow root, as a page with a strict policy has it. */
import { completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { analysisSource, flow, flowAnalysis } from "@millrace/codemirror";
import { createAnalyser } from "@millrace/dsl/editor";
import { catalog } from "../../dsl/test/fixtures/catalog.ts";

const project = { ...catalog, flowUri: (slug: string) => `file:///${slug}.flow` };

/** Files that were opened by going to a definition. */
export const opened: string[] = [];

const host = document.querySelector("main") as HTMLElement;
const root = host.attachShadow({ mode: "open" });
const view = new EditorView({
  parent: root as unknown as Element,
  root,
  state: EditorState.create({
    extensions: [
      history(),
      keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
      EditorView.contentAttributes.of({ "aria-label": "Flow" }),
      flow(),
      flowAnalysis(analysisSource(createAnalyser(project)), { open: (uri) => opened.push(uri) }),
    ],
  }),
});

/** The text of the editor. */
export function text(): string {
  return view.state.doc.toString();
}

/** Replaces the text, and puts the cursor where `¦` stands. */
export function fill(marked: string): void {
  const anchor = Math.max(0, marked.indexOf("¦"));
  const insert = marked.replace("¦", "");
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert }, selection: { anchor } });
  view.focus();
}

/** What is selected. */
export function selected(): string {
  const { from, to } = view.state.selection.main;
  return view.state.sliceDoc(from, to);
}
