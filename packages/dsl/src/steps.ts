/** Work in steps: a generator that pauses after each step, so that other work gets its turn, and returns the result. */

/** The result of work, all of its steps at once. */
export function resultOf<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Work that is done once, by all who need its result: each does the steps that are left. Work that throws begins anew for the
 * next.
 */
export class SharedWork<T> {
  readonly #begin: () => Generator<void, T>;
  #running: Generator<void, T> | undefined;
  #done: { readonly result: T } | undefined;

  constructor(begin: () => Generator<void, T>) {
    this.#begin = begin;
  }

  /** The result; all steps that are left are done at once. */
  get result(): T {
    return resultOf(this.steps());
  }

  /** The steps that are left. */
  *steps(): Generator<void, T> {
    for (;;) {
      this.#done ??= this.#step();
      if (this.#done !== undefined) return this.#done.result;
      yield;
    }
  }

  #step(): { readonly result: T } | undefined {
    this.#running ??= this.#begin();
    try {
      const { done, value } = this.#running.next();
      if (!done) return undefined;
      this.#running = undefined;
      return { result: value };
    } catch (thrown) {
      this.#running = undefined;
      throw thrown;
    }
  }
}
