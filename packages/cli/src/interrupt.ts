/** Work that a signal may leave behind: nothing of it is waited for any more. */
import { CliError } from "./errors.ts";

/** The promise, or a `cancelled` error as soon as the signal aborts. */
export async function interruptible<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let onAbort: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(endedBy(signal));
  });
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The end of a command that a signal has ended. `more`: what is true in spite of that. */
export function endedBy(signal: AbortSignal, more = "", hint?: string): CliError {
  const message = `ended by ${String(signal.reason)}${more}`;
  return new CliError("cancelled", message, hint === undefined ? {} : { hint });
}
