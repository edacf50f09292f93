/** The time of one node attempt: a signal that aborts with the node or when `totalMs` is used up. */
import type { CoreContext } from "@millrace/engine";
import type { AiFailure } from "./failure.ts";

export class Budget {
  readonly #ctx: CoreContext;
  readonly #totalMs: number;
  readonly #controller: AbortController = new AbortController();
  #leftMs: number;
  #since = 0;
  #stop: (() => void) | null = null;
  #isExpired = false;

  constructor(ctx: CoreContext, totalMs: number) {
    this.#ctx = ctx;
    this.#totalMs = totalMs;
    this.#leftMs = totalMs;
    const { signal } = ctx;
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#abort, { once: true });
    this.go();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly #abort = (): void => this.#controller.abort();

  /** Milliseconds that are left. */
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
    if (this.#stop !== null || this.signal.aborted) return;
    this.#since = this.#ctx.now();
    this.#stop = this.#ctx.after(this.#leftMs, () => {
      this.#isExpired = true;
      this.#controller.abort();
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
    this.#ctx.signal.removeEventListener("abort", this.#abort);
  }
}
