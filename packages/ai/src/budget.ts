/** The time of one node attempt: a signal that aborts with the node or when `totalMs` is used up, and pauses between tries of one call. */
import { sleep } from "@millrace/contracts/kit";
import type { CoreContext } from "@millrace/engine";
import { AiError, type AiFailure } from "./failure.ts";

const NOBODY: readonly (() => void)[] = [];

export class Budget {
  readonly #ctx: CoreContext;
  readonly #totalMs: number;
  /** Made when somebody asks for the signal: one of Node takes a kilobyte. */
  #controller: AbortController | null = null;
  #listeners: readonly (() => void)[] = NOBODY;
  #leftMs: number;
  #since = 0;
  #stop: (() => void) | null = null;
  #isExpired = false;
  #isOver = false;

  constructor(ctx: CoreContext, totalMs: number) {
    this.#ctx = ctx;
    this.#totalMs = totalMs;
    this.#leftMs = totalMs;
    ctx.onAbort(() => this.#end());
    this.go();
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#isOver) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller?.abort();
    const listeners = this.#listeners;
    this.#listeners = NOBODY;
    for (const listener of listeners) listener();
  }

  /** The node is to stop, or its time is used up. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls `listener` once when it is over. */
  onEnd(listener: () => void): void {
    this.#listeners = this.#listeners.concat(listener); // a list that was spread has room for sixteen more
  }

  offEnd(listener: () => void): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener);
  }

  /** `work`, or a rejection with the failure as soon as it is over; what comes later is dropped. */
  until<T>(work: PromiseLike<T> | T): Promise<T> {
    return new Promise((resolve, reject) => {
      const over = (): void => reject(new AiError(this.failure()));
      if (this.isOver) over();
      this.onEnd(over);
      Promise.resolve(work)
        .then(resolve, reject)
        .finally(() => this.offEnd(over));
    });
  }

  leftMs(): number {
    const used = this.#stop === null ? 0 : this.#ctx.now() - this.#since;
    return Math.max(0, this.#leftMs - used);
  }

  /** Stops the clock: the node waits for a person. */
  hold(): void {
    if (this.#stop === null) return;
    this.#leftMs = this.leftMs();
    this.#stop();
    this.#stop = null;
  }

  /** Lets it go on. */
  go(): void {
    if (this.#stop !== null || this.#isOver) return;
    this.#since = this.#ctx.now();
    this.#stop = this.#ctx.after(this.#leftMs, () => {
      this.#isExpired = true;
      this.#end();
    });
  }

  /** Why the signal has aborted. */
  failure(): AiFailure {
    if (!this.#isExpired) return { reason: "aborted", text: "the node was stopped" };
    return { reason: "deadline", text: `the node took longer than totalMs, ${this.#totalMs} ms` };
  }

  close(): void {
    this.#stop?.();
    this.#stop = null;
    this.#ctx.onAbort(null);
  }
}

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
  const setTimer = (wake: () => void, after: number) => ctx.after(after, wake);
  return sleep(ms, signal, { setTimer }).catch(() => {});
}
