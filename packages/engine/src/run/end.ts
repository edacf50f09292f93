/**
 * Ends attempts, frames and runs: success, failure, retry, timeout, cancel.
 *   X1  all signals are aborted in start order before anything else happens.
 *   X2  nothing starts in a frame that stops.
 *   X3  a body may still hand over its result while it settles; when the grace is over it is dropped.
 *   X4  nodes of a body end before the node that holds it.
 */

import type { Json } from "@millrace/contracts";
import { PORT_ERROR, PORT_OUT } from "../compile/layout.ts";
import { limitFailure, timeoutFailure, toFailure } from "../failures.ts";
import type { Failure } from "../node-type.ts";
import { MAX_RETRY_AFTER_MS, retryDelayMs } from "../retry-delay.ts";
import { deepFreeze, INLINE_BYTES, sizeOf } from "../values.ts";
import type { Result } from "./attempt-parts.ts";
import { cacheResult, leaveCache } from "./cache.ts";
import { emitLog, emitNode, emitSkipped, emitSucceeded } from "./emit.ts";
import {
  CANCELLED,
  DEFAULTED,
  FAILED,
  type Frame,
  NO_PORT,
  PENDING,
  READY,
  RETRYING,
  ROUTED,
  RUNNING,
  SKIPPED,
  type StopReason,
  SUCCEEDED,
  WAITING,
} from "./frame.ts";
import { wakeToEnd, withdrawConfirmations } from "./people.ts";
import { scopeOf } from "./scope.ts";
import { acquire } from "./slots.ts";
import { Attempt, type RunCore, type Stop } from "./state.ts";

/** Ends the attempt and the node with a result. */
export function succeed(attempt: Attempt, result: Result): void {
  const { run, frame, node } = attempt;
  const { output, bytes } = result;
  if (attempt.policy.cache !== null && !result.cached) cacheResult(attempt, result);
  closeAttempt(attempt);
  frame.setState(node, SUCCEEDED);
  attempt.setIdle(true);
  if (run.engine.options.freeze === true) deepFreeze(output);
  keepPrivate(attempt, output);
  if (bytes > INLINE_BYTES) result.ref = run.keepLarge(output);
  if (frame.keep(node, output, bytes)) run.liveBytes += bytes;
  emitSucceeded(run, attempt, result, frame.furtherPorts(node, result.port, output));
  run.count(frame, "succeeded");
  run.nodeEnded(frame, node, exitPort(attempt, result));
  checkLiveBytes(run, frame, node);
}

/** Fails the run when the outputs that it holds, that of `node` included, are too large. */
export function checkLiveBytes(run: RunCore, frame: Frame, node: number): void {
  if (run.liveBytes <= run.limits.liveBytes) return;
  const text = `outputs that are still to be read have more than ${run.limits.liveBytes} bytes`;
  failRun(run, "liveBytes", `${text}, after ${frame.path(node)}`);
}

/** An output that the log shows redacted is kept as it is for `resume`, where nobody else reads it. */
function keepPrivate(attempt: Attempt, output: Json): void {
  const { run, frame, node } = attempt;
  if (run.redactor === null || run.journal === null) return;
  if (run.redactor.clean(output) === output) return;
  run.journal.keepPrivate(`${frame.path(node)}#${frame.attempt(node)}`, output);
}

function exitPort({ run, frame, node }: Attempt, { port, output }: Result): number {
  if (run.stop !== null || frame.stopping !== null) return NO_PORT;
  return frame.exitOf(node, port, output);
}

/** Ends the attempt with a failure: the node is cancelled when it was to stop, tried again, or it fails. */
export function failed(attempt: Attempt, failure: Failure): void {
  const { run, frame } = attempt;
  const stopping = attempt.stopping === "timeout" ? null : attempt.stopping;
  const reason: StopReason | null = stopping ?? frame.stopping ?? run.stop?.reason ?? null;
  if (reason !== null) {
    cancelNode(attempt, reason);
    return;
  }
  const delayMs = retryDelay(attempt, failure);
  if (delayMs !== null) retry(attempt, failure, delayMs);
  else failNode(attempt, failure);
}

