/** Waiting, by the clock of the manager. */
import type { ModelClock } from "./settings.ts";

/** Resolves after `ms`. Rejects with the reason of `signal`, at once. */
export function sleep(clock: ModelClock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.setTimer(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
