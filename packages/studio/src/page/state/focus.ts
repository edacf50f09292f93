/**
 * The focus stays in the page: when the element that has it goes away, as a row does that was removed, it passes to what is nearest to its
 * place on the screen. A browser would show no focus until the next press of Tab, and a screen reader would begin at the top.
 */

/** Pause in which a screen may put the focus itself, in milliseconds. */
const PAUSE_MS = 50;

const FOCUSABLE = "h1, a[href], button, input, select, textarea, summary, [tabindex]";

/** Follows the focus. Called once. */
export function followFocus(): void {
  let around: readonly Element[] = []; // what has the focus and what is around it, innermost first
  addEventListener("focusin", ({ target }) => {
    around = ancestorsOf(target as Element);
  });
  new MutationObserver((records) => {
    const [lost] = around;
    if (lost?.isConnected !== false || document.activeElement !== document.body) return;
    const left = around.filter((each) => each.isConnected);
    around = [];
    const removal = records.find(({ removedNodes }) =>
      [...removedNodes].some((each) => each.contains(lost)),
    );
    setTimeout(() => {
      if (document.activeElement === document.body) nearest(left, removal?.nextSibling)?.focus();
    }, PAUSE_MS);
  }).observe(document.body, { childList: true, subtree: true });
}

function ancestorsOf(element: Element | null): Element[] {
  return element === null ? [] : [element, ...ancestorsOf(element.parentElement)];
}

/** What can have the focus in the innermost of these elements that has such; at best the first that stands at `next` or after it. */
function nearest(
  around: readonly Element[],
  next: Node | null | undefined,
): HTMLElement | undefined {
  const main = around.findIndex((each) => each.localName === "main");
  for (const area of around.slice(0, main + 1)) {
    if (area.matches("[tabindex]")) return area as HTMLElement;
    const inside = [...area.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
      (each) => each.checkVisibility() && (each.tabIndex >= 0 || each.localName === "h1"),
    );
    const after = inside.find(
      (each) => next && (next.contains(each) || next.compareDocumentPosition(each) & 4),
    );
    const found = after ?? inside.at(-1);
    if (found !== undefined) return found;
  }
  return undefined;
}
