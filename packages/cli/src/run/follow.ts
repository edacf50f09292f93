/**
 * A run from its first event to the summary that ends the command.
 *   D1  Every event goes to the display and to `--events`, in order, and to nothing else.
 *   D2  The last event is a summary: the run's, or a parting one where the run outlives what can be shown of it.
 */

import { ClientError } from "@millrace/client";
import {
  type CancelReason,
  createView,
  type ExecutionEvent,
  exitCodeFor,
  type FlowGraph,
  foldEvents,
  makeSummary,
  type RunView,
  type Summary,
} from "@millrace/contracts";
import { whenAborted } from "@millrace/contracts/kit";
import { toCliError } from "../api/errors.ts";
import type { CommandIo } from "../argv/spec.ts";
import { formatDuration } from "../argv/values.ts";
import { CliError } from "../errors.ts";
import { createDisplay, type Display } from "../output/create-display.ts";
import type { DebugLines } from "../output/debug-lines.ts";
import type { EventFile } from "./event-file.ts";
import type { LiveRun, Question } from "./live-run.ts";
import { createPrompter } from "./prompter.ts";

/** How a run is shown and stopped. */
export interface FollowOptions {
  readonly graph: FlowGraph;
  readonly graceMs: number;
  readonly io: CommandIo;
  readonly tee?: EventFile | undefined;
  /** Shows nothing: the answer that was asked for is told already. */
  readonly silent?: boolean;
  /** Whether the run goes on when the reader of stdout leaves. */
  readonly survives?: boolean;
  /** Lines of `--verbose`, which go where the run is shown. */
  readonly debug?: DebugLines | undefined;
  /** Events up to this `seq` are known to a person already: they are folded, and shown only as lines of `--json`. */
  readonly known?: number;
}

/** Follows the run to its end and answers the summary that was shown last. Throws what keeps the run from beginning. */
export async function followRun(run: LiveRun, options: FollowOptions): Promise<Summary> {
  const { graph, io, tee, silent = false, known = 0, debug } = options;
  const view = createView(run.id);
  const display = silent ? SILENT : await createDisplay(graph, view, io);
  const before = debug?.say;
  if (debug !== undefined) debug.say = display.say;
  const stopping = stopOn(run, options, (line) => {
    if (io.json === undefined && io.verbosity !== "quiet") display.say(line);
  });
  const unwatch = run.watchRoom?.((isFull) => display.say(isFull ? FULL : ROOM_AGAIN));
  const prompter = io.interactive ? createPrompter(run, io, display.say) : undefined;

  async function take(events: readonly ExecutionEvent[]): Promise<void> {
    for (const event of events) foldEvents(view, event);
    await show(events);
  }

  async function show(events: readonly ExecutionEvent[]): Promise<void> {
    await tee?.write(events);
    const fresh = io.json === undefined ? events.filter(({ seq }) => seq > known) : events;
    if (fresh.length > 0) await display.show(fresh);
  }

  async function part(error: PartingError, reason?: CancelReason) {
    const summary = partingSummary(view, { ...error, reason }, io.now());
    await (reason === undefined ? take([summary]) : show([summary])); // a paused run is shown as it stands
    return summary;
  }

  /** The end of the events of a run that has not ended. */
  async function leftHere(): Promise<Summary> {
    const reason = stopping.pausedBy;
    if (reason === undefined) return part(left(run));
    if (view.seq === 0) throw new CliError("cancelled", `ended by ${reason} before the run began`);
    const message = `stopped by ${reason}; millrace resume ${run.id} goes on from there`;
    return part({ code: "paused", message }, reason);
  }

  async function follow(): Promise<Summary> {
    const pages = run.events();
    const nobody = run.parked.then((question) => nextTick().then(() => question));
    const orElse = raceAgainst<Question | "gone">(nobody, readerGone(options));
    try {
      for (let next = pages.next(); ; next = pages.next()) {
        const page = await orElse(next);
        if (page === "gone") return await part(LEFT_ALONE);
        if ("prompt" in page) {
          const message = `"${page.node}" waits for a person, and nobody can be asked here; ${run.nextSteps(page.node)}`;
          return await part({ code: "confirmation_required", message });
        }
        if (page.done) return await leftHere();
        await take(page.value);
        const last = page.value.at(-1);
        if (last?.kind === "summary") return last;
      }
    } catch (error) {
      if (!ClientError.isInstance(error)) throw error;
      if (stopping.pausedBy !== undefined) return await leftHere();
      const end = toCliError(error) as CliError;
      // Refused before it began: that is no run.
      const isRefused = !error.retryable || error.code === "too_many_runs";
      if (view.seq === 0 && isRefused) throw error;
      const again = run.again === undefined ? "" : `; ${run.again} goes on from there`;
      return await part({ code: end.code, message: end.message + again });
    } finally {
      run.leave();
    }
  }

  try {
    const summary = await follow();
    await display.end(summary);
    const isPaused = summary.error?.code === "paused";
    const hasWork = summary.status === "cancelled" && summary.counts.succeeded > 0;
    const next = isPaused ? `millrace resume ${run.id}` : hasWork ? run.retry : undefined;
    if (next !== undefined) await io.err.write(`next: ${next}\n`);
    return summary;
  } catch (error) {
    await display.end();
    throw error;
  } finally {
    prompter?.close();
    unwatch?.();
    stopping.ignore();
    if (debug !== undefined && before !== undefined) debug.say = before;
  }
}

