/**
 * How much of the past is kept in memory.
 *   K1  What goes is what ended longest ago.
 *   K2  What ended last stays whatever its size, and so does what somebody still reads.
 */
import type { RunRecord } from "./record.ts";

/** Ended runs kept for `get`, `list` and `attach`; enough to look back over a working day of a small server. */
const MAX_RUNS = 1_000;
/** Bytes of their logs kept in all. */
const MAX_BYTES = 64 * 1_024 * 1_024;

export class Retention {
  readonly #forget: (runId: string) => void;
  /** In the order of their end. */
  readonly #ended = new Set<RunRecord>();
  #newest: RunRecord | undefined;
  #bytes = 0;

  /** `forget` is told which run goes. */
  constructor(forget: (runId: string) => void) {
    this.#forget = forget;
  }

  /** Counts a run that has ended. */
  add(record: RunRecord): void {
    this.#ended.add(record);
    this.#newest = record;
    this.#bytes += record.bytes;
    this.trim();
  }

  /** Takes a run off the books without forgetting it. */
  remove(record: RunRecord): void {
    if (this.#ended.delete(record)) this.#bytes -= record.bytes;
  }

  /** Forgets what is too much; to be called again when a reader has left. */
  trim(): void {
    for (const record of this.#ended) {
      if (this.#ended.size <= MAX_RUNS && this.#bytes <= MAX_BYTES) return;
      if (record === this.#newest || record.log.readers > 0) continue;
      this.remove(record);
      this.#forget(record.runId);
    }
  }
}