/** Ends a live node as cancelled. */
function cancelNode(attempt: Attempt, reason: StopReason): void {
  const { run, frame, node } = attempt;
  closeAttempt(attempt);
  frame.setState(node, CANCELLED);
  attempt.setIdle(true);
  emitNode(run, frame, node, "node.cancelled", { reason });
  run.count(frame, "cancelled");
  run.nodeEnded(frame, node, NO_PORT);
}

/** Milliseconds to the next try; null when there is none. */
function retryDelay(attempt: Attempt, failure: Failure): number | null {
  const { policy, run, frame, node } = attempt;
  const { retry } = policy;
  if (retry === null) return null;
  const interruptions = run.recovered?.nodes.get(frame.path(node))?.interruptions ?? 0;
  const tried = frame.attempt(node) - interruptions;
  if (tried > (retry.max ?? 0)) return null;
  const { info, reason, sent, retryAfterMs } = failure;
  const listed = retry.on?.some((name) => name === info.code || name === reason);
  if (!(listed ?? info.retryable)) return null;
  if (policy.delivery === "atMostOnce" && sent !== false) return null;
  if (retryAfterMs !== undefined && retryAfterMs > MAX_RETRY_AFTER_MS) return null;
  return retryDelayMs(retry, tried, { random: run.engine.host.random, retryAfterMs });
}

function retry(attempt: Attempt, failure: Failure, delayMs: number): void {
  const { run, frame, node } = attempt;
  closeAttempt(attempt);
  frame.setState(node, RETRYING);
  emitNode(run, frame, node, "node.retrying", {
    error: failure.info,
    delayMs,
    next: frame.attempt(node) + 1,
  });
  const next = new Attempt(run, frame, node, attempt.limits);
  next.triedAt = attempt.firstStartedAt;
  run.link(next);
  next.timer = run.engine.timers.set(run.now + delayMs, () => {
    next.timer = null;
    run.tick();
    if (acquire(next)) next.granted();
    run.pump();
  });
}

/** Ends a node with a failure, by its `onError`. */
export function failNode(attempt: Attempt, failure: Failure): void {
  const { run, frame, node, policy } = attempt;
  const { info } = failure;
  const durationMs = run.now - attempt.startedAt;
  let fallback: { value: Json; bytes: number } | null = null;
  if (policy.onError === "default" && policy.fallback !== null) {
    try {
      const value = policy.fallback.evaluate(scopeOf(run, frame), attempt.startedAt);
      fallback = { value, bytes: sizeOf(value) };
    } catch (error) {
      emitLog(
        run,
        {
          level: "warn",
          channel: "engine",
          text: `the default of @on-error failed: ${toFailure(error).info.message}`,
          code: "default_failed",
        },
        attempt,
      );
    }
  }
  closeAttempt(attempt);
  attempt.setIdle(true);
  run.count(frame, "failed");
  if (fallback !== null) {
    frame.setState(node, DEFAULTED);
    const { value, bytes } = fallback;
    if (frame.keep(node, value, bytes)) run.liveBytes += bytes;
    keepPrivate(attempt, value);
    const large = bytes > INLINE_BYTES;
    const on = large ? { outputRef: run.keepLarge(value) } : { output: value };
    emitNode(run, frame, node, "node.failed", {
      error: info,
      routed: "default",
      ...on,
      durationMs,
    });
    run.nodeEnded(frame, node, PORT_OUT);
    return;
  }
  if (policy.onError === "port") {
    frame.setState(node, ROUTED);
    const record = { error: { ...info } };
    if (frame.keep(node, record, sizeOf(record))) run.liveBytes += frame.heldBytes(node);
    emitNode(run, frame, node, "node.failed", { error: info, routed: "port", durationMs });
    run.nodeEnded(frame, node, PORT_ERROR);
    return;
  }
  frame.setState(node, FAILED);
  const routed = frame.owner === null ? "none" : "parent";
  emitNode(run, frame, node, "node.failed", { error: info, routed, durationMs });
  run.nodeEnded(frame, node, NO_PORT);
  if (frame.owner !== null) {
    frame.failure ??= failure;
    stopFrame(run, frame, "sibling");
    return;
  }
  run.failure ??= { ...info, node: frame.path(node) };
  if (run.onFailure === "stop") endRun(run, { reason: "run_failed", cancel: null });
}

