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
  #last = 0;

  /** Goes on after a log with these sums and calls. */
  continueFrom({ usage, costUsd }: RunView, taken: Iterable<string>): void {
    this.usage = { ...usage };
    this.costUsd = costUsd;
    for (const call of taken) this.take(call);
  }

  /** An id that no call of the run has: `c1`, `t2` … */
  next(prefix: "c" | "t"): string {
    do this.#last += 1;
    while (this.#taken.has(`${prefix}${this.#last}`));
    return `${prefix}${this.#last}`;
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
