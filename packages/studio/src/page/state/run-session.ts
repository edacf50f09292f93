/**
 * One run that is open in the page: its log as it streams, folded into the state and the spans of the run.
 *   S1  The view and the trace are folds of the log by `foldEvents` and `foldTrace`; nothing else decides a state.
 *   S2  One stream is open while the run goes on and the page is in use. Closing a session leaves the run alone.
 *   S3  Readers are told at most once a frame, and not at all while the page is hidden.
 */
import {
  createTrace,
  createView,
  type ExecutionEvent,
  type FlowGraph,
  foldEvents,
  foldTrace,
  makeSnapshot,
  type Run,
  type RunView,
  type Snapshot,
  type Trace,
} from "@millrace/contracts";
import { sleep } from "@millrace/contracts/kit";
import { batch, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Backend, isUnauthorised, isUnreachable } from "../backend.ts";
import { EventLog, MAX_EVENTS, nodeOf } from "./event-log.ts";
import { isActive } from "./visibility.ts";

/** Pause before what could not be read is read again, in milliseconds. */
const AGAIN_MS = 2_000;
/** Events that one page of the server holds at most. */
const PAGE = 200;
/** Pages that are asked for at the same time. */
const PAGES_AT_ONCE = 4;
/** Events of the server between two views that are kept: a long run has some dozens of them. */
const MARK_EVERY = 10_000;

/** Dependencies of a session; tests supply their own. */
export interface SessionOptions {
  readonly backend: Pick<Backend, "invoke" | "runEvents">;
  /** Calls back before the next frame is painted. Default: `requestAnimationFrame`. */
  readonly onFrame?: (callback: () => void) => void;
}

/** A run that is open. */
export interface RunSession {
  readonly runId: string;
  /** The run as the server stores it; undefined: not read yet. Read again when the run ends. */
  readonly run: ReadonlySignal<Run | undefined>;
  /** The graph that the run executes. */
  readonly graph: ReadonlySignal<FlowGraph | undefined>;
  /** Why the run cannot be read, such as `not_found`. */
  readonly error: ReadonlySignal<unknown>;
  /** The state of the run: read it after `revision`. */
  readonly view: RunView;
  /** The spans of the run: read them after `revision`. */
  readonly trace: Trace;
  readonly log: EventLog;
  /** Changes when the run has changed. */
  readonly revision: ReadonlySignal<number>;
  /** Changes when a node has changed. */
  ofNode(path: string): ReadonlySignal<number>;
  /** The state of the run after an event, also where the page does not have those before it. */
  viewAt(seq: number, signal: AbortSignal): Promise<RunView>;
  /** Up to 200 events after a position, as they are in the log of the server. */
  page(after: number): Promise<readonly ExecutionEvent[]>;
  /** Reads what the server says of the run again. */
  refresh(): Promise<void>;
  close(): void;
}

/** Opens a run. */
export function openRun(runId: string, { backend, onFrame }: SessionOptions): RunSession {
  const run = signal<Run | undefined>(undefined);
  const graph = signal<FlowGraph | undefined>(undefined);
  const error = signal<unknown>(undefined);
  const revision = signal(0);
  const nodes = new Map<string, Signal<number>>();
  const touched = new Set<string>();
  const view = createView(runId);
  const trace = createTrace(runId);
  const log = new EventLog();
  const closed = new AbortController();
  const nextFrame = onFrame ?? ((callback) => void requestAnimationFrame(callback));
  let isRaising = false;

  function take(event: ExecutionEvent): void {
    foldEvents(view, event);
    foldTrace(trace, event);
    log.push(event);
    const node = nodeOf(event);
    if (node !== undefined) touched.add(node);
    if (event.kind === "snapshot") for (const path of nodes.keys()) touched.add(path);
    if (isRaising) return;
    isRaising = true;
    nextFrame(raise);
  }

  function raise(): void {
    isRaising = false;
    if (closed.signal.aborted) return;
    batch(() => {
      revision.value += 1;
      for (const path of touched) {
        const known = nodes.get(path);
        if (known !== undefined) known.value += 1;
      }
    });
    touched.clear();
  }

  async function refresh(): Promise<void> {
    run.value = await backend.invoke("get_run", { runId });
  }

  async function readGraph(): Promise<void> {
    graph.value = await backend.invoke("get_run_graph", { runId });
  }

  /** Reads until the run has ended, or `signal` says to stop. */
  async function follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await Promise.all([
          run.peek() === undefined && refresh(),
          graph.peek() === undefined && readGraph(),
        ]);
        error.value = undefined;
        const isLong = view.seq === 0 && (run.peek()?.lastSeq ?? 0) > MAX_EVENTS;
        const from = isLong ? { snapshot: true } : { after: view.seq };
        for await (const event of backend.runEvents(runId, { ...from, signal })) take(event);
        await refresh();
        return;
      } catch (failure) {
        if (signal.aborted || isUnauthorised.peek()) return;
        error.value = failure;
        if (!isUnreachable(failure)) return;
      }
      await sleep(AGAIN_MS, signal).catch(() => {});
    }
  }

  const stopFollowing = effect(() => {
    if (!isActive.value || isUnauthorised.value) return undefined;
    const stop = new AbortController();
    void follow(AbortSignal.any([stop.signal, closed.signal]));
    return () => stop.abort();
  });

  async function page(after: number): Promise<readonly ExecutionEvent[]> {
    const { items } = await backend.invoke("get_run_events", { runId, after, limit: PAGE });
    return items as readonly ExecutionEvent[];
  }

  const past = createPast(page);

  return {
    runId,
    run,
    graph,
    error,
    view,
    trace,
    log,
    revision,
    ofNode(path) {
      let known = nodes.get(path);
      if (known === undefined) {
        known = signal(0);
        nodes.set(path, known);
      }
      return known;
    },
    viewAt: async (seq, stop) => log.viewAt(seq) ?? (await past(seq, stop)),
    page,
    refresh,
    close() {
      closed.abort();
      stopFollowing();
    },
  };
}

/** Folds the log of the server from its beginning. Views that it passes are kept, so that going back a little does not begin again. */
function createPast(
  page: (after: number) => Promise<readonly ExecutionEvent[]>,
): (seq: number, signal: AbortSignal) => Promise<RunView> {
  const marks = new Map<number, Snapshot>();
  return async (seq, signal) => {
    const view = createView();
    const from = [...marks.keys()].filter((mark) => mark <= seq);
    const mark = marks.get(Math.max(...from));
    if (mark !== undefined) foldEvents(view, mark);
    while (view.seq < seq) {
      const before = view.seq;
      const starts = Array.from({ length: PAGES_AT_ONCE }, (_, at) => before + at * PAGE);
      const pages = await Promise.all(starts.filter((start) => start < seq).map(page));
      signal.throwIfAborted();
      for (const event of pages.flat()) if (event.seq <= seq) foldEvents(view, event);
      if (view.seq === before) break; // the log is shorter than it was said to be
      const place = Math.floor(view.seq / MARK_EVERY);
      if (place > Math.floor(before / MARK_EVERY)) {
        marks.set(view.seq, makeSnapshot(view, view.updatedAt));
      }
    }
    return view;
  };
}
