/** Signals of ports are structural; the platform's functions want the platform's own. */
import type { AbortSignalLike } from "@millrace/contracts";

/** The signal itself where it is one of the platform, else one that follows it. */
export function toAbortSignal(signal: AbortSignalLike): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return controller.signal;
}
