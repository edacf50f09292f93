/** Short messages about what was done, spoken by screen readers and shown for a while. */
import { type ReadonlySignal, signal } from "@preact/signals";

/** How long a message is shown, in milliseconds: long enough to be read twice. */
const SHOWN_MS = 8_000;

const current = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

/** The message that is shown; "" for none. */
export const notification: ReadonlySignal<string> = current;

/** Shows a message in place of the one before. */
export function notify(message: string): void {
  clearTimeout(timer);
  current.value = message;
  timer = setTimeout(() => {
    current.value = "";
  }, SHOWN_MS);
}