/** Takes everything back that the attempt holds. Nothing of it has an effect from here on. */
export function closeAttempt(attempt: Attempt): void {
  const { run } = attempt;
  attempt.context?.flushProgress();
  attempt.extrasIfAny?.calls?.close();
  withdrawConfirmations(attempt);
  attempt.over = true;
  run.unlink(attempt);
  const { timers } = run.engine;
  if (attempt.timer !== null) timers.cancel(attempt.timer);
  attempt.timer = null;
  const extras = attempt.extrasIfAny;
  if (extras !== null) {
    timers.cancel(extras.wait);
    extras.wait = null;
    extras.onResume = null;
    leaveCache(attempt);
    extras.key?.release(run.state === "over");
  }
  attempt.giveBack();
}

/** Ends the run: everything that has not started never does, everything that works is told to stop. */
export function endRun(run: RunCore, stop: Stop, graceMs: number = run.limits.graceMs): void {
  run.stop = stop;
  const live = run.liveAttempts();
  for (const attempt of live) {
    if (!attempt.entered) continue;
    if (attempt.frame.state(attempt.node) === RUNNING) attempt.stopping = stop.reason;
    attempt.abort(stop.reason); // a parked body too: it may do more than wait
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

/** Fails the run as a whole: no node is to blame. Does nothing when the run is stopping already. */
export function failRun(run: RunCore, limit: string, detail: string): void {
  if (run.stop !== null || run.state === "over") return;
  run.failure ??= limitFailure(limit, detail).info;
  endRun(run, { reason: "run_failed", cancel: null });
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
    run.pump();
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
    attempt.stopping = why; // also for later readers of the signal
    wakeToEnd(attempt);
    attempt.abort(why);
    failed(attempt, timeoutFailure(attempt.policy.timeoutMs));
    return;
  }
  if (state !== RUNNING || !attempt.entered) {
    if (why === "timeout") failed(attempt, timeoutFailure(attempt.policy.timeoutMs));
    else cancelParked(attempt, why);
    return;
  }
  attempt.stopping = why;
  stopRounds(attempt, "parent");
  withdrawConfirmations(attempt);
  attempt.abort(why);
  if (attempt.over) return;
  run.engine.timers.cancel(attempt.timer);
  attempt.timer = run.engine.timers.set(run.now + run.limits.graceMs, () => {
    attempt.timer = null;
    run.tick();
    if (attempt.stopping === "timeout") {
      const text = "the body did not stop in time; what it still does has no effect here";
      emitLog(run, { level: "warn", channel: "engine", text, code: "attempt_abandoned" }, attempt);
      failed(attempt, timeoutFailure(attempt.policy.timeoutMs));
    } else cancelNode(attempt, attempt.stopping ?? "parent");
    run.pump();
  });
}

/** Cancels a node without a running body. */
function cancelParked(attempt: Attempt, reason: StopReason): void {
  if (attempt.frame.state(attempt.node) === READY) {
    attempt.over = true; // never started: it ends with the pending ones
    attempt.giveBack();
    return;
  }
  attempt.abort(reason);
  cancelNode(attempt, reason);
}

/** Ends what has not started. */
function closePending(run: RunCore, frame: Frame, cancelled: boolean): void {
  for (let node = 0; node < frame.layout.size; node += 1) {
    const state = frame.state(node);
    if (state !== PENDING && state !== READY) continue;
    if (state === READY) run.busy -= 1;
    frame.setState(node, cancelled ? CANCELLED : SKIPPED);
    if (cancelled) emitNode(run, frame, node, "node.cancelled", { reason: "run_cancelled" });
    else emitSkipped(run, frame, node, "run_ended");
    run.count(frame, cancelled ? "cancelled" : "skipped");
    run.nodeEnded(frame, node, NO_PORT);
  }
}
