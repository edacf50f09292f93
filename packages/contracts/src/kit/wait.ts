/** Waiting that a signal ends. Neither a timer nor a listener is left behind. */
import type { AbortSignalLike } from "../extend/context.ts";

/** Timers of `sleep`: calls `fn` once after `ms`; the returned function cancels the call. */
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
    const leave = whenAborted(signal, () => reject(signal.reason));
    void Promise.resolve(work).then(resolve, reject).then(leave);
  });
}

/** Calls `listener` once when `signal` aborts, at once if it has. The answer takes that back. */
export function whenAborted(signal: AbortSignalLike, listener: () => void): () => void {
  if (signal.aborted) listener();
  else signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}
