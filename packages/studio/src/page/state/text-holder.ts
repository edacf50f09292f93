import type { TextEdit } from "@millrace/dsl/editor";

/** Where the text of a session is: an editor, once it is there. */
export interface TextHolder {
  readonly text: string;
  /** Makes edits as one step of Undo. */
  apply(edits: readonly TextEdit[], userEvent: string): void;
}

/** A text without an editor. */
export function plainText(initial: string): TextHolder {
  let text = initial;
  return {
    get text() {
      return text;
    },
    apply(edits) {
      for (const { from, to, text: made } of [...edits].reverse()) {
        text = text.slice(0, from) + made + text.slice(to);
      }
    },
  };
}
