/**
 * A reader of the log of a live run: what an asynchronous generator would be, without the promises that one makes for each page. A server
 * hands out a page for each step of each run.
 */
import type { AbortSignalLike, StoredEvent } from "@millrace/contracts";
import { listOf } from "@millrace/contracts/kit";

type Page = readonly StoredEvent[];
type Answer = IteratorResult<Page, void>;

/** The log that it reads. */
export interface ReadLog {
  readonly lastSeq: number;
  readonly ended: boolean;
  /** The page after a position; undefined: only the journal has it. */
  page(after: number): Page | undefined;
  /** Pages of the journal, until those in memory reach back far enough. */
  older(after: number, signal: AbortSignalLike | undefined): AsyncGenerator<Page, void>;
  /** From now on `reader` is woken when something was added, or nothing more follows. */
  join(reader: PageReader): void;
  leave(reader: PageReader): void;
}

const OVER: Answer = { value: undefined, done: true };

export class PageReader implements AsyncIterableIterator<Page, void> {
  readonly #log: ReadLog;
  readonly #signal: AbortSignalLike | undefined;
  #at: number;
  #isOver = false;
  #older: AsyncGenerator<Page, void> | undefined;
  /** Position from which `#older` reads. */
  #olderFrom = 0;
  #isReading = false;
  /** The calls of `next` that have no answer yet, in their order. */
  readonly #calls: ((answer: Answer | Promise<Answer>) => void)[] = listOf();
  /** Listens to the signal, from the first wait on. */
  #onAbort: (() => void) | undefined;

  constructor(log: ReadLog, after: number, signal?: AbortSignalLike) {
    this.#log = log;
    this.#at = after;
    this.#signal = signal;
  }

  /** Calls at once are answered in their order. */
  next(): Promise<Answer> {
    const now = this.#calls.length === 0 ? this.#now() : undefined;
    if (now !== undefined) return Promise.resolve(now);
    return new Promise((answer) => {
      if (this.#calls.push(answer) === 1) this.#wait();
    });
  }

  /** Ends the reader; calls that wait are answered with the end. */
  async return(): Promise<Answer> {
    this.#end();
    this.wake();
    await this.#older?.return();
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Answers the calls that wait, as far as there is something to say. */
  wake(): void {
    while (this.#calls.length > 0) {
      const now = this.#now();
      if (now === undefined) {
        this.#wait();
        return;
      }
      this.#calls.shift()?.(now);
    }
  }

  /** The answer that needs no wait; undefined: there is none, or `#older` has it. */
  #now(): Answer | undefined {
    if (this.#isOver) return OVER;
    if (this.#older !== undefined) return undefined; // it ends by itself when the signal is aborted
    if (this.#signal?.aborted === true) return this.#end();
    if (this.#at >= this.#log.lastSeq) return this.#log.ended ? this.#end() : undefined;
    const page = this.#log.page(this.#at);
    if (page === undefined) {
      this.#older = this.#log.older(this.#at, this.#signal);
      this.#olderFrom = this.#at;
      return undefined;
    }
    this.#at += page.length;
    return { value: page, done: false };
  }

  /** Sees to it that there is something to say to the call that is the first to wait. */
  #wait(): void {
    if (this.#older !== undefined) {
      if (!this.#isReading) void this.#read(this.#older);
    } else if (this.#onAbort === undefined) {
      this.#onAbort = () => this.wake();
      this.#signal?.addEventListener("abort", this.#onAbort);
      this.#log.join(this);
    }
  }

  /** Never rejects. */
  async #read(older: AsyncGenerator<Page, void>): Promise<void> {
    this.#isReading = true;
    try {
      const answer = await older.next();
      if (answer.done !== true) {
        this.#at = answer.value.at(-1)?.seq ?? this.#at;
        this.#calls.shift()?.(answer);
      } else {
        this.#older = undefined;
        if (this.#at === this.#olderFrom) this.#end(); // the journal no longer has them
      }
    } catch (error) {
      this.#end();
      this.#calls.shift()?.(Promise.reject(error));
    }
    this.#isReading = false;
    this.wake();
  }

  #end(): Answer {
    this.#isOver = true;
    if (this.#onAbort !== undefined) {
      this.#signal?.removeEventListener("abort", this.#onAbort);
      this.#log.leave(this);
    }
    return OVER;
  }
}
