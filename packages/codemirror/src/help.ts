/** Hover of the symbol at the pointer or cursor, and signature of the function being called. */

import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import {
  activateHover,
  type Command,
  closeHoverTooltips,
  type EditorView,
  hasHoverTooltips,
  hoverTooltip,
  showTooltip,
  type Tooltip,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import type { Signature } from "@millrace/dsl/editor";
import { analysisOf, hasChanged, settle } from "./current.ts";

const INLINE = /(`+)( ?)([\s\S]*?)\2\1(?!`)|\*\*((?:\\.|[^*\\])+)\*\*|\\(.)| {2}(\n)/g;

const hover = hoverTooltip(async ({ state }, pos) => {
  const found = await analysisOf(state).hover(pos);
  if (found === undefined) return null;
  const create = () => {
    const dom = markdownNode(found.markdown);
    dom.className = "cm-flow-help";
    return { dom };
  };
  return { pos: found.start, end: found.end, above: true, create };
});

/** Shows what the thing at the cursor is. */
export const showHover: Command = (view) => {
  const { head } = view.state.selection.main;
  activateHover(view, head, 1, {
    tooltip: hover,
    until: ({ docChanged, selection }) => docChanged || selection !== undefined,
  });
  return true;
};

const setSignature = StateEffect.define<Tooltip | null>();

const shownSignature: StateField<Tooltip | null> = StateField.define<Tooltip | null>({
  create: () => null,
  update(shown, { effects }) {
    for (const effect of effects) if (effect.is(setSignature)) return effect.value;
    return shown;
  },
  provide: (field) => showTooltip.from(field),
});

/** Shows the function around the cursor. */
export const showSignature: Command = (view) => {
  settle(view, () => updateSignature(view));
  return true;
};

/** Closes what `showHover` and `showSignature` opened. */
export const closeHelp: Command = (view) => {
  const effects: StateEffect<unknown>[] = [];
  if (hasHoverTooltips(view.state)) effects.push(closeHoverTooltips);
  if (view.state.field(shownSignature) !== null) effects.push(setSignature.of(null));
  if (effects.length > 0) view.dispatch({ effects });
  return effects.length > 0;
};

async function updateSignature(view: EditorView): Promise<void> {
  const state: EditorState = view.state;
  const { head } = state.selection.main;
  const found = await analysisOf(state).signature(head);
  if (hasChanged(view, state) || view.state.selection.main.head !== head) return;
  const shown = view.state.field(shownSignature);
  const next = found ? signatureTooltip(found, head) : null;
  if (shown !== next) view.dispatch({ effects: setSignature.of(next) });
}

function signatureTooltip(signature: Signature, pos: number): Tooltip {
  return { pos, above: true, create: () => ({ dom: signatureNode(signature) }) };
}

function signatureNode({ label, documentation, parameters, active }: Signature): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "cm-flow-help";
  const line = dom.appendChild(document.createElement("code"));
  const [start, end] = parameters[active] ?? [0, 0];
  const parameter = document.createElement("strong");
  parameter.textContent = label.slice(start, end);
  line.append(label.slice(0, start), parameter, label.slice(end));
  dom.appendChild(document.createElement("p")).textContent = documentation;
  return dom;
}

/** Opens the signature when a call is typed, and follows the cursor while it is shown. */
class SignatureFollower {
  update({ docChanged, selectionSet, state, transactions, view }: ViewUpdate): void {
    if (!docChanged && !selectionSet) return;
    const { head } = state.selection.main;
    const typed =
      transactions.some((each) => each.isUserEvent("input.type")) &&
      /[(,]/.test(state.sliceDoc(head - 1, head));
    if (typed || state.field(shownSignature) !== null) settle(view, () => updateSignature(view));
  }
}

/** Hovers, and signatures while a call is typed. */
export const help: Extension = [hover, shownSignature, ViewPlugin.fromClass(SignatureFollower)];

/** A node that shows the Markdown of an analysis: paragraphs, code, bold. Whatever else stands in it is text and leads nowhere. */
function markdownNode(markdown: string): HTMLElement {
  const node = document.createElement("div");
  for (const text of markdown.split("\n\n")) {
    node.appendChild(document.createElement("p")).append(...inlineNodes(text));
  }
  return node;
}

function* inlineNodes(text: string): Generator<string | Node> {
  let done = 0;
  for (const { index, 0: whole, 3: code, 4: bold, 5: escaped, 6: lineEnd } of text.matchAll(
    INLINE,
  )) {
    yield text.slice(done, index);
    done = index + whole.length;
    if (code !== undefined) yield element("code", code);
    else if (bold !== undefined) yield element("strong", ...inlineNodes(bold));
    else if (lineEnd !== undefined) yield document.createElement("br");
    else yield escaped ?? "";
  }
  yield text.slice(done);
}

function element(name: string, ...children: readonly (string | Node)[]): HTMLElement {
  const node = document.createElement(name);
  node.append(...children);
  return node;
}
