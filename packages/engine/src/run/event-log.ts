/**
 * The events of one run in memory, and their readers.
 *   E1  `seq` is 1, 2, 3 … without a gap; nothing follows `summary`.
 *   E2  a reader sees an event only when it is published: at the end of a drain, with a journal once it is stored.
 *   E3  the window holds the latest events, and all that a reader that holds the run has not read; what leaves it is kept for a
 *       snapshot, and folded when it grows beyond what its fold would take.
 */
import {
  type AnyEvent,
  createView,
  type ExecutionEvent,
  foldEvents,
  type Journal,
  type Kind,
  makeSnapshot,
  mergeDeltas,
  parseEvent,
  type RunView,
  type Snapshot,
  viewFromJson,
  viewToJson,
} from "@millrace/contracts";
import { listOf } from "@millrace/contracts/kit";
import type { EngineError } from "../errors.ts";

const WINDOW_EVENTS = 10_000; // a reader that is late by a screenful of work still reads every event
const WINDOW_BYTES = 8_388_608;
const EVENT_BYTES = 250; // an event without a value, as objects of the platform
const LIGHT_BYTES = 1_024; // values below count as nothing: ten thousand of them are the same 10 MB as the events
const HELD_EVENTS = 4_096; // that a reader which holds the run may be late by before nothing starts
const TRIM_STEP = 1_024; // events that leave at once: moving the rest is paid once for all of them

const NOTHING_COLD: (readonly ExecutionEvent[])[] = [];
const NOBODY: (() => void)[] = []; // shared; never changed

/** Who wakes readers with the next macrotask. */
interface Wakes {
  wakeReaders(log: EventLog): void;
  readersAwake(log: EventLog): void;
}

/** Events of a run, in order, and the readers that follow them. */
export class EventLog {
  readonly runId: string;
  /** Last event made. */
  seq = 0;
  /** Last event that readers may see. */
  published = 0;
  /** The summary is published. */
  ended = false;
  /** Why no summary comes; null: one is or will be there. */
  lost: EngineError | null = null;
  /** Some event is an `llm.delta`, which a late reader gets merged. */
  hasDeltas = false;
  #events: ExecutionEvent[] = listOf();
  /** `seq` of the first event of the window. */
  #first = 1;
  #bytes = 0;
  #sizes: number[] | null = null;
  /** Fold of the oldest events, then those that left the window since. */
  #before: RunView | null = null;
  #cold: (readonly ExecutionEvent[])[] = NOTHING_COLD;
  #coldSize = 0;
  readonly #mostCold: number;
  #waiting: (() => void)[] = NOBODY;
  #isWaking = false;
  /** `seq` from which there is more to do when something is published than to say so; 0: now. */
  #dueAt = 0;
  readonly #engine: Wakes;
  /** Readers that the run waits for. */
  #holding: Set<{ readonly seq: number }> | null = null;
  /** Called when the slowest of them has caught up. */
  onCaughtUp: (() => void) | null = null;

  /** `nodeCount`: nodes of the flow itself, which a fold never forgets. */
  constructor(runId: string, nodeCount: number, engine: Wakes) {
    this.runId = runId;
    this.#mostCold = 2 * nodeCount + WINDOW_EVENTS; // two events of a node are as large as its view
    this.#engine = engine;
  }

  /** Goes on after a log that is in the journal; `view` is its fold. */
  continueFrom(view: RunView): void {
    this.seq = view.seq;
    this.published = view.seq;
    this.#first = view.seq + 1;
    this.#before = view;
  }

  /** `seq` of the oldest event that is still here. */
  get first(): number {
    return this.#first;
  }

  /** Adds an event whose `seq` is the next: only now is the number taken. `bytes` is the size of the value it carries. */
  append(event: ExecutionEvent, bytes: number): void {
    this.#events[this.#events.length] = event; // `push` is a call here: the list is one of numbers while it is empty
    this.seq += 1;
    if (bytes > LIGHT_BYTES) this.#weigh(bytes);
  }

  /** Events that are made and not published, `to` the last of them. */
  unpublished(from: number, to: number): readonly ExecutionEvent[] {
    return this.#events.slice(from - this.#first, to + 1 - this.#first);
  }

  /** Gives back the room for future events: none is expected for a while. */
  rest(): void {
    this.#events = this.#events.slice();
  }

