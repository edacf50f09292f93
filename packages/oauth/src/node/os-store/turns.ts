/**
 * One call after the other: a keyring that a hundred clients ask at once makes mistakes, and of two changes of an entry the later
 * one counts. Who waits behind a call that ran into a time limit fails with it: otherwise the tenth would wait ten limits.
 */
export class Turns {
  readonly #isTimeout: (error: unknown) => boolean;
  #last: Promise<void> = Promise.resolve();

  constructor(isTimeout: (error: unknown) => boolean) {
    this.#isTimeout = isTimeout;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    const settled = mine.then(
      () => {},
      (error: unknown) => {
        if (this.#isTimeout(error)) throw error;
      },
    );
    settled.catch(() => {}); // whoever waits behind is told
    this.#last = settled;
    try {
      return await mine;
    } finally {
      if (this.#last === settled) this.#last = Promise.resolve();
    }
  }
}
