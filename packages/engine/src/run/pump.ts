/**
 * The one loop of a run. It is entered from outside (a promise, a timer, a caller), never re-enters itself, and goes on
 * until nothing is ready, the run pauses, or other work of the process is due.
 */
import type { EngineCore } from "../engine-core.ts";
import type { Attempt } from "./attempt.ts";
import { closeRound } from "./bodies.ts";
import { failRun } from "./fail-run.ts";
import { announceEnd, finishRun } from "./finish.ts";
import type { Frame } from "./frame.ts";
import { resumeParked } from "./parking.ts";
import { pauseForPeople } from "./pause.ts";
import { propagate } from "./propagate.ts";
import type { RunCore } from "./run-core.ts";
import { begin, giveBack, startNode } from "./start.ts";
import { WAITING } from "./states.ts";

const CHECK_EVERY = 64; // node starts between two looks at the clock, which costs as much as a start
const BUDGET_MS = 5; // what timers and sockets may have to wait for
const BUDGET_EVENTS = 4_096; // readers of the window get their turn before it moves on
const EVENTS_KEPT = 64; // for the end of a run that has reached its limit of events

/** Runs until nothing can go on. Does nothing when it is called from within. */
export function pump(run: RunCore): void {
  if (run.pumping || run.state === "pending") return;
  run.pumping = true;
  try {
    drain(run);
  } finally {
    run.pumping = false;
    run.engine.entered = null;
  }
  if (run.journal !== null) run.journal.flush();
  else {
    run.log.publish(run.log.seq, run.summary !== null);
    if (run.summary !== null) announceEnd(run);
  }
  run.onDrained?.();
}

function drain(run: RunCore): void {
  for (;;) {
    if (run.endedSize > 0) propagate(run);
    if (run.endedFrames.length > 0) {
      closeFrames(run);
      continue;
    }
    if (run.state === "over") break;
    if (run.stop !== null) {
      for (const attempt of run.again) giveBack(attempt);
      run.again = [];
      break;
    }
    if (run.deferred !== null && run.paused !== "confirmation") {
      const acts = run.deferred;
      run.deferred = null;
      for (const act of acts) act();
      continue;
    }
    if (run.paused === "operator" || run.yielding || mayNotStart(run)) break;
    if (!startNext(run)) break;
  }
  if (run.state === "over" || run.endedSize > 0) return;
  if (run.frames[0]?.open === 0) finishRun(run);
  else if (run.stop === null && !run.yielding) pauseForPeople(run);
}

/** Whether the run is left, its journal waits for room, or a reader is waited for: what works may end, and nothing starts. */
function mayNotStart(run: RunCore): boolean {
  if (run.leaving || (run.engine.isFull && run.journal !== null)) return true;
  if (!run.log.isAwaited()) return false;
  run.log.onCaughtUp = () => run.engine.wakeSoon(run);
  return true;
}

/** Ended frames, the run's own excepted: its end is the end of the run. */
function closeFrames(run: RunCore): void {
  const frames = run.endedFrames.splice(0);
  for (const frame of frames) {
    frame.ended = true;
    if (frame.owner !== null) closeRound(run, frame);
  }
}

/** Starts or resumes one node; false when there is none, or when it is time to hand over. */
function startNext(run: RunCore): boolean {
  const resumed = run.again.shift();
  if (resumed !== undefined) {
    goOn(resumed);
    return true;
  }
  if (run.ring.size === 0) return false;
  if (run.log.seq + EVENTS_KEPT + run.open > run.limits.events) {
    failRun(run, "events", `a run makes at most ${run.limits.events} events`);
    return true;
  }
  if (isOverBudget(run.engine, run)) {
    handOver(run);
    return false;
  }
  const frame = run.frames[run.ring.peekFrame()];
  const node = run.ring.takeNode();
  if (frame !== null && frame !== undefined) startNode(run, frame as Frame, node);
  return true;
}

function goOn(attempt: Attempt): void {
  if (attempt.frame.state(attempt.node) === WAITING) resumeParked(attempt);
  else begin(attempt);
}

function isOverBudget(engine: EngineCore, run: RunCore): boolean {
  engine.starts += 1;
  if (engine.starts < CHECK_EVERY) return false;
  engine.starts = 0;
  if (run.log.seq - run.yieldedAt > BUDGET_EVENTS) return true;
  return engine.host.now() - engine.lastMacrotask > BUDGET_MS;
}

/** Lets timers, sockets and readers have their turn, then goes on. */
function handOver(run: RunCore): void {
  run.yielding = true;
  run.yieldedAt = run.log.seq;
  run.engine.host.yield(() => {
    run.engine.lastMacrotask = run.engine.host.now();
    run.yielding = false;
    run.tick();
    pump(run);
  });
}
