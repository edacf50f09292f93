/**
 * States of runs as `snapshot` events, for readers that do not want the past. An event of a log is folded once, however many
 * readers ask:
 *   V1  the view of a live run is kept and goes on where it stands; readers that ask at the same time share the work.
 *   V2  of ended runs the last snapshots are kept, bounded in number and bytes; the state of an ended run no longer changes.
 *   V3  a run that was deleted is not answered from here, nor is a new one that has its id.
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
import { isEnded } from "../runs/index.ts";

/** Ended runs whose snapshot is kept: as many as people look at in a day. */
const MAX_ENDED = 64;
/** Bytes of these snapshots together: four of the largest. */
const MAX_ENDED_BYTES = 4 * EVENT_LIMITS.snapshotBytes;

/** Where runs are. */
export interface RunsSource {
  readonly journal: Pick<Journal, "read">;
  /** What is known of a run; null when there is none, or none any more. */
  summary(runId: string): Pick<RunSummary, "createdAt" | "lastSeq" | "status"> | null;
}

/** Answers the state of a run as one event, without its summary: that always follows. */
export interface RunViews {
  /**
   * Undefined for a run without events, and for a state that is too large for an event: then the reader gets the log itself.
   */
  snapshot(source: RunsSource, runId: string): Promise<StoredEvent | undefined>;
}

/** The view of a run that was live when somebody last asked. */
interface LiveRun {
  readonly createdAt: string;
  view: RunView;
  /** Made of the view as it is. */
  made: Ended | null;
  /** Who asks waits for who asked before. */
  turn: Promise<unknown>;
}

/** A snapshot of an ended run; undefined: it is too large. */
interface Ended {
  readonly createdAt: string;
  readonly seq: number;
  readonly event: StoredEvent | undefined;
}

/** The views of one server. */
export function createRunViews(): RunViews {
  const live = new Map<string, LiveRun>();
  const ended = new Map<string, Ended>(); // the one that was asked for last at the end
  let endedBytes = 0;

  function forget(runId: string): void {
    endedBytes -= ended.get(runId)?.event?.line.byteLength ?? 0;
    ended.delete(runId);
  }

  function keep(runId: string, snapshot: Ended): void {
    forget(runId);
    ended.set(runId, snapshot);
    endedBytes += snapshot.event?.line.byteLength ?? 0;
    for (const [oldest] of ended) {
      if (ended.size <= MAX_ENDED && endedBytes <= MAX_ENDED_BYTES) break;
      forget(oldest);
    }
  }

  /** The kept view of a run, or a new one. Those that nobody asked for since their run ended are dropped. */
  function liveRun(source: RunsSource, runId: string, createdAt: string): LiveRun {
    const known = live.get(runId);
    if (known?.createdAt === createdAt) return known;
    for (const id of live.keys()) {
      const { status = "succeeded" } = source.summary(id) ?? {};
      if (isEnded(status)) live.delete(id);
    }
    const made = { createdAt, view: createView(runId), made: null, turn: Promise.resolve() };
    live.set(runId, made);
    return made;
  }

  async function answer(
    source: RunsSource,
    runId: string,
    run: LiveRun,
  ): Promise<StoredEvent | undefined> {
    const summary = source.summary(runId);
    if (summary?.createdAt !== run.createdAt) return undefined; // it was deleted meanwhile
    const isOver = isEnded(summary.status);
    const seq = isOver ? summary.lastSeq - 1 : summary.lastSeq;
    if (run.view.seq > seq) run.view = createView(runId); // the summary was in it already
    await foldTo(source.journal, run.view, seq);
    if (run.made?.seq !== run.view.seq) {
      run.made = { createdAt: run.createdAt, seq: run.view.seq, event: eventOf(run.view) };
    }
    if (isOver) {
      keep(runId, run.made);
      if (live.get(runId) === run) live.delete(runId);
    }
    return run.made.event;
  }

  return {
    async snapshot(source, runId) {
      const summary = source.summary(runId);
      if (summary === null) return undefined;
      const known = ended.get(runId);
      if (known?.createdAt === summary.createdAt && known.seq === summary.lastSeq - 1) {
        keep(runId, known);
        return known.event;
      }
      const run = liveRun(source, runId, summary.createdAt);
      const next = run.turn.then(() => answer(source, runId, run));
      run.turn = next.catch(() => undefined); // whoever asked learns of it; the next one tries again
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

function eventOf(view: RunView): StoredEvent | undefined {
  if (view.seq === 0) return undefined;
  const line = Buffer.from(serialiseEvent(makeSnapshot(view, view.updatedAt)));
  const isTooLarge = line.byteLength > EVENT_LIMITS.snapshotBytes;
  return isTooLarge ? undefined : { seq: view.seq, kind: "snapshot", line };
}
