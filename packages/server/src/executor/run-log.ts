/**
 * The newest part of one run's log, shared by all of its readers. A reader is a position: it reads newer
 * events here and older ones from the journal, so a slow reader loses nothing and costs no memory.
 *   R1  Readers see events in `seq` order, each once.
 *   R2  Readers at one position get the same page, the object itself, so that what is made of it is made once for all of them.
 *   R3  A reader ends after the last event of an ended log, or when its signal is aborted.
 */
import {
  type AbortSignalLike,
  type AnyEvent,
  type Journal,
  parseEvent,
  type StoredEvent,
} from "@millrace/contracts";
import { listOf } from "@millrace/contracts/kit";
import { PageReader, type ReadLog } from "./page-reader.ts";

/** Limits of the events of one run that are kept in memory, whichever is reached first. */
const WINDOW_EVENTS = 8_192;
const WINDOW_BYTES = 4 * 1_024 * 1_024;
const KEEP = 3 / 4;

/** Events handed to a reader at once; as many as a page of the journal. */
const PAGE_EVENTS = 512;
/** Cached pages: the newest ones, and those of a few readers that are behind. */
const KEPT_PAGES = 4;

/** An event without the event itself. No literal: ADR 0092. */
export class StoredLine implements StoredEvent {
  readonly seq: number;
  readonly kind: string;
  readonly line: Uint8Array;

  constructor({ seq, kind, line }: StoredEvent) {
    this.seq = seq;
    this.kind = kind;
    this.line = line;
  }
}

/** The log of one live run: its newest events in memory, all others in the journal. */
export class RunLog implements ReadLog {
  readonly #journal: Journal;
  readonly #runId: string;
  #window: StoredEvent[] = listOf();
  #windowBytes = 0;
  /** By the position they follow, the one that was made last at the end. */
  #pages: Map<number, readonly StoredEvent[]> | undefined;
  /** What was added last: the page of every reader that had all before. */
  #newest: readonly StoredEvent[] = [];
  #lastSeq: number;
  #ended = false;
  #readers: Set<PageReader> | undefined;
  #waiting: (() => void)[] = [];

  /** `lastSeq`: what the journal has of the run already. */
  constructor(journal: Journal, runId: string, lastSeq: number) {
    this.#journal = journal;
    this.#runId = runId;
    this.#lastSeq = lastSeq;
  }

  /** Position of the newest event; 0: there is none. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Adds events that the journal has taken, in order. The list is kept. */
  append(events: readonly StoredEvent[]): void {
    this.#newest = events;
    for (const event of events) {
      this.#window.push(event);
      this.#windowBytes += event.line.byteLength;
      this.#lastSeq = event.seq;
    }
    this.#trim();
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Pages from `after` + 1 on, then live ones. */
  read(after: number, signal?: AbortSignalLike): AsyncIterable<readonly StoredEvent[]> {
    return new PageReader(this, after, signal);
  }

  join(reader: PageReader): void {
    this.#readers ??= new Set();
    this.#readers.add(reader);
  }

  leave(reader: PageReader): void {
    this.#readers?.delete(reader);
  }

  /** Resolves when something was added, or nothing more follows. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async *older(
    after: number,
    signal: AbortSignalLike | undefined,
  ): AsyncGenerator<readonly StoredEvent[], void> {
    let at = after;
    for await (const page of this.#journal.read(this.#runId, after)) {
      if (signal?.aborted) break;
      at = page.at(-1)?.seq ?? at;
      yield page;
      if (this.page(at) !== undefined) break;
    }
  }

  page(after: number): readonly StoredEvent[] | undefined {
    const first = this.#window[0]?.seq;
    if (first === undefined || after < first - 1) return undefined;
    // Pages end at fixed places, so that readers that are behind can share them.
    const end = Math.min(this.#lastSeq, after - (after % PAGE_EVENTS) + PAGE_EVENTS);
    if (end === this.#lastSeq && end - after === this.#newest.length) return this.#newest;
    this.#pages ??= new Map();
    const known = this.#pages.get(after);
    if (known?.length === end - after) return known;
    const page = this.#window.slice(after - first + 1, end - first + 1);
    this.#pages.delete(after);
    this.#pages.set(after, page);
    const [oldest = after] = this.#pages.keys();
    if (this.#pages.size > KEPT_PAGES) this.#pages.delete(oldest);
    return page;
  }

  /** Drops down to three quarters at once, so that a full window is not moved at every append. */
  #trim(): void {
    const full = this.#window.length > WINDOW_EVENTS || this.#windowBytes > WINDOW_BYTES;
    if (!full) return;
    let drop = 0;
    while (
      this.#window.length - drop > 1 &&
      (this.#window.length - drop > WINDOW_EVENTS * KEEP || this.#windowBytes > WINDOW_BYTES * KEEP)
    ) {
      this.#windowBytes -= (this.#window[drop] as StoredEvent).line.byteLength;
      drop += 1;
    }
    this.#window.splice(0, drop);
    this.#pages?.clear();
  }

  #wake(): void {
    for (const reader of this.#readers ?? []) reader.wake();
    if (this.#waiting.length === 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

const decoder = new TextDecoder();

/** The event of a line. Throws `EventParseError` when the journal holds something else. */
export function decodeEvent(stored: StoredEvent): AnyEvent {
  return parseEvent(decoder.decode(stored.line));
}
