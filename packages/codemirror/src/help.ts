/** What the thing at the pointer or cursor is, and the function that is being called. */

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
import { markdownNode } from "./markdown.ts";

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
