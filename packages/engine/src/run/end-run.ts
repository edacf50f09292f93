/**
 * How a run ends: its summary, a cancel, or left without an end.
 *   L1  Nothing starts any more in a run that is left; what it has said is stored, and `resume` goes on from there.
 *   L2  A body at work whose repetition may do harm has the grace to end; any other is stopped at once, and repeated later.
 *   L3  A journal that takes nothing holds nobody up for longer than the grace and `FLUSH_MS`: what it has not taken is done again.
 */

import {
  EVENT_LIMITS,
  type Json,
  makeSummary,
  NO_USAGE,
  type RunEnd,
  type RunView,
  type SummaryStatus,
  type ValueRef,
} from "@millrace/contracts";
import type { EngineError } from "../errors.ts";
import { failureOf } from "../failures.ts";
import type { RunCancelOptions } from "../options.ts";
import { sizeOf } from "../values.ts";
import { mayRepeat } from "./attempt.ts";
import { emitCancelling, emitResumed, emitSummary } from "./emit.ts";
import { armGrace, closeAttempt, endRun } from "./end.ts";
import { skip } from "./flow.ts";
import { type Frame, PENDING, RUNNING } from "./frame.ts";
import { NO_COUNTS } from "./run-base.ts";
import type { RunCore } from "./state.ts";

/** Parts of a view that the engine does not count. */
const NO_FAILURES: RunView["failures"] = [];
const NO_NODES: RunView["nodes"] = new Map();

/** Sums of a run that has called no model. */
const NO_CALLS = { usage: NO_USAGE, costUsd: 0 };

/** Ends a run whose nodes have all ended. A pause has nothing left to hold back, and ends with it. */
export function finishRun(run: RunCore): void {
  skipExcluded(run);
  if (run.paused === "operator" && run.stop?.reason !== "run_cancelled") {
    run.paused = null;
    emitResumed(run, "operator");
  }
  run.state = "over";
  const { timers } = run.engine;
  timers.cancel(run.grace);
  timers.cancel(run.clock);
  run.grace = null;
  run.clock = null;
  const top = run.frames[0] as Frame;
  const status = statusOf(run, top);
  const end: RunEnd = {
    status,
    ts: run.now,
    ...(status === "succeeded" && outputsOf(run, top)),
    ...(saysError(run, status) && run.failure !== null && { error: run.failure }),
  };
  const { startedAt, counts } = run;
  const bodyCounts = run.bodyCounts ?? NO_COUNTS;
  const cancelReason = run.stop?.cancel ?? null;
  const { usage, costUsd } = run.callsIfAny ?? NO_CALLS;
  const view = {
    failures: NO_FAILURES, // not spread from one object: that takes microseconds
    nodes: NO_NODES,
    usage,
    costUsd,
    startedAt,
    counts,
    bodyCounts,
    cancelReason,
  };
  run.summary = emitSummary(run, makeSummary(view, end));
}

/** A run that was cancelled by its own clock says which time was up. */
function saysError({ failure }: RunCore, status: SummaryStatus): boolean {
  return status === "failed" || (status === "cancelled" && failure?.code === "run_timeout");
}

function statusOf(run: RunCore, top: Frame): SummaryStatus {
  if (run.stop?.reason === "run_cancelled") return "cancelled";
  run.failure ??= top.outputFailure?.info ?? null;
  return run.failure === null ? "succeeded" : "failed";
}

/** Outputs in the order of the flow. The largest ones move beside the log until the rest fits a line. */
function outputsOf(
  run: RunCore,
  top: Frame,
): { outputs: { [name: string]: Json }; outputRefs?: { [name: string]: ValueRef } } {
  const made = top.outputs;
  if (made === null) return { outputs: {} };
  const entries = top.layout.outputs
    .filter(({ name }) => Object.hasOwn(made, name))
    .map(({ name }) => ({ name, value: made[name] ?? null, bytes: sizeOf(made[name] ?? null) }));
  let total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  const moved = new Set<string>();
  for (const { name, bytes } of [...entries].sort((a, b) => b.bytes - a.bytes)) {
    if (bytes <= EVENT_LIMITS.inlineBytes && total <= EVENT_LIMITS.outputsBytes) break;
    moved.add(name);
    total -= bytes;
  }
  const outputs = entries.filter(({ name }) => !moved.has(name));
  const record = Object.fromEntries(outputs.map(({ name, value }) => [name, value]));
  if (moved.size === 0) return { outputs: record };
  const refs = entries
    .filter(({ name }) => moved.has(name))
    .map(({ name, value }): [string, ValueRef] => [name, run.keepLarge(value)]);
  return { outputs: record, outputRefs: Object.fromEntries(refs) };
}

