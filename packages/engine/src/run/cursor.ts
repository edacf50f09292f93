/** One reader of a run: batches of events in order, from any place of the log, at the reader's pace. */
import {
  type AnyEvent,
  type ExecutionEvent,
  type Journal,
  type Kind,
  mergeDeltas,
  parseEvent,
} from "@millrace/contracts";
import type { EventLog } from "./event-log.ts";

const BATCH = 1_024; // events at once: enough to be cheap, few enough to be shown in one go
const HIGH_WATER = 256; // events pending from which on adjacent deltas are merged

/** Kinds that a filter never keeps back. */
const ALWAYS: ReadonlySet<string> = new Set([
  "run.started",
  "run.cancelling",
  "snapshot",
  "summary",
]);

const utf8 = new TextDecoder();

/**
 * Batches of events; `for await` ends after `summary`. Where none will come it throws what `Run.result` rejects with: `EngineError`
 * `journal_failed`, `lease_lost`, `run_exists`, or `engine_closed` after `close({ leave: true })`. `seq` is that of the last event handed over. A reader that is
 * later than the window reads on from the journal; without one it gets a `snapshot` in place of what it has missed.
 */
export interface EventCursor extends AsyncIterable<readonly ExecutionEvent[]> {
  readonly seq: number;
  /** Ends the iteration. */
  close(): void;
}

/** Where a cursor begins and what it shows. */
export interface BatchOptions {
  /** Start after this `seq`; default 0. */
  readonly after?: number;
  /** Only these kinds, and those that a reader cannot do without. */
  readonly kinds?: readonly Kind[];
  /**
   * Every event reaches this reader, also without a journal: when it is late, the run starts nothing until it has caught up. Default
   * false: a late reader gets a snapshot then, and slows nobody down.
   */
  readonly holds?: boolean;
}

/** A reader's place in the log of one run. */
export class Cursor implements EventCursor {
  seq: number;
  readonly #log: EventLog;
  readonly #journal: Journal | undefined;
  readonly #kinds: ReadonlySet<string> | null;
  readonly #now: () => number;
  #closed = false;
  #wake: (() => void) | null = null;

  constructor(
    log: EventLog,
    options: BatchOptions,
    ports: { journal: Journal | undefined; now: () => number },
  ) {
    this.#log = log;
    this.seq = Math.max(0, Math.floor(options.after ?? 0) || 0); // NaN and negative: from the start
    this.#kinds = options.kinds === undefined ? null : new Set([...options.kinds, ...ALWAYS]);
    this.#journal = ports.journal;
    this.#now = ports.now;
    if (options.holds === true && ports.journal === undefined) log.hold(this);
  }

  close(): void {
    this.#closed = true;
    this.#log.letGo(this);
    this.#wake?.();
    this.#wake = null;
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly ExecutionEvent[]> {
    return {
      next: () => this.#next(),
      return: () => {
        this.close();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  async #next(): Promise<IteratorResult<readonly ExecutionEvent[]>> {
    for (;;) {
      if (this.#closed) return { done: true, value: undefined };
      const log = this.#log;
      if (this.seq >= log.published) {
        if (log.ended) return this.#end(log);
        await new Promise<void>((wake) => {
          this.#wake = wake;
          log.onPublish(wake);
        });
        continue;
      }
      const batch = this.#kept(await this.#read());
      if (batch.length > 0 && !this.#closed) return { done: false, value: batch };
    }
  }

  /** A run that stopped without a summary is no run that ended. */
  #end({ lost }: EventLog): IteratorResult<readonly ExecutionEvent[]> {
    if (lost !== null) throw lost;
    return { done: true, value: undefined };
  }

  async #read(): Promise<readonly ExecutionEvent[]> {
    const log = this.#log;
    if (this.seq + 1 >= log.first) {
      const events = log.read(this.seq + 1, BATCH);
      this.seq += events.length;
      log.caughtUp();
      return log.hasDeltas && events.length > HIGH_WATER ? merged(events) : events;
    }
    if (this.#journal !== undefined) return this.#readJournal(this.#journal);
    const snapshot = log.snapshot(this.#now());
    this.seq = snapshot.seq;
    return [snapshot];
  }

  /** The next page of the journal. */
  async #readJournal(journal: Journal): Promise<readonly ExecutionEvent[]> {
    for await (const page of journal.read(this.#log.runId, this.seq)) {
      const events = page.map(({ line }): AnyEvent => parseEvent(utf8.decode(line)));
      this.seq = events.at(-1)?.seq ?? this.seq;
      if (events.length > 0) return events as readonly ExecutionEvent[];
    }
    return [];
  }

  #kept(events: readonly ExecutionEvent[]): readonly ExecutionEvent[] {
    const kinds = this.#kinds;
    return kinds === null ? events : events.filter(({ kind }) => kinds.has(kind));
  }
}

/** Adjacent deltas of one call as one event, for a reader that is behind. */
function merged(events: readonly ExecutionEvent[]): readonly ExecutionEvent[] {
  const out: ExecutionEvent[] = [];
  for (const event of events) {
    const last = out.at(-1);
    const one =
      last?.kind === "llm.delta" && event.kind === "llm.delta" ? mergeDeltas(last, event) : null;
    if (one === null) out.push(event);
    else out[out.length - 1] = one;
  }
  return out;
}
