/** Journals as they are when a process dies after any of its writes. */
import type { Journal } from "@millrace/contracts";

/** One moment at which the process could have died. */
export interface Cut {
  /** Number of the last write that is there. */
  readonly at: number;
  /** A journal with the writes up to that point, whose run has no owner. */
  open(): Promise<Journal>;
}

type Write = (journal: Journal) => Promise<unknown>;

/** A journal that remembers its writes; `cuts` are the moments between the first event and the last write. */
export function recordingJournal(make: () => Journal): {
  readonly journal: Journal;
  cuts(runId: string): readonly Cut[];
} {
  const inner = make();
  const writes: Write[] = [];
  const record = <T>(write: (journal: Journal) => Promise<T>): Promise<T> => {
    writes.push(write);
    return write(inner);
  };
  return {
    journal: {
      read: (runId, after) => inner.read(runId, after),
      getValue: (runId, ref) => inner.getValue(runId, ref),
      load: (runId, options) => inner.load(runId, options),
      lease: (...args) => inner.lease(...args),
      release: (...args) => inner.release(...args),
      create: (header) => record((journal) => journal.create(header)),
      append: (...args) => record((journal) => journal.append(...args)),
      putValue: (...args) => record((journal) => journal.putValue(...args)),
    },
    cuts: (runId) =>
      writes.slice(2).map((_, index) => ({
        at: index + 2,
        async open() {
          const journal = make();
          for (const write of writes.slice(0, index + 2)) await write(journal);
          await journal.release(runId, 1);
          return journal;
        },
      })),
  };
}
