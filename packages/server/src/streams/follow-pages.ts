/** Reading what others add to: a position that waits where there is nothing. */
import type { StoredEvent } from "@millrace/contracts";

/** Pages after `from`, then live, until the signal. `read`: the next page after a position; `listen`: tells of additions. */
export async function* followPages(
  {
    read,
    listen,
  }: {
    readonly read: (after: number) => readonly StoredEvent[] | Promise<readonly StoredEvent[]>;
    readonly listen: (told: () => void) => () => void;
  },
  from: number,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredEvent[], void> {
  let at = from;
  let wake = () => {};
  let hasChanged = false; // also while a page is read
  const onChange = () => {
    hasChanged = true;
    wake();
  };
  const unlisten = listen(onChange);
  signal.addEventListener("abort", onChange);
  try {
    while (!signal.aborted) {
      hasChanged = false;
      const page = await read(at);
      if (page.length > 0) {
        yield page;
        at = page.at(-1)?.seq ?? at;
      } else if (!hasChanged) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = () => {};
      }
    }
  } finally {
    unlisten();
    signal.removeEventListener("abort", onChange);
  }
}
