/** How texts look in an editor: the colours of the page, which reach into a shadow root as custom properties. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Extension, Prec } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const control = {
  font: "inherit",
  color: "var(--text)",
  background: "var(--surface)",
  backgroundImage: "none",
  border: "1px solid var(--control)",
  borderRadius: "6px",
  padding: "0.2rem 0.5rem",
  minHeight: "1.75rem",
};
const wavy = (colour: string) => ({ textDecorationColor: colour });

const colours = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--surface)", height: "100%" },
  "&.cm-focused": { outline: "none" }, // what is around it shows the focus
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "13px", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-dropCursor": { borderLeftColor: "var(--text)" },
  ".cm-line::selection, .cm-line ::selection": {
    background: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 5%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--text)" },
  ".cm-gutters": {
    backgroundColor: "var(--surface)",
    color: "var(--muted)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-foldPlaceholder": {
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line)",
    color: "var(--text)",
  },
  "&.cm-focused .cm-matchingBracket": {
    backgroundColor: "transparent",
    outline: "1px solid var(--control)",
  },
  "&.cm-focused .cm-nonmatchingBracket": {
    backgroundColor: "transparent",
    outline: "1px solid var(--failed)",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--warn) 18%, transparent)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--warn) 30%, transparent)" },
  ".cm-searchMatch-selected": { outline: "2px solid var(--warn)" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--control)",
    borderRadius: "6px",
    boxShadow: "0 4px 16px rgb(0 0 0 / 0.2)",
    maxWidth: "min(40rem, 90vw)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "0.15rem 0.4rem" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    background: "var(--accent)",
    color: "var(--on-accent)",
  },
  // Their glyphs are missing in many fonts.
  ".cm-completionIcon": { display: "none" },
  ".cm-completionDetail": { color: "inherit", fontStyle: "normal", opacity: "1" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panels.cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panel.cm-panel-lint ul [aria-selected], .cm-panel.cm-panel-lint ul:focus [aria-selected]": {
    backgroundColor: "var(--surface)",
  },
  ".cm-panel.cm-search label": { fontSize: "inherit" },
  ".cm-textfield": control,
  ".cm-button": control,
  ".cm-diagnostic": { color: "var(--text)" },
  ".cm-diagnosticAction": { ...control, backgroundColor: "var(--surface)", minHeight: "1.5rem" },
  ".cm-diagnosticSource": { color: "var(--muted)", opacity: "1", fontSize: "inherit" },
  ".cm-lintRange-error": wavy("var(--failed)"),
  ".cm-lintRange-warning": wavy("var(--warn)"),
  ".cm-lintRange-info": wavy("var(--accent)"),
  ".cm-placeholder": { color: "var(--muted)" },
});

const syntax = HighlightStyle.define([
  { tag: [tags.definitionKeyword, tags.operatorKeyword], color: "var(--retry)", fontWeight: "600" },
  { tag: tags.typeName, color: "var(--accent)" },
  { tag: tags.definition(tags.variableName), fontWeight: "600" },
  { tag: [tags.modifier, tags.labelName], color: "var(--retry)" },
  { tag: [tags.string, tags.escape], color: "var(--ok)" },
  { tag: [tags.number, tags.atom], color: "var(--warn)" },
  { tag: tags.function(tags.variableName), color: "var(--accent)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: tags.controlOperator, fontWeight: "600" },
]);

/** Colours of an editor; they win over those of the extensions of the language. */
export const editorTheme: Extension = [Prec.high(colours), syntaxHighlighting(syntax)];