const FULL = "the disk is full: the run waits for room and starts nothing new; free some space";
const ROOM_AGAIN = "there is room on the disk again: the run goes on";
const SILENT: Display = { show: async () => {}, say() {}, end: async () => {} };

/** Written to `--events` alone. */
const LEFT_ALONE = { code: "unavailable", message: "the reader has left; the run goes on" };

/** Resolves when stdout is closed and the run goes on. */
function readerGone({ io, survives = false }: FollowOptions): Promise<"gone"> {
  return new Promise((resolve) => {
    if (io.json !== undefined && survives) io.out.onClose(() => resolve("gone"));
  });
}

/** The events ended, and the run had not. */
function left(run: LiveRun): { readonly code: string; readonly message: string } {
  if (run.again === undefined) throw new Error("the event stream ended without a summary");
  return {
    code: "unavailable",
    message: `nobody works on the run ${run.id} any more; ${run.again}`,
  };
}

/** Why a stream ends before its run. */
interface PartingError {
  readonly code: string;
  readonly message: string;
}

/**
 * The end of a stream whose run goes on elsewhere, later, or nowhere. It is no event of the run: whoever reads on drops it. `reason`:
 * what has paused the run; it decides the exit code.
 * @see the events page, "Parting summary"
 */
function partingSummary(
  view: RunView,
  { code, message, reason }: PartingError & { readonly reason: CancelReason | undefined },
  now: number,
): Summary {
  const ts = Math.max(view.updatedAt, now);
  const status = reason === undefined ? "failed" : "cancelled";
  const payload = makeSummary(view, { status, ts, error: { code, message, retryable: false } });
  const exitCode = exitCodeFor(payload, reason);
  return { v: 1, kind: "summary", runId: view.runId, seq: view.seq + 1, ts, ...payload, exitCode };
}

/** The listeners that stop a run from outside. */
interface Stopping {
  /** Reason of the pause; undefined: the run is not paused. */
  readonly pausedBy: CancelReason | undefined;
  ignore(): void;
}

/**
 * Stops the run on a signal, and when the reader of stdout leaves under `--json`, unless the run survives that. A run that is kept
 * is paused, any other is cancelled.
 */
function stopOn(
  run: LiveRun,
  { io, graceMs, survives = false }: FollowOptions,
  say: (line: string) => void,
): Stopping {
  let pausedBy: CancelReason | undefined;
  const stop = (reason: CancelReason, mayPause: boolean): void => {
    if (run.pause === undefined || !mayPause) run.cancel(reason, graceMs);
    else if (pausedBy === undefined) {
      pausedBy = reason;
      run.pause(graceMs).catch(() => run.leave());
    }
  };
  const onSignal = (): void => {
    const again = io.signal.reason === "sigint" ? "; press Ctrl-C again to stop now" : "";
    if (io.signal.reason === "change") stop("sigint", false);
    else {
      stop(io.signal.reason === "sigterm" ? "sigterm" : "sigint", true);
      const grace = formatDuration(graceMs);
      say(
        pausedBy === undefined
          ? `cancelling: steps at work have ${grace} to stop${again}`
          : `pausing: steps with effects have ${grace} to end${again}`,
      );
    }
  };
  const ignore = whenAborted(io.signal, onSignal);
  if (io.json !== undefined && !survives) io.out.onClose(() => stop("disconnect", true));
  return {
    get pausedBy() {
      return pausedBy;
    },
    ignore,
  };
}

/** `Promise.race` of the work and long-lived events, without a reaction on those for each call: that would retain every page. */
function raceAgainst<T>(...events: readonly Promise<T>[]): <W>(work: Promise<W>) => Promise<W | T> {
  let first: Promise<T> | undefined;
  let tell: (event: Promise<T>) => void = () => {};
  for (const event of events) {
    void event.then(() => {
      first ??= event;
      tell(first);
    });
  }
  return <W>(work: Promise<W>) =>
    new Promise<W | T>((resolve, reject) => {
      tell = resolve;
      work.then(resolve, reject);
      if (first !== undefined) resolve(first);
    });
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
