/** The editor of a flow: the text with its findings, completion and keys. Loaded with the first flow that is opened. */
import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import {
  defaultKeymap,
  history,
  historyKeymap,
  isolateHistory,
  redo,
  toggleComment,
  undo,
} from "@codemirror/commands";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState, type Extension } from "@codemirror/state";
import {
  dropCursor,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  type PluginValue,
  placeholder,
  ViewPlugin,
} from "@codemirror/view";
import type { AnalysisSource } from "@millrace/codemirror";
import { flow, flowAnalysis } from "@millrace/codemirror";
import type { Completion, TextEdit } from "@millrace/dsl/editor";
import type { SentCompletion } from "../../worker/protocol.ts";
import type { TextHolder } from "../state/text-holder.ts";
import { placeIn, shadowOf } from "./shadow.ts";
import { editorTheme } from "./theme.ts";
import { askAbout } from "./worker.ts";

/** Options and callbacks of an editor. */
export interface EditorOptions {
  readonly text: string;
  /** Is shown in grey while there is no text. */
  readonly example: string;
  readonly isReadOnly: boolean;
  /** Longest text, in UTF-16 units; a change beyond it is not made. Asked for at each change, as the server tells it later. */
  readonly maxLength: () => number;
  /** The text was changed; it has `length` UTF-16 units now. */
  readonly onChange: (length: number) => void;
  /** The cursor was moved by a person; while they type, it is told when they pause. */
  readonly onCursor: (offset: number) => void;
  /** A change was not made, as the text would have had this length. */
  readonly onTooLong: (length: number) => void;
  /** The definition of something is in another flow. */
  readonly onOpenFlow: (slug: string) => void;
}

/** An editor in the page. */
export interface MountedEditor extends TextHolder {
  /** Shows a place: the cursor comes there, or `to` ends what is selected. */
  show(from: number, options?: { readonly to?: number; readonly focus?: boolean }): void;
  /** Takes the last step back; false: there is none. */
  undo(): boolean;
  /** Makes the last step that was taken back once more; false: there is none. */
  redo(): boolean;
  destroy(): void;
}

/** Selections that the page makes, not a person. */
const BY_PAGE = "select.page";
/** Pause of typing after which the cursor is told: nothing that follows it delays the character that was typed. */
const PAUSE_MS = 100;
/** A selection of the page stands a little below the upper border. */
const SHOW_MARGIN = 48;

/** Opens an editor in an element. */
export function mountEditor(host: HTMLElement, options: EditorOptions): MountedEditor {
  const view = new EditorView({
    ...placeIn(shadowOf(host)),
    state: EditorState.create({ doc: options.text, extensions: extensionsOf(options) }),
  });
  return {
    get text() {
      return view.state.sliceDoc();
    },
    apply(edits, userEvent) {
      view.dispatch({
        changes: edits.map(({ from, to, text }: TextEdit) => ({ from, to, insert: text })),
        userEvent,
        annotations: isolateHistory.of("full"),
        scrollIntoView: true,
      });
    },
    show(from, { to = from, focus = false } = {}) {
      const { length } = view.state.doc;
      const at = Math.min(from, length);
      view.dispatch({
        selection: EditorSelection.single(at, Math.min(to, length)),
        effects: EditorView.scrollIntoView(at, { y: "start", yMargin: SHOW_MARGIN }),
        userEvent: BY_PAGE,
      });
      if (focus) view.focus();
    },
    undo: () => undo(view),
    redo: () => redo(view),
    destroy: () => view.destroy(),
  };
}

function extensionsOf({
  example,
  isReadOnly,
  maxLength,
  onChange,
  onCursor,
  onTooLong,
  onOpenFlow,
}: EditorOptions): Extension {
  return [
    lineNumbers(),
    foldGutter({ markerDOM: foldMarker }),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    history(),
    dropCursor(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({
      "aria-label": "Flow text",
      tabindex: "0",
      ...(isReadOnly && { "aria-readonly": "true" }),
    }),
    placeholder(example),
    keymap.of([
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter" && key !== "Mod-/"), // keys of the screen
      { key: "Mod-Alt-/", run: toggleComment },
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
    ]),
    flow(),
    flowAnalysis(workerSource, { open: onOpenFlow }),
    editorTheme,
    EditorState.changeFilter.of((change) => {
      const { length } = change.newDoc;
      if (length <= maxLength() || length <= change.startState.doc.length) return true;
      queueMicrotask(() => onTooLong(length));
      return false;
    }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) onChange(state.doc.length);
    }),
    ViewPlugin.define((view) => cursorTeller(view, onCursor)),
  ];
}

/** Tells where a person has put the cursor of an editor. */
function cursorTeller(view: EditorView, tell: (offset: number) => void): PluginValue {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    update({ docChanged, selectionSet, transactions }) {
      if (!selectionSet) return;
      clearTimeout(timer);
      if (transactions.some((each) => each.isUserEvent(BY_PAGE))) return;
      timer = setTimeout(() => tell(view.state.selection.main.head), docChanged ? PAUSE_MS : 0);
    },
    destroy: () => clearTimeout(timer),
  };
}

function foldMarker(isOpen: boolean): HTMLElement {
  const marker = document.createElement("span");
  marker.textContent = isOpen ? "⌄" : "›";
  marker.title = isOpen ? "Fold" : "Unfold";
  return marker;
}

/** A source that asks the worker. */
const workerSource: AnalysisSource = {
  analyse(text) {
    return {
      completions: async (offset) => (await askAbout(text, "completions", offset)).map(received),
      definition: (offset) => askAbout(text, "definition", offset),
      // Nobody has begun to write: there is nothing to find fault with.
      diagnostics: async () => (text.trim() === "" ? [] : askAbout(text, "diagnostics")),
      fixesAt: (from, to) => askAbout(text, "fixesAt", from, to),
      format: () => askAbout(text, "format"),
      hover: (offset) => askAbout(text, "hover", offset),
      renamable: (offset) => askAbout(text, "renamable", offset),
      rename: (offset, to) => askAbout(text, "rename", offset, to),
      signature: (offset) => askAbout(text, "signature", offset),
    };
  },
};

/** A completion as editors take it. */
function received({ documentation, ...rest }: SentCompletion): Completion {
  return documentation === undefined ? rest : { ...rest, documentation: () => documentation };
}