/** Says at the end of the run that they were skipped. */
function skipExcluded(run: RunCore): void {
  const top = run.frames[0] as Frame;
  const nodes = top.excluded;
  top.excluded = [];
  for (const node of nodes) {
    top.setState(node, PENDING);
    skip(run, top, node, "run_ended");
  }
  run.endedSize = 0;
}

/** False when the run has ended or fails already. A second call may only shorten the grace. */
export function cancelRun(run: RunCore, options: RunCancelOptions): boolean {
  if (run.state === "over") return false;
  const graceMs = options.graceMs ?? run.limits.graceMs;
  run.tick();
  if (run.stop !== null) {
    if (run.stop.reason !== "run_cancelled") return false;
    armGrace(run, graceMs);
    run.pump();
    return true;
  }
  const reason = options.reason ?? "user";
  const stop = { reason: "run_cancelled", cancel: reason } as const;
  if (run.state === "pending") {
    run.cancelEarly = { stop, graceMs, by: options.by, note: options.note };
    return true;
  }
  emitCancelling(run, reason, options);
  endRun(run, stop, graceMs);
  run.pump();
  return true;
}

/** Cancels a run whose clock has run out. */
export function cancelLate(run: RunCore): void {
  run.isLate = false;
  if (run.stop !== null || run.state === "over") return;
  run.failure = failureOf("run_timeout", timeIsUp(run), { reason: "timeout" }).info;
  emitCancelling(run, "timeout", {});
  endRun(run, { reason: "run_cancelled", cancel: "timeout" });
}

/** Which of the two times ended the run. */
function timeIsUp({ options, parts, limits }: RunCore): string {
  const own = options.timeoutMs ?? parts.graph.policy?.timeoutMs;
  const most = limits.wallClockMs;
  if (own !== undefined && own <= most) return `the run took longer than its timeout of ${own} ms`;
  return `limit wallClockMs: the run took longer than ${most} ms`;
}

const FLUSH_MS = 2_000; // a disk that is not full stores what is on its way in much less

/** Leaves the run. Resolves once another owner of the journal may take it up. */
export async function leaveRun(run: RunCore, error: EngineError, graceMs = 0): Promise<void> {
  const { journal } = run;
  run.leaving = true;
  if (graceMs > 0) await within(run, graceMs, calm(run));
  const stored = journal?.seal(); // first, because bodies that are told to stop may still emit events
  halt(run);
  const isStored = stored === undefined || (await within(run, FLUSH_MS, stored));
  run.loop.forget(run);
  run.log.abandon(error);
  run.fail(error);
  const released = journal?.release();
  if (isStored) await released;
}

/** Resolves when no body is at work that should not be stopped. */
function calm(run: RunCore): Promise<void> {
  return new Promise((resolve) => {
    run.onDrained = () => {
      if (!isCalm(run)) return;
      run.onDrained = null;
      resolve();
    };
    run.onDrained();
  });
}

function isCalm(run: RunCore): boolean {
  if (run.state !== "running") return run.state === "over";
  if (run.stop !== null) return false; // it ends anyway
  return run
    .liveAttempts()
    .every(
      (attempt) =>
        attempt.over ||
        !attempt.entered ||
        attempt.frame.state(attempt.node) !== RUNNING ||
        attempt.frame.layout.bodies[attempt.node] !== null ||
        mayRepeat(attempt),
    );
}

/** Whether the work is done within `ms`. */
async function within({ engine }: RunCore, ms: number, work: Promise<void>): Promise<boolean> {
  let cancel: () => void = () => {};
  const late = new Promise<boolean>((resolve) => {
    cancel = engine.host.setTimer(() => resolve(false), ms);
  });
  const isDone = await Promise.race([work.then(() => true), late]);
  cancel();
  return isDone;
}

/** Stops a run whose journal is lost: its bodies are aborted, nothing is written, its result is an error. */
export function abandonRun(run: RunCore, error: EngineError): void {
  halt(run);
  run.loop.forget(run);
  run.log.abandon(error);
  run.fail(error);
}

/** Aborts the bodies; what they still do has no effect. */
function halt(run: RunCore): void {
  run.state = "over";
  const live = run.liveAttempts();
  for (const attempt of live) attempt.abort(null);
  for (const attempt of live) closeAttempt(attempt);
  run.dropQueue();
  const { timers } = run.engine;
  timers.cancel(run.clock);
  timers.cancel(run.grace);
}
