/**
 * Pauses. The operator's: nothing starts until `resume`. A confirmation's: nobody works and only people are waited for, so
 * the run says so and its clock stands still.
 */
import { emitPaused, emitResumed } from "./emit.ts";
import { RETRYING, RUNNING, WAITING } from "./frame.ts";
import { type Attempt, NO_ENDED, type RunCore } from "./state.ts";
import type { Timer } from "./timers.ts";

/** Asks for a pause; false when the run is not going, or the operator has paused it already. */
export function pauseRun(run: RunCore): boolean {
  if (run.state === "over" || run.stop !== null || run.held || run.paused === "operator")
    return false;
  if (run.state === "pending" || run.paused === "confirmation") {
    run.held = true;
    return true;
  }
  run.tick();
  run.paused = "operator";
  emitPaused(run, "operator");
  run.pump();
  return true;
}

/** Ends the operator's pause; false when the run is not paused. */
export function resumeRun(run: RunCore): boolean {
  if (run.held) {
    run.held = false;
    return true;
  }
  if (run.paused !== "operator" || run.stop !== null) return false;
  run.tick();
  run.paused = null;
  emitResumed(run, "operator");
  run.pump();
  return true;
}

/** Pauses for a confirmation when nothing else goes on. */
export function pauseForPeople(run: RunCore): void {
  if (run.busy > 0 || run.paused !== null || run.confirmations.length === 0) return;
  run.paused = "confirmation";
  emitPaused(run, "confirmation");
  stopClock(run);
  run.ring.clear(); // a parked run may be parked for days
  run.ended = NO_ENDED;
  run.log.rest();
}

/** Whether people are the only ones that the run waits for. */
export function isParked(run: RunCore): boolean {
  return run.paused === "confirmation" && run.stop === null;
}

/**
 * When something of the run goes on by itself: the first of its timers, deadlines and clock; `Infinity`: people alone make it go on. Null:
 * something of it is at work, or would be lost if the run was left. In a pause of the operator only deadlines count.
 */
export function restsUntil(run: RunCore): number | null {
  if (run.state !== "running" || run.stop !== null || run.held || run.frames[0]?.open === 0) {
    return null;
  }
  const isHeld = run.paused === "operator";
  let sleeping = 0;
  let due = Number.POSITIVE_INFINITY;
  for (let attempt = run.firstLive; attempt !== null; attempt = attempt.next) {
    if (sleepOf(attempt) !== null) sleeping += 1;
    else if (isHeld && isWorking(attempt)) return null;
    if (isHeld) continue;
    for (const timer of [sleepOf(attempt), attempt.timer]) due = Math.min(due, timer?.due ?? due);
  }
  if (!isHeld && run.busy !== sleeping) return null;
  for (const { open } of run.confirmations) due = Math.min(due, open.deadline ?? due);
  return isHeld ? due : Math.min(due, run.clock?.due ?? due);
}

/** The timer of a node that only waits for a time, before a retry or parked; null where there is none. */
function sleepOf(attempt: Attempt): Timer | null {
  const state = attempt.frame.state(attempt.node);
  if (state === RETRYING) return attempt.timer;
  return state === WAITING ? (attempt.extrasIfAny?.wait ?? null) : null;
}

/** Whether a body is at work; a node whose rounds do the work is idle. */
function isWorking(attempt: Attempt): boolean {
  return attempt.frame.state(attempt.node) === RUNNING && !attempt.idle;
}

/** Does something now, or once people are no longer the only ones that the run waits for. */
export function whenUnpaused(run: RunCore, act: () => void): void {
  if (isParked(run)) {
    run.deferred ??= [];
    run.deferred.push(act);
  } else act();
}

/** A confirmation was resolved: a pause for it ends. */
export function confirmationAnswered(run: RunCore, id: string): void {
  if (!isParked(run)) return;
  run.paused = null;
  emitResumed(run, "confirmation", id);
  startClock(run);
  if (!run.held) return;
  run.held = false;
  run.paused = "operator";
  emitPaused(run, "operator");
}

/** Starts the clock of the run; the scheduler ends a run that is late. */
export function startClock(run: RunCore): void {
  if (!Number.isFinite(run.clockLeftMs)) return;
  run.clock = run.engine.timers.set(run.now + run.clockLeftMs, () => {
    run.clock = null;
    run.tick();
    run.isLate = true;
    run.pump();
  });
}

/** Stops it; what is left is kept. */
function stopClock(run: RunCore): void {
  if (run.clock === null) return;
  run.clockLeftMs = Math.max(0, run.clock.due - run.now);
  run.engine.timers.cancel(run.clock);
  run.clock = null;
}
