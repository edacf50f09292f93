/** Whether a person may look at the page. A page that is hidden for a while closes its streams and opens them again when it is shown. */
import { type ReadonlySignal, signal } from "@preact/signals";

/** How long a page may be hidden before it gives its connections back, in milliseconds: a browser has six for all tabs. */
const HIDDEN_MS = 10_000;

const active = signal(true);

/** False once the page has been hidden for 10 s. */
export const isActive: ReadonlySignal<boolean> = active;

/** Follows the visibility of the page. Called once. */
export function followVisibility(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (document.visibilityState === "visible") active.value = true;
    else
      timer = setTimeout(() => {
        active.value = false;
      }, HIDDEN_MS);
  };
  document.addEventListener("visibilitychange", look);
  look();
}
