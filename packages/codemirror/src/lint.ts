/** Findings in the text, each with its fixes; they are asked for when typing pauses. */

import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import type { EditorState, Extension } from "@codemirror/state";
import { EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import type { Analysis } from "@millrace/dsl/editor";
import { analysisOf, applyEdits, hasChanged, setOpen, settle } from "./current.ts";

/** Pause of typing after which findings are asked for. */
const PAUSE_MS = 120;
/** They are asked for this often while somebody types. */
const LONGEST_WAIT_MS = 500;
/** Above this length an answer takes long enough to be felt: the pause is longer. */
const LONG_TEXT = 256 * 1024;
const LONG_PAUSE_MS = 300;

type Finding = ReturnType<Analysis["diagnostics"]>[number];

/** Classes of findings that are greyed out or struck through. */
const MARKS: { readonly [code: string]: string } = {
  FLOW4011: "cm-flow-unnecessary",
  FLOW3009: "cm-flow-deprecated",
};

/** Asks for the findings of the text, and shows them. */
class Checker {
  readonly #view: EditorView;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the first change was made that is not checked yet. */
  #since: number | undefined;
  /** The last announcement. */
  #said = "";

  constructor(view: EditorView) {
    this.#view = view;
    setOpen(view, true);
    this.#plan(0);
  }

  update({ docChanged, state }: ViewUpdate): void {
    if (docChanged) this.#plan(state.doc.length > LONG_TEXT ? LONG_PAUSE_MS : PAUSE_MS);
  }

  destroy(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    setOpen(this.#view, false);
  }

  #plan(pauseMs: number): void {
    const now = Date.now();
    this.#since ??= now;
    clearTimeout(this.#timer);
    const left = Math.max(0, this.#since + LONGEST_WAIT_MS - now);
    this.#timer = setTimeout(
      () => settle(this.#view, () => this.#check()),
      Math.min(pauseMs, left),
    );
  }

  async #check(): Promise<void> {
    const timer = this.#timer;
    this.#since = undefined;
    const { state } = this.#view;
    const found = await analysisOf(state).diagnostics();
    // Destroyed or changed meanwhile: a later check says it.
    if (this.#timer !== timer || hasChanged(this.#view, state)) return;
    const counted = announcement(found);
    this.#view.dispatch(setDiagnostics(state, found.map(toDiagnostic)), {
      effects: counted === this.#said ? [] : EditorView.announce.of(counted),
    });
    this.#said = counted;
  }
}

function announcement(found: readonly Finding[]): string {
  const [first] = found;
  if (first === undefined) return "no problems";
  const count = found.length === 1 ? "1 problem" : `${found.length} problems`;
  return `${count}; ${first.range ? `line ${first.range.start.line}: ` : ""}${first.message}`;
}

function toDiagnostic({ code, severity, message, hint, range, fixes = [] }: Finding): Diagnostic {
  const markClass = MARKS[code];
  return {
    from: range?.start.offset ?? 0,
    to: range?.end.offset ?? 0,
    severity,
    source: code,
    message: hint === undefined ? message : `${message}; ${hint}`,
    ...(markClass !== undefined && { markClass }),
    actions: fixes.map(({ title }) => ({
      name: title,
      apply: (view: EditorView, from: number, to: number) =>
        settle(view, () => applyFix(view, code, title, from, to)),
    })),
  };
}

/** Applies a fix as it is for the text of now, which may have changed since the finding was shown. */
async function applyFix(
  view: EditorView,
  code: string,
  title: string,
  from: number,
  to: number,
): Promise<void> {
  const state: EditorState = view.state;
  const fixes = await analysisOf(state).fixesAt(from, to);
  const fix = fixes.find((each) => each.diagnostic.code === code && each.title === title);
  if (fix !== undefined && !hasChanged(view, state)) applyEdits(view, fix.edits, "input.fix");
}

/** Shows findings while somebody types. */
export const checking: Extension = ViewPlugin.fromClass(Checker);
