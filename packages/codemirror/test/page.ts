/** The page of the browser tests: an editor in an open shadow root, as a page with a strict policy has it. */
import { completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { type AnalysisSource, analysisSource, flow, flowAnalysis } from "@millrace/codemirror";
import { createAnalyser, type Project } from "@millrace/dsl/editor";
import { catalog } from "../../dsl/test/fixtures/catalog.ts";

/** Text of a catalog that would be markup. */
const SUMMARY = "Says **it** in \\ `words`";

const project: Project = {
  ...catalog,
  entry(type, version) {
    const entry = catalog.entry(type, version);
    return type === "log" && entry !== undefined ? { ...entry, summary: SUMMARY } : entry;
  },
  types: () => catalog.types(),
  flowUri: (slug) => `file:///${slug}.flow`,
};

const analysed = analysisSource(createAnalyser(project));
const held: ((error: Error) => void)[] = [];
let isHeld = false;

/** The analysis of the page, whose findings do not come while it is held. */
const source: AnalysisSource = {
  analyse(text, version) {
    const answers = analysed.analyse(text, version);
    const diagnostics = () => new Promise<never>((_, reject) => held.push(reject));
    return isHeld ? { ...answers, diagnostics } : answers;
  },
};

/** Holds the findings of the texts that follow, or no more of them. */
export function hold(value: boolean): void {
  isHeld = value;
}

/** How many answers are held. */
export function heldCount(): number {
  return held.length;
}

/** Answers what is held by an error, as a worker does that has been given a newer text. */
export function refuse(): void {
  for (const reject of held.splice(0)) reject(new Error("there is a newer text"));
}

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
      flowAnalysis(source, { open: (uri) => opened.push(uri) }),
    ],
  }),
});

/** What a screen reader was told; the editor takes it out of the page after a moment. */
export const announced: string[] = [];

const region = root.querySelector(".cm-announced") as HTMLElement;
new MutationObserver(() => announced.push(region.textContent)).observe(region, { childList: true });

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

/** Closes the editor. */
export function close(): void {
  view.destroy();
}

/** What is selected. */
export function selected(): string {
  const { from, to } = view.state.selection.main;
  return view.state.sliceDoc(from, to);
}
