/** Numbers of runs, which each opening takes from the database in blocks, so that most runs begin without asking it. */

/** Consecutive numbers that no run ever had. */
export interface RunBlock {
  readonly first: number;
  readonly count: number;
}

const LOW = 0.25; // of a block

/** Hands out the numbers of runs, and asks for the next block before one is used up. */
export class RunNumbers {
  readonly #take: () => Promise<RunBlock>;
  #block: RunBlock;
  /** So few are left when the next block is asked for. */
  #low: number;
  #asking: Promise<void> | undefined;

  /** `take` gets a block from the database; `block`: the one that was taken already. */
  constructor(take: () => Promise<RunBlock>, block: RunBlock = { first: 0, count: 0 }) {
    this.#take = take;
    this.#block = block;
    this.#low = block.count * LOW;
  }

  /** A number that no run ever had. */
  next(): number | Promise<number> {
    if (this.#block.count <= this.#low) void this.#ask();
    if (this.#block.count > 0) return this.#one();
    return (async () => {
      while (this.#block.count === 0) await this.#ask();
      return this.#one();
    })();
  }

  #one(): number {
    const { first, count } = this.#block;
    this.#block = { first: first + 1, count: count - 1 };
    return first;
  }

  #ask(): Promise<void> {
    this.#asking ??= this.#load().finally(() => {
      this.#asking = undefined;
    });
    this.#asking.catch(() => {}); // the next caller asks again
    return this.#asking;
  }

  async #load(): Promise<void> {
    this.#block = await this.#take(); // what was left of the block before is given up
    this.#low = this.#block.count * LOW;
  }
}
