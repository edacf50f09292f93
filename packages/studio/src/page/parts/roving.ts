/** One tab stop for a group of controls: arrow keys move the focus inside. @see WAI-ARIA Authoring Practices, "Roving tabindex" */
import { useCallback, useEffect, useRef } from "preact/hooks";

const STEPS: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
};

/** A reference and a key handler for the element of a group. */
export interface Roving<E extends HTMLElement> {
  readonly ref: { current: E | null };
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** Makes the controls that match `selector` inside an element one tab stop; `current` matches the one that has it at first. */
export function useRoving<E extends HTMLElement>(selector: string, current = ""): Roving<E> {
  const ref = useRef<E>(null);
  useEffect(() => {
    const all = controls(ref.current, selector);
    const chosen =
      all.find((each) => each === document.activeElement) ??
      all.find((each) => current !== "" && each.matches(current)) ??
      all.find((each) => each.tabIndex === 0) ??
      all[0];
    for (const each of all) each.tabIndex = each === chosen ? 0 : -1;
  });
  const onKeyDown = useCallback(
    (event: KeyboardEvent): void => {
      const all = controls(ref.current, selector);
      const at = all.indexOf(document.activeElement as HTMLElement);
      if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
      const target = targetOf(event.key, at, all.length);
      if (target === undefined) return;
      event.preventDefault();
      for (const [place, each] of all.entries()) each.tabIndex = place === target ? 0 : -1;
      all[target]?.focus();
    },
    [selector],
  );
  return { ref, onKeyDown };
}

function targetOf(key: string, at: number, count: number): number | undefined {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const step = STEPS[key];
  return step === undefined ? undefined : (at + step + count) % count;
}

function controls(element: HTMLElement | null, selector: string): HTMLElement[] {
  return [...(element?.querySelectorAll<HTMLElement>(selector) ?? [])];
}
