/** What the calls of a run add up to, and the ids that they have taken. */
import {
  addCall,
  type LlmFailed,
  type LlmFinished,
  NO_USAGE,
  type RunView,
} from "@millrace/contracts";

export class CallSums {
  usage: { -readonly [K in keyof typeof NO_USAGE]: number } = { ...NO_USAGE };
  /** Null as soon as one price is unknown. */
  costUsd: number | null = 0;
  readonly #taken: Set<string> = new Set();
  readonly #last = { c: 0, t: 0 };
  /** Ids that a question names for a call that has not begun. */
  readonly #reserved: Set<string> = new Set();

  /** Goes on after a log with these sums and calls. `reserved`: ids of calls that people were asked about. */
  continueFrom(
    { usage, costUsd }: RunView,
    { taken, reserved }: { taken: Iterable<string>; reserved: Iterable<string> },
  ): void {
    this.usage = { ...usage };
    this.costUsd = costUsd;
    for (const call of taken) this.take(call);
    for (const call of reserved) this.#reserved.add(call);
  }

  /** An id that no call of the run has: `c1`, `c2` … and `t1`, `t2` … */
  next(prefix: "c" | "t"): string {
    for (;;) {
      this.#last[prefix] += 1;
      const id = `${prefix}${this.#last[prefix]}`;
      if (!this.#taken.has(id) && !this.#reserved.has(id)) return id;
    }
  }

  /** Marks an id as used; false when it was. */
  take(call: string): boolean {
    if (this.#taken.has(call)) return false;
    this.#taken.add(call);
    return true;
  }

  /** Adds a model call that has ended. */
  add(call: Pick<LlmFinished | LlmFailed, "usage" | "costUsd">): void {
    addCall(this, call);
  }
}