  /** Lets readers see everything up to `seq`. */
  publish(seq: number, ended: boolean): void {
    if (seq === this.published && ended === this.ended) return;
    this.published = seq;
    this.ended = ended;
    if (ended || this.seq >= this.#dueAt) this.#attend(ended);
  }

  /** Wakes the waiting readers, and drops events beyond the window. */
  #attend(ended: boolean): void {
    if (this.#waiting.length > 0) this.#wake(ended);
    if (this.#events.length >= WINDOW_EVENTS + TRIM_STEP || this.#bytes > WINDOW_BYTES)
      this.#trim();
    const isFull = this.#bytes > WINDOW_BYTES;
    this.#dueAt = isFull ? 0 : this.#first + WINDOW_EVENTS + TRIM_STEP - 1;
  }

  /** The run stops here without a summary: readers get what was published, and then `error`. */
  abandon(error: EngineError): void {
    this.lost = error;
    this.ended = true;
    this.wakeNow();
  }

  /** Published events from `seq` on, at most `max`. `seq` must be in the window. */
  read(seq: number, max: number): readonly ExecutionEvent[] {
    const start = seq - this.#first;
    const end = Math.min(this.published + 1 - this.#first, start + max);
    return this.#events.slice(start, end);
  }

  /** From now on nothing leaves the window before this reader has it. */
  hold(reader: { readonly seq: number }): void {
    this.#holding ??= new Set();
    this.#holding.add(reader);
  }

  letGo(reader: { readonly seq: number }): void {
    if (this.#holding?.delete(reader) === true) this.caughtUp();
  }

  /** A reader holds the run, late or not. */
  get isHeld(): boolean {
    return this.#holding !== null;
  }

  /** A reader that holds the run is late: the run waits, and says so once to `onCaughtUp`. */
  isAwaited(): boolean {
    if (this.#holding === null || this.#holding.size === 0) return false;
    const late = this.seq - this.#slowest();
    return late > HELD_EVENTS || (late > 1 && this.#bytes > WINDOW_BYTES);
  }

  /** A reader has read on, or has left. */
  caughtUp(): void {
    if (this.onCaughtUp === null || this.isAwaited()) return;
    const tell = this.onCaughtUp;
    this.onCaughtUp = null;
    tell();
  }

  #slowest(): number {
    let seq = this.seq;
    for (const reader of this.#holding ?? []) seq = Math.min(seq, reader.seq);
    return seq;
  }

  /** Calls `fn` once something was published. */
  onPublish(fn: () => void): void {
    if (!this.#isWaking) this.#dueAt = 0;
    if (this.#waiting === NOBODY) this.#waiting = [fn];
    else this.#waiting.push(fn);
  }

  /** The state of the run as a reader would fold it, up to the last published event but the summary. */
  snapshot(ts: number): Snapshot {
    const view =
      this.#before === null ? createView(this.runId) : viewFromJson(viewToJson(this.#before));
    for (const part of [...this.#cold, this.read(this.#first, this.published)]) {
      for (const event of part) if (event.kind !== "summary") foldEvents(view, event);
    }
    return makeSnapshot(view, ts);
  }

  /** Readers of a living run come with the next macrotask, so that a burst reaches them as one batch. */
  #wake(now: boolean): void {
    if (now) this.wakeNow();
    else if (!this.#isWaking) {
      this.#isWaking = true;
      this.#engine.wakeReaders(this);
    }
  }

  /** Wakes every reader that waits. */
  wakeNow(): void {
    if (this.#isWaking) this.#engine.readersAwake(this);
    this.#isWaking = false;
    const waiting = this.#waiting;
    this.#waiting = NOBODY;
    for (const fn of waiting) fn();
  }

  #weigh(bytes: number): void {
    if (this.#sizes === null) this.#sizes = [];
    this.#sizes[this.#events.length - 1] = bytes;
    this.#bytes += bytes + EVENT_BYTES;
    if (this.#bytes > WINDOW_BYTES) this.#dueAt = 0;
  }

  #trim(): void {
    const unread = this.seq - this.published;
    const awaited = this.seq - Math.min(this.published, this.#slowest());
    const most = Math.max(0, this.#events.length - Math.max(unread + 1, awaited)); // the last one stays, it may be the summary
    let drop = Math.max(0, Math.min(most, this.#events.length - WINDOW_EVENTS));
    let freed = 0;
    for (let i = 0; i < drop; i += 1) freed += this.#sizeAt(i);
    while (drop < most && this.#bytes - freed > WINDOW_BYTES / 2) {
      freed += this.#sizeAt(drop);
      drop += 1;
    }
    if (drop === 0) return;
    this.#keepCold(this.#events.splice(0, drop));
    this.#sizes?.splice(0, drop);
    this.#bytes -= freed;
    this.#first += drop;
  }

  #keepCold(events: readonly ExecutionEvent[]): void {
    if (this.#cold === NOTHING_COLD) this.#cold = [];
    this.#cold.push(events);
    this.#coldSize += events.length;
    if (this.#coldSize <= this.#mostCold) return;
    this.#before ??= createView(this.runId);
    for (const part of this.#cold) for (const event of part) foldEvents(this.#before, event);
    this.#cold = [];
    this.#coldSize = 0;
  }

  #sizeAt(i: number): number {
    const bytes = this.#sizes?.[i];
    return bytes === undefined ? 0 : bytes + EVENT_BYTES;
  }
}

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
 * `journal_failed`, `lease_lost`, `run_exists`, `run_left`, or `engine_closed` after `close({ leave: true })`. `seq` is that of the last event handed over. A reader that is
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
