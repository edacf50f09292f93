/** Two texts with what differs between them, for reading. Loaded when the first difference is shown. */
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { flow } from "@millrace/codemirror";
import { placeIn, shadowOf } from "./shadow.ts";
import { editorTheme } from "./theme.ts";

/** The two texts, and the name of their place. */
export interface Difference {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** A comparison that takes longer is shown by whole lines, in milliseconds. */
const TIMEOUT_MS = 300;

const changes = EditorView.theme({
  "&": { height: "auto", maxHeight: "60vh" },
  ".cm-scroller": { overflow: "auto" },
  ".cm-changedLine, .cm-inlineChangedLine": {
    backgroundColor: "color-mix(in srgb, var(--ok) 5%, var(--surface))",
  },
  ".cm-deletedChunk": {
    backgroundColor: "color-mix(in srgb, var(--failed) 5%, var(--surface))",
    color: "var(--text)",
  },
  ".cm-changedText": { background: "none", textDecoration: "underline 2px var(--ok)" },
  ".cm-deletedChunk .cm-deletedText, .cm-deletedText": {
    background: "none",
    textDecoration: "line-through var(--failed)",
  },
  ".cm-changedLineGutter": { backgroundColor: "var(--ok)" },
  ".cm-deletedLineGutter": { backgroundColor: "var(--failed)" },
  ".cm-collapsedLines": {
    color: "var(--text)",
    background: "var(--raised)",
    borderBlock: "1px solid var(--line)",
  },
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: '"⋯"' },
});

/** Shows a difference in an element; answers what takes it away. */
export function showDifference(host: HTMLElement, { name, before, after }: Difference): () => void {
  const view = new EditorView({
    ...placeIn(shadowOf(host)),
    state: EditorState.create({
      doc: after,
      extensions: [
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({
          "aria-label": name,
          "aria-readonly": "true",
          tabindex: "0",
        }),
        EditorView.lineWrapping,
        lineNumbers(),
        flow(),
        editorTheme,
        unifiedMergeView({
          original: before,
          mergeControls: false,
          collapseUnchanged: { margin: 3, minSize: 6 },
          diffConfig: { scanLimit: 2_000, timeout: TIMEOUT_MS },
        }),
        changes,
      ],
    }),
  });
  return () => view.destroy();
}
