/**
 * Stopping: one attempt that took too long, a body whose item failed, the whole run.
 *   X1  all signals are aborted in start order before anything else happens.
 *   X2  nothing starts in a frame that stops.
 *   X3  a body may still hand over its result while it settles; when the grace is over it is dropped.
 *   X4  nodes of a body end before the node that holds it.
 */

import type { Attempt } from "./attempt.ts";
import { wakeToEnd, withdrawConfirmations } from "./confirmations.ts";
import { emitCancelled, emitLog, emitSkipped } from "./emit.ts";
import type { Frame, StopReason } from "./frame.ts";
import { NO_PORT, nodeEnded } from "./propagate.ts";
import type { RunCore, Stop } from "./run-core.ts";
import { cancelNode, failed } from "./settle.ts";
import { giveBack } from "./start.ts";
import { CANCELLED, PENDING, READY, RUNNING, SKIPPED, WAITING } from "./states.ts";
import { timeoutFailure } from "./timeout.ts";

/** Ends the run: everything that has not started never does, everything that works is told to stop. */
export function endRun(run: RunCore, stop: Stop, graceMs: number = run.limits.graceMs): void {
  run.stop = stop;
  const live = run.liveAttempts();
  for (const attempt of live) {
    if (!attempt.entered) continue;
    if (attempt.frame.state(attempt.node) === RUNNING) attempt.stopping = stop.reason;
    attempt.controller?.abort(abortReason(stop.reason)); // a parked body too: it may do more than wait
  }
  for (const attempt of live) withdrawConfirmations(attempt);
  run.ring.clear();
  for (const attempt of live) {
    if (attempt.over || attempt.stopping === stop.reason) continue;
    if (attempt.stopping === "timeout" && attempt.entered) attempt.stopping = stop.reason;
    else cancelParked(attempt, stop.reason);
  }
  for (const frame of run.frames) {
    if (frame !== null) closePending(run, frame, stop.reason === "run_cancelled");
  }
  armGrace(run, graceMs);
}

/** Lets the grace end in `graceMs`, or when it would have anyway. */
export function armGrace(run: RunCore, graceMs: number): void {
  const due = run.now + Math.max(0, graceMs);
  if (run.grace !== null && run.grace.due <= due) return;
  run.engine.timers.cancel(run.grace);
  run.grace = run.engine.timers.set(due, () => {
    run.grace = null;
    run.tick();
    for (const attempt of run.liveAttempts().reverse()) {
      if (!attempt.over) cancelNode(attempt, run.stop?.reason ?? "run_cancelled");
    }
    run.engine.pump(run);
  });
}

/** Stops one frame: an item whose node has failed, or all of a node that stops. */
export function stopFrame(run: RunCore, frame: Frame, reason: StopReason): void {
  if (frame.stopping !== null || frame.ended) return;
  frame.stopping = reason;
  for (const attempt of run.liveAttempts()) {
    if (attempt.frame === frame) stopAttempt(attempt, reason);
  }
  closePending(run, frame, false);
}

/** Stops every frame that is the body of `attempt`. */
export function stopRounds(attempt: Attempt, reason: StopReason): void {
  const { run } = attempt;
  for (const frame of run.frames) {
    if (frame?.owner === attempt) stopFrame(run, frame, reason);
  }
}

/** Tells one attempt to stop. What has no body yet, or is parked, ends at once; a body has the grace to settle. */
export function stopAttempt(attempt: Attempt, why: StopReason | "timeout"): void {
  const { run, frame, node } = attempt;
  if (attempt.over || (attempt.stopping !== null && attempt.stopping !== "timeout")) return;
  const state = frame.state(node);
  if (why === "timeout" && state === WAITING) {
    wakeToEnd(attempt);
    attempt.controller?.abort(abortReason(why));
    failed(attempt, timeoutFailure(attempt));
    return;
  }
  if (state !== RUNNING || !attempt.entered) {
    if (why === "timeout") failed(attempt, timeoutFailure(attempt));
    else cancelParked(attempt, why);
    return;
  }
  attempt.stopping = why;
  stopRounds(attempt, "parent");
  withdrawConfirmations(attempt);
  attempt.controller?.abort(abortReason(why));
  if (attempt.over) return;
  run.engine.timers.cancel(attempt.timer);
  attempt.timer = run.engine.timers.set(run.now + run.limits.graceMs, () => {
    attempt.timer = null;
    run.tick();
    if (attempt.stopping === "timeout") {
      const text = "the body did not stop in time; what it still does has no effect here";
      emitLog(run, { level: "warn", channel: "engine", text, code: "attempt_abandoned" }, attempt);
      failed(attempt, timeoutFailure(attempt));
    } else cancelNode(attempt, attempt.stopping ?? "parent");
    run.engine.pump(run);
  });
}

/** Cancels a node without a running body. */
function cancelParked(attempt: Attempt, reason: StopReason): void {
  if (attempt.frame.state(attempt.node) === READY) {
    attempt.over = true; // never started: it ends with the pending ones
    giveBack(attempt);
    return;
  }
  attempt.controller?.abort(abortReason(reason));
  cancelNode(attempt, reason);
}

/** Ends what has not started. */
function closePending(run: RunCore, frame: Frame, cancelled: boolean): void {
  for (let node = 0; node < frame.layout.size; node += 1) {
    const state = frame.state(node);
    if (state !== PENDING && state !== READY) continue;
    if (state === READY) run.busy -= 1;
    frame.setState(node, cancelled ? CANCELLED : SKIPPED);
    if (cancelled) emitCancelled(run, frame, node, "run_cancelled");
    else emitSkipped(run, frame, node, "run_ended");
    run.count(frame, cancelled ? "cancelled" : "skipped");
    nodeEnded(run, frame, node, NO_PORT);
  }
}

/** What `signal.reason` is; one object would do, but its stack should name this stop. */
function abortReason(why: StopReason | "timeout"): DOMException {
  return why === "timeout"
    ? new DOMException("the attempt took too long", "TimeoutError")
    : new DOMException("the run or the node around it stops", "AbortError");
}
