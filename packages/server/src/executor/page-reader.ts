/**
 * A reader of the log of a live run: what an asynchronous generator would be, without the promises that one makes for each page. A server
 * hands out a page for each step of each run.
 */
import type { AbortSignalLike, StoredEvent } from "@millrace/contracts";

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
  /** Answers the call of `next` that waits for the log. */
  #answer: ((answer: Answer | Promise<Answer>) => void) | undefined;
  /** The call of `next` that has no answer yet. */
  #asked: Promise<Answer> | undefined;
  /** Listens to the signal, from the first wait on. */
  #onAbort: (() => void) | undefined;

  constructor(log: ReadLog, after: number, signal?: AbortSignalLike) {
    this.#log = log;
    this.#at = after;
    this.#signal = signal;
  }

  /** Calls at once are answered in their order. */
  next(): Promise<Answer> {
    if (this.#asked !== undefined) {
      const again = () => this.next();
      return this.#asked.then(again, again);
    }
    const now = this.#now();
    if (now !== undefined) return Promise.resolve(now);
    this.#asked = this.#older === undefined ? this.#wait() : this.#readOlder(this.#older);
    return this.#asked;
  }

  /** Ends the reader; a call that waits is answered with the end. */
  async return(): Promise<Answer> {
    const answer = this.#answer;
    this.#end();
    answer?.(OVER);
    await this.#older?.return();
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Answers the call that waits, if there is something to say. */
  wake(): void {
    const answer = this.#answer;
    if (answer === undefined) return;
    const now = this.#now();
    if (now === undefined && this.#older === undefined) return;
    this.#answer = undefined;
    if (now !== undefined) this.#asked = undefined;
    answer(now ?? this.#readOlder(this.#older as AsyncGenerator<Page, void>));
  }

  /** The answer that needs no wait; undefined: there is none, or `#older` has it. */
  #now(): Answer | undefined {
    if (this.#isOver) return OVER;
    if (this.#signal?.aborted === true) return this.#end();
    if (this.#older !== undefined) return undefined;
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

  #wait(): Promise<Answer> {
    if (this.#onAbort === undefined) {
      this.#onAbort = () => this.wake();
      this.#signal?.addEventListener("abort", this.#onAbort);
      this.#log.join(this);
    }
    return new Promise((answer) => {
      this.#answer = answer;
    });
  }

  async #readOlder(older: AsyncGenerator<Page, void>): Promise<Answer> {
    try {
      const answer = await older.next();
      if (answer.done !== true) {
        this.#at = answer.value.at(-1)?.seq ?? this.#at;
        return answer;
      }
      this.#older = undefined;
      if (this.#at === this.#olderFrom) return this.#end(); // the journal no longer has them
    } catch (error) {
      this.#end();
      throw error;
    } finally {
      this.#asked = undefined;
    }
    return this.next();
  }

  #end(): Answer {
    this.#isOver = true;
    this.#answer = undefined;
    this.#asked = undefined;
    if (this.#onAbort !== undefined) {
      this.#signal?.removeEventListener("abort", this.#onAbort);
      this.#log.leave(this);
    }
    return OVER;
  }
}
