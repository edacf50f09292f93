/** A button with a menu below it: arrow keys choose, Escape closes. @see WAI-ARIA Authoring Practices, "Menu Button" */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { useRoving } from "./roving.ts";
import "./menu.css";

/** One thing of a menu. */
export interface MenuItem {
  readonly title: string;
  readonly onChoose: () => void;
  /** Why it cannot be chosen. */
  readonly refusal?: string | undefined;
  /** Whether it is on, for one that switches something. */
  readonly isChecked?: boolean;
}

/** A menu behind a button. */
export function Menu({
  name,
  items,
}: {
  readonly name: string;
  readonly items: readonly MenuItem[];
}): ComponentChildren {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const roving = useRoving<HTMLDivElement>("[role^=menuitem]");
  useEffect(() => {
    if (!isOpen) return undefined;
    roving.ref.current?.querySelector<HTMLElement>("[role^=menuitem]")?.focus();
    const close = (event: PointerEvent): void => {
      const inside = [roving.ref.current, button.current];
      if (!inside.some((each) => each?.contains(event.target as Node))) setOpen(false);
    };
    addEventListener("pointerdown", close);
    return () => removeEventListener("pointerdown", close);
  }, [isOpen]);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <div class="menu">
      <Button
        ref={button}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {name} <span aria-hidden="true">▾</span>
      </Button>
      {isOpen && (
        <div
          role="menu"
          id={id}
          aria-label={name}
          class="menu-items"
          ref={roving.ref}
          onKeyDown={(event) => {
            if (event.key === "Escape" || event.key === "Tab") {
              event.stopPropagation();
              close();
            } else roving.onKeyDown(event);
          }}
        >
          {items.map(({ title, onChoose, refusal, isChecked }) => (
            <Button
              key={title}
              {...(isChecked === undefined
                ? { role: "menuitem" }
                : { role: "menuitemcheckbox", "aria-checked": isChecked })}
              refusal={refusal}
              onClick={() => {
                close();
                onChoose();
              }}
            >
              {isChecked !== undefined && <span aria-hidden="true">{isChecked ? "✓ " : "  "}</span>}
              {title}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}
