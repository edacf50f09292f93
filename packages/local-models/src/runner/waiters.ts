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

interface Waiter<T> {
  readonly place: number;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
  readonly leave: () => void;
}

interface WaitersOptions {
  readonly id: string;
  readonly clock: ModelClock;
  /** While it holds, such as during a load with its own limit, no wait times out. */
  readonly isHeld: () => boolean;
}

let joined = 0;

/** The queue of a model; `T` is the awaited result. */
export class Waiters<T> {
  readonly #queue: Waiter<T>[] = [];
  readonly #options: WaitersOptions;

  constructor(options: WaitersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#queue.length;
  }

  /** Place of the first in the order of all queues; Infinity: the queue is empty. */
  get first(): number {
    return this.#queue[0]?.place ?? Number.POSITIVE_INFINITY;
  }

  /** Rejects with `model_busy` when the queue is full or the wait is over, and with the reason of `signal`. */
  join(signal?: AbortSignalLike): Promise<T> {
    const { clock, isHeld } = this.#options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      if (this.size >= MOST) return reject(this.#busy(`${MOST} calls are waiting already`));
      let cancelTimer = () => {};
      const onAbort = () => this.#take(waiter)?.reject(signal?.reason);
      const watch = () => {
        cancelTimer = clock.setTimer(() => {
          if (isHeld()) watch();
          else this.#take(waiter)?.reject(this.#busy(`it was not free in ${WAIT_MS} ms`));
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
      this.#queue.push(waiter);
    });
  }

  serve(value: T): void {
    this.#take(this.#queue[0])?.resolve(value);
  }

  refuse(error: unknown): void {
    for (const waiter of [...this.#queue]) this.#take(waiter)?.reject(error);
  }

  #take(waiter: Waiter<T> | undefined): Waiter<T> | undefined {
    const at = waiter === undefined ? -1 : this.#queue.indexOf(waiter);
    if (at < 0) return undefined;
    this.#queue.splice(at, 1);
    waiter?.leave();
    return waiter;
  }

  #busy(why: string): ModelError {
    return new ModelError("model_busy", `the model ${this.#options.id} is busy: ${why}`);
  }
}
