/** The heading of a screen: it names the document, and has the focus after a change of screen. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

let isFirst = true;

/** The one `h1` of a screen. `title`: the name of the document where the heading is more than text. */
export function Heading({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): ComponentChildren {
  const element = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!isFirst) element.current?.focus();
    isFirst = false;
  }, []);
  useEffect(() => {
    document.title = `${title} · Millrace`;
  }, [title]);
  return (
    <h1 ref={element} tabIndex={-1}>
      {children ?? title}
    </h1>
  );
}
