/** Work that a signal may leave behind: nothing of it is waited for any more. */
import { CliError } from "./errors.ts";

/** The promise, or a `cancelled` error as soon as the signal aborts. */
export async function interruptible<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let onAbort: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(new CliError("cancelled", `ended by ${String(signal.reason)}`));
  });
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
