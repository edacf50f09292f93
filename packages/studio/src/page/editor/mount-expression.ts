/** The editor of one value: an expression in a line, with the completion of the text that it stands in. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching } from "@codemirror/language";
import { EditorState, type Extension, Prec } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { flow } from "@millrace/codemirror";
import type { SentCompletion } from "../../worker/protocol.ts";
import { placeIn, shadowOf } from "./shadow.ts";
import { editorTheme } from "./theme.ts";

/** Options of an editor of a value. */
export interface ExpressionOptions {
  /** Name for screen readers. */
  readonly name: string;
  readonly source: string;
  readonly isReadOnly: boolean;
  /** Completions at an offset of the typed text. */
  readonly complete: (source: string, offset: number) => Promise<readonly SentCompletion[]>;
  /** Somebody has typed a value: with Enter, or by leaving; or the value that is written is shown again. */
  readonly onTyped: (source: string) => void;
}

/** An editor of a value in the page. */
export interface MountedExpression {
  /** Shows a value, unless somebody is typing another one. */
  show(source: string): void;
  setInvalid(isInvalid: boolean): void;
  destroy(): void;
}

/** Text after which completions open by themselves; they also open while a word is typed. */
const TRIGGER = /[\w.${]$/;

const oneLine: Extension = Prec.highest(
  EditorView.theme({
    "&": {
      height: "auto",
      border: "1px solid var(--control)",
      borderRadius: "6px",
      backgroundColor: "var(--surface)",
      maxHeight: "14rem",
    },
    "&.cm-invalid": { border: "2px solid var(--failed)" },
    ".cm-scroller": { overflow: "auto", lineHeight: "1.5" },
    ".cm-content": { padding: "0.25rem 0" },
    ".cm-line": { padding: "0 0.5rem" },
    "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  }),
);

/** Opens an editor of a value in an element. */
export function mountExpression(host: HTMLElement, options: ExpressionOptions): MountedExpression {
  let shown = options.source;
  let told = shown;
  const tell = (view: EditorView): void => {
    told = view.state.sliceDoc();
    if (told !== shown) options.onTyped(told);
  };
  const enter = (view: EditorView): boolean => {
    if (view.state.doc.lines > 1) return false;
    tell(view);
    return true;
  };
  const revert = (view: EditorView): boolean => {
    if (view.state.sliceDoc() === shown) return false;
    replace(view, shown);
    options.onTyped(shown);
    return true;
  };
  const view = new EditorView({
    ...placeIn(shadowOf(host)),
    state: EditorState.create({
      doc: options.source,
      extensions: [
        history(),
        bracketMatching(),
        EditorState.readOnly.of(options.isReadOnly),
        EditorView.contentAttributes.of({
          "aria-label": options.name,
          "aria-multiline": "false",
          tabindex: "0",
          ...(options.isReadOnly && { "aria-readonly": "true" }),
        }),
        placeholder("not set"),
        autocompletion({ override: [(context) => offer(context, options)], icons: false }),
        keymap.of([
          ...completionKeymap,
          { key: "Enter", run: enter },
          { key: "Escape", run: revert },
          ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter" && key !== "Mod-/"),
          ...historyKeymap,
        ]),
        EditorView.domEventHandlers({ blur: (_, from) => tell(from) }),
        flow(),
        editorTheme,
        oneLine,
      ],
    }),
  });
  return {
    show(source) {
      const isTyping = view.hasFocus && view.state.sliceDoc() !== shown;
      shown = source;
      if (isTyping || view.state.sliceDoc() === source) return;
      replace(view, source);
      options.onTyped(source);
    },
    setInvalid(isInvalid) {
      view.dom.classList.toggle("cm-invalid", isInvalid);
      if (isInvalid) view.contentDOM.setAttribute("aria-invalid", "true");
      else view.contentDOM.removeAttribute("aria-invalid");
    },
    destroy() {
      if (view.state.sliceDoc() !== told) tell(view); // an element that is taken away does not lose the focus first
      view.destroy();
    },
  };
}

function replace(view: EditorView, source: string): void {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: source } });
}

async function offer(
  { state, pos, explicit, aborted }: CompletionContext,
  { complete }: ExpressionOptions,
): Promise<CompletionResult | null> {
  if (!explicit && !TRIGGER.test(state.sliceDoc(Math.max(0, pos - 1), pos))) return null;
  const offered = await complete(state.sliceDoc(), pos);
  const [first] = offered;
  if (first === undefined || aborted) return null;
  return {
    from: first.from,
    to: first.to,
    options: offered.map(
      ({ label, insert, detail, rank }): Completion => ({
        label,
        apply: insert,
        boost: -rank,
        ...(detail !== undefined && { detail }),
      }),
    ),
    validFor: /^[\w-]*$/,
  };
}
