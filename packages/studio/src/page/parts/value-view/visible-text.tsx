/**
 * A text of a flow as it is: a character that is not seen, or that changes the order of others, is shown as its escape in a marked
 * span. The end of a line and a tab stay.
 */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { piecesOf } from "./escapes.ts";
import "./value-view.css";

/** Shows a text. */
export function VisibleText({ text }: { readonly text: string }): ComponentChildren {
  const pieces = useMemo(() => piecesOf(text), [text]);
  return (
    <>
      {pieces.map((piece, at) =>
        typeof piece === "string" ? (
          piece
        ) : (
          <span key={at} class="escape" title="A character that is not seen">
            {piece.escape}
          </span>
        ),
      )}
    </>
  );
}
