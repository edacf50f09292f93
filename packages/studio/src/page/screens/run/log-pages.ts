/** Pages of a log that the page does not keep, read from the server when a row of them is shown. */
import type { ExecutionEvent } from "@millrace/contracts";

/** Events of a page. */
const PAGE = 200;
/** Pages that are kept; the one that was used least recently leaves first. */
const MAX_PAGES = 20;

/** A cache of pages. */
export class LogPages {
  readonly #read: (after: number) => Promise<readonly ExecutionEvent[]>;
  readonly #onRead: () => void;
  readonly #pages = new Map<number, readonly ExecutionEvent[]>();
  readonly #reading = new Set<number>();
  /** Why the last read failed. */
  error: unknown;

  /** `read` answers up to 200 events after a position; `onRead` is told when a page has come. */
  constructor(
    read: (after: number) => Promise<readonly ExecutionEvent[]>,
    onRead: () => void = () => {},
  ) {
    this.#read = read;
    this.#onRead = onRead;
  }

  /** The event at a position; undefined: it is being read. */
  at(seq: number): ExecutionEvent | undefined {
    const after = Math.floor((seq - 1) / PAGE) * PAGE;
    const page = this.#pages.get(after);
    const event = page?.[seq - after - 1];
    if (page !== undefined) {
      this.#pages.delete(after);
      this.#pages.set(after, page);
    }
    // The last page grows while the run goes on.
    if (event === undefined && !this.#reading.has(after)) void this.#load(after);
    return event;
  }

  async #load(after: number): Promise<void> {
    this.#reading.add(after);
    try {
      this.#pages.set(after, await this.#read(after));
      this.error = undefined;
      this.#reading.delete(after);
      const [oldest] = this.#pages.keys();
      if (this.#pages.size > MAX_PAGES && oldest !== undefined) this.#pages.delete(oldest);
    } catch (error) {
      // It is not read again for each row that is drawn.
      this.error = error;
      setTimeout(() => this.#reading.delete(after), 2_000);
    }
    this.#onRead();
  }
}
