/** A row of controls with one tab stop. */
import type { ComponentChildren } from "preact";
import { useRoving } from "./roving.ts";

/** A toolbar; its buttons and links are reached by arrow keys. */
export function Toolbar({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): ComponentChildren {
  const roving = useRoving<HTMLDivElement>("button, a[href]");
  return (
    <div role="toolbar" aria-label={name} class="toolbar" {...roving}>
      {children}
    </div>
  );
}
