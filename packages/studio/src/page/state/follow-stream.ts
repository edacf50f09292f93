/** Streams of the server that have no end. */
import { sleep } from "@millrace/contracts/kit";

/** Pause before a stream that ended is opened again, in milliseconds. */
const REOPEN_MS = 2_000;

/** Reads a stream until `signal` aborts. Never rejects: the state of the connection says what is wrong, and a refused token leads to the sign-in. */
export async function followStream<T>(
  signal: AbortSignal,
  open: () => AsyncIterable<T>,
  take: (item: T) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const item of open()) take(item);
    } catch {
      // It is opened again.
    }
    await sleep(REOPEN_MS, signal).catch(() => {});
  }
}
