/** Numbers of runs, which each server takes from the database in blocks, so that most runs begin without asking it. */
import type { SqlReader } from "@millrace/store/sql";

const BLOCK = 64; // the step of the sequence
const LOW = 16; // so few are left when the next block is asked for

export class RunNumbers {
  readonly #reader: SqlReader;
  #next = 0;
  #left = 0;
  #block: Promise<void> | undefined;

  constructor(reader: SqlReader) {
    this.#reader = reader;
  }

  /** A number that no run ever had. */
  next(): number | Promise<number> {
    if (this.#left <= LOW) void this.#ask();
    if (this.#left > 0) return this.#take();
    return (async () => {
      while (this.#left === 0) await this.#ask();
      return this.#take();
    })();
  }

  #take(): number {
    this.#left -= 1;
    this.#next += 1;
    return this.#next - 1;
  }

  #ask(): Promise<void> {
    this.#block ??= this.#load().finally(() => {
      this.#block = undefined;
    });
    this.#block.catch(() => {}); // whoever needs it asks again
    return this.#block;
  }

  async #load(): Promise<void> {
    const row = await this.#reader.get("SELECT nextval('run_no') AS first");
    this.#next = Number(row?.["first"]); // what was left of the block before is given up
    this.#left = BLOCK;
  }
}
