/** Pauses between tries of one call. */
import type { CoreContext } from "@millrace/engine";

/** How long try `failed` + 1 waits after `failed` tries (from 1): doubled, capped, spread; never shorter than the other side asks. */
export function waitMs(
  failed: number,
  options: {
    readonly delayMs: number;
    readonly maxWaitMs: number;
    readonly retryAfterMs: number | undefined;
    readonly random: number;
  },
): number {
  const { delayMs, maxWaitMs, retryAfterMs = 0, random } = options;
  const own = Math.min(maxWaitMs, delayMs * 2 ** (failed - 1)) * (0.5 + random / 2);
  return Math.ceil(Math.max(retryAfterMs, own));
}

/** Resolves after `ms`, or as soon as `signal` aborts. */
export function pause(ctx: CoreContext, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((wake) => {
    if (signal.aborted) {
      wake();
      return;
    }
    const done = (): void => {
      stop();
      signal.removeEventListener("abort", done);
      wake();
    };
    const stop = ctx.after(ms, done);
    signal.addEventListener("abort", done, { once: true });
  });
}

/** `work`, or a rejection as soon as `signal` aborts; what comes later is dropped. */
export function unlessAborted<T>(
  work: PromiseLike<T> | T,
  signal: AbortSignal,
  failure: () => unknown,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(failure());
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted, { once: true });
    const settled = (): void => signal.removeEventListener("abort", aborted);
    Promise.resolve(work).then(
      (value) => {
        settled();
        resolve(value);
      },
      (error: unknown) => {
        settled();
        reject(error);
      },
    );
  });
}
