/**
 * The queue of callers that wait for one model.
 *   W1  Each is settled once: with its result, or with the reason of the failure.
 *   W2  A caller that aborts or times out does not affect the others.
 */
import type { AbortSignalLike } from "@millrace/contracts";
import { ModelError } from "../errors.ts";
import type { ModelClock } from "../settings.ts";

const MOST = 32; // of one model; further callers are refused
const WAIT_MS = 120_000;

/** The queue of a model; `T` is the awaited result. */
export interface Waiters<T> {
  readonly size: number;
  /** Place of the first in the order of all queues; null: the queue is empty. */
  readonly first: number | null;
  /** Rejects with `model_busy` when the queue is full or the wait is over, and with the reason of `signal`. */
  join(signal?: AbortSignalLike): Promise<T>;
  /** Resolves the first one. */
  serve(make: () => T): void;
  /** Refuses everybody. */
  refuse(error: unknown): void;
}

let joined = 0;

interface Waiter<T> {
  readonly place: number;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
  readonly leave: () => void;
}

/** An empty queue. While `isHeld`, such as during a load with its own limit, no wait times out. */
export function createWaiters<T>(options: {
  readonly id: string;
  readonly clock: ModelClock;
  readonly isHeld: () => boolean;
}): Waiters<T> {
  const { id, clock, isHeld } = options;
  const queue: Waiter<T>[] = [];
  const take = (waiter: Waiter<T> | undefined): Waiter<T> | undefined => {
    const at = waiter === undefined ? -1 : queue.indexOf(waiter);
    if (at < 0) return undefined;
    queue.splice(at, 1);
    waiter?.leave();
    return waiter;
  };
  const busy = (why: string) => new ModelError("model_busy", `the model ${id} is busy: ${why}`);

  return {
    get size() {
      return queue.length;
    },
    get first() {
      return queue[0]?.place ?? null;
    },
    join(signal) {
      if (signal?.aborted === true) return Promise.reject(signal.reason);
      if (queue.length >= MOST) return Promise.reject(busy(`${MOST} calls are waiting already`));
      return new Promise((resolve, reject) => {
        let cancelTimer = () => {};
        const onAbort = () => take(waiter)?.reject(signal?.reason);
        const watch = () => {
          cancelTimer = clock.setTimer(() => {
            if (isHeld()) watch();
            else take(waiter)?.reject(busy(`it was not free in ${WAIT_MS} ms`));
          }, WAIT_MS);
        };
        const waiter: Waiter<T> = {
          place: ++joined,
          resolve,
          reject,
          leave() {
            cancelTimer();
            signal?.removeEventListener("abort", onAbort);
          },
        };
        watch();
        signal?.addEventListener("abort", onAbort);
        queue.push(waiter);
      });
    },
    serve(make) {
      const waiter = take(queue[0]);
      waiter?.resolve(make());
    },
    refuse(error) {
      for (const waiter of [...queue]) take(waiter)?.reject(error);
    },
  };
}
