/**
 * States of runs as `snapshot` events, for readers that do not want the past. An event of a log is folded once, however many
 * readers ask:
 *   V1  the view of a live run is kept and goes on where it stands; readers that ask at the same time share the work.
 *   V2  the runs that were asked for last are kept, bounded in number and bytes; the state of an ended run no longer changes.
 *   V3  a run that was deleted is not answered from here, nor is a new one that has its id.
 *   V4  the state of an ended run is folded from the log as it was sealed: what that withholds was in the view of the live one.
 */
import {
  createView,
  EVENT_LIMITS,
  foldEvents,
  type Journal,
  makeSnapshot,
  type RunSummary,
  type RunView,
  type StoredEvent,
  serialiseEvent,
} from "@millrace/contracts";
import { decodeEvent } from "../executor/index.ts";
import { isEnded } from "./run-end.ts";

/** Runs that are kept: as many as people look at in a day. */
const MAX_RUNS = 64;
/** Bytes of their snapshots together: four of the largest. A view takes a few times the bytes of its snapshot. */
const MAX_BYTES = 4 * EVENT_LIMITS.snapshotBytes;

export interface RunsSource {
  readonly journal: Pick<Journal, "read">;
  /** The summary of a run; null when it is unknown or was deleted. */
  summary(runId: string): Promise<Pick<RunSummary, "createdAt" | "lastSeq" | "status"> | null>;
}

/** Answers the state of a run as one event, without its summary: that always follows. */
export interface RunViews {
  /**
   * Undefined for a run without events, and for a state that is too large for an event: then the reader gets the log itself.
   */
  snapshot(source: RunsSource, runId: string): Promise<StoredEvent | undefined>;
}

/** A run that somebody has asked for. */
interface KeptRun {
  readonly createdAt: string;
  /** Null: the run has ended, and `made` is all that is needed. */
  view: RunView | null;
  /** The last snapshot and its `seq`; without an event it is too large. */
  made: { readonly seq: number; readonly event: StoredEvent | undefined } | null;
  /** Bytes that it counts for. */
  bytes: number;
  /** Requests wait for earlier ones. */
  turn: Promise<unknown>;
}

/** The views of one server. */
export function createRunViews(): RunViews {
  const kept = new Map<string, KeptRun>(); // the one that was asked for last at the end
  let bytes = 0;

  function forget(runId: string): void {
    bytes -= kept.get(runId)?.bytes ?? 0;
    kept.delete(runId);
  }

  /** Puts a run last, and lets the first ones go. */
  function keep(runId: string, run: KeptRun): void {
    forget(runId);
    kept.set(runId, run);
    bytes += run.bytes;
    trim();
  }

  function trim(): void {
    for (const [oldest] of kept) {
      if (kept.size <= MAX_RUNS && bytes <= MAX_BYTES) break;
      forget(oldest);
    }
  }

  async function answer(
    source: RunsSource,
    runId: string,
    run: KeptRun,
  ): Promise<StoredEvent | undefined> {
    const summary = await source.summary(runId);
    if (summary?.createdAt !== run.createdAt) return undefined; // it was deleted meanwhile
    if (run.view === null) return run.made?.event;
    const isOver = isEnded(summary.status);
    const seq = isOver ? summary.lastSeq - 1 : summary.lastSeq;
    if (isOver) run.view = createView(runId);
    const { view } = run;
    await foldTo(source.journal, view, seq);
    if (isOver) run.view = null;
    else if (run.made?.seq === view.seq) return run.made.event;
    run.made = { seq: view.seq, event: eventOf(view) };
    const before = run.bytes;
    run.bytes = bytesOf(run);
    if (kept.get(runId) === run) bytes += run.bytes - before;
    trim();
    return run.made.event;
  }

  return {
    async snapshot(source, runId) {
      const summary = await source.summary(runId);
      if (summary === null) return undefined;
      const { createdAt } = summary;
      const known = kept.get(runId);
      const run =
        known?.createdAt === createdAt
          ? known
          : { createdAt, view: createView(runId), made: null, bytes: 0, turn: Promise.resolve() };
      keep(runId, run);
      const next = run.turn.then(() => answer(source, runId, run));
      run.turn = next.catch(() => undefined); // the caller gets the error; the next one tries again
      return await next;
    },
  };
}

/** Folds what the journal has after the view, up to `seq`. */
async function foldTo(journal: RunsSource["journal"], view: RunView, seq: number): Promise<void> {
  if (view.seq >= seq) return;
  for await (const page of journal.read(view.runId, view.seq)) {
    for (const stored of page) if (stored.seq <= seq) foldEvents(view, decodeEvent(stored));
    if ((page.at(-1)?.seq ?? seq) >= seq) return;
  }
}

/** A view that is too large for a snapshot counts like the largest one. */
function bytesOf({ view, made }: KeptRun): number {
  const isLarge = view !== null && view.seq > 0;
  return made?.event?.line.byteLength ?? (isLarge ? EVENT_LIMITS.snapshotBytes : 0);
}

function eventOf(view: RunView): StoredEvent | undefined {
  if (view.seq === 0) return undefined;
  const line = Buffer.from(serialiseEvent(makeSnapshot(view, view.updatedAt)));
  const isTooLarge = line.byteLength > EVENT_LIMITS.snapshotBytes;
  return isTooLarge ? undefined : { seq: view.seq, kind: "snapshot", line };
}
