/** A sentence of the catalog or of a finding: what stands between backquotes is code. Nothing else in it is markup. */
import type { ComponentChildren } from "preact";
import { VisibleText } from "./value-view/visible-text.tsx";

/** A sentence for places that take no elements, such as a title. */
export function plainProse(text: string): string {
  return text.replaceAll("`", "");
}

/** Shows a sentence. */
export function Prose({ text }: { readonly text: string }): ComponentChildren {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return <VisibleText text={text} />; // a backquote without another
  return parts.map((part, at) =>
    at % 2 === 1 ? (
      <code key={at}>
        <VisibleText text={part} />
      </code>
    ) : (
      <VisibleText key={at} text={part} />
    ),
  );
}
