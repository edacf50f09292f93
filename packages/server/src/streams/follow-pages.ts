/** Reading what others add to: a position that waits where there is nothing. */
import type { StoredEvent } from "@millrace/contracts";

/** Pages after `from`, then live, until the signal. `read`: the next page after a position; `listen`: tells of additions. */
export async function* followPages(
  {
    read,
    listen,
  }: {
    readonly read: (after: number) => readonly StoredEvent[];
    readonly listen: (told: () => void) => () => void;
  },
  from: number,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredEvent[], void> {
  let at = from;
  let wake = () => {};
  const onChange = () => wake();
  const unlisten = listen(onChange);
  signal.addEventListener("abort", onChange);
  try {
    while (!signal.aborted) {
      const page = read(at);
      if (page.length > 0) {
        yield page;
        at = page.at(-1)?.seq ?? at;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    unlisten();
    signal.removeEventListener("abort", onChange);
  }
}
