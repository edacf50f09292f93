/** `flowAnalysis`: findings, fixes, completion, help, rename, format and definitions in an editor. */

import { autocompletion } from "@codemirror/autocomplete";
import { linter } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { flowKeymap } from "./commands.ts";
import { completionSource } from "./completion.ts";
import { analysisFacet, versions } from "./current.ts";
import { help } from "./help.ts";
import { flowLanguage } from "./language.ts";
import { checking } from "./lint.ts";
import type { AnalysisSource } from "./source.ts";

/** How an editor with an analysis behaves. */
export interface FlowAnalysisOptions {
  /** Opens another flow at the address that the project gives it; default: definitions in other flows do nothing. */
  readonly open?: (uri: string) => void;
}

const wavy = (colour: string) => ({
  backgroundImage: "none", // the library's mark is a picture in an address, which a strict policy forbids
  paddingBottom: "0",
  textDecoration: `underline wavy ${colour}`,
  textDecorationSkipInk: "none",
});

const theme = EditorView.theme({
  ".cm-lintRange-error": wavy("#c00"),
  ".cm-lintRange-warning": wavy("#a60"),
  ".cm-lintRange-info": wavy("#06c"),
  ".cm-lintRange.cm-flow-unnecessary": { opacity: "0.6" },
  ".cm-lintRange.cm-flow-deprecated": { textDecoration: "line-through" },
  ".cm-completionIcon-deprecated + .cm-completionLabel": { textDecoration: "line-through" },
  ".cm-flow-help": { maxWidth: "40em", padding: "0.3em 0.6em" },
  ".cm-flow-help p": { margin: "0.2em 0" },
});

/**
 * What an editor of flows shows and does beside colours, each answer from a source:
 * findings with their fixes, completion, hover (Alt-F1), signatures (Ctrl-Shift-Space, and while a call is typed), rename (F2),
 * definition (F12), format (Ctrl-Shift-F), next problem (F8), list of problems (Ctrl-Shift-M). On a Mac Ctrl is Cmd.
 */
export function flowAnalysis(
  source: AnalysisSource,
  { open }: FlowAnalysisOptions = {},
): Extension {
  return [
    analysisFacet.of(source),
    versions,
    linter(null),
    checking,
    flowLanguage.data.of({ autocomplete: completionSource }),
    autocompletion(),
    help,
    keymap.of([...flowKeymap(open)]),
    theme,
  ];
}
