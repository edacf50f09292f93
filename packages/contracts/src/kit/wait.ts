/** Waiting that a signal ends. Neither a timer nor a listener is left behind. */
import type { AbortSignalLike } from "../extend/context.ts";

/** What `sleep` measures time with: calls `fn` once after `ms`; the answer cancels it. */
export interface Timers {
  setTimer(fn: () => void, ms: number): () => void;
}

const PLATFORM: Timers = {
  setTimer(fn, ms) {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms` milliseconds; rejects with the reason of `signal` as soon as that aborts. */
export function sleep(ms: number, signal?: AbortSignalLike, timers = PLATFORM): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = timers.setTimer(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** The result of a promise that others may own: an abort of `signal` rejects with its reason, and the work goes on. */
export function untilAborted<T>(work: Promise<T>, signal?: AbortSignalLike): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    const leave = (): void => signal.removeEventListener("abort", stop);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    void Promise.resolve(work).then(resolve, reject).then(leave);
  });
}
