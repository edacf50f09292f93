/**
 * Stopping a run without ending it: what it has said is stored, and `resume` goes on from there.
 *   L1  Nothing of the run starts any more.
 *   L2  A body at work whose repetition may do harm has the grace to end; any other is stopped at once, and repeated later.
 *   L3  A journal that takes nothing holds nobody up for longer than the grace and `FLUSH_MS`: what it has not taken is done again.
 */
import type { EngineError } from "../errors.ts";
import { mayRepeat } from "./effect.ts";
import { closeAttempt } from "./end.ts";
import { RUNNING } from "./node-states.ts";
import type { RunCore } from "./state.ts";

const FLUSH_MS = 2_000; // a disk that is not full stores what is on its way in much less

/** Leaves the run. Resolves once whoever has the journal may take it up. */
export async function leaveRun(run: RunCore, error: EngineError, graceMs = 0): Promise<void> {
  const { journal } = run;
  run.leaving = true;
  if (graceMs > 0) await within(run, graceMs, calm(run));
  const stored = journal?.seal(); // first: bodies that are told to stop may still say something
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
  for (const attempt of live) attempt.controller?.abort();
  for (const attempt of live) closeAttempt(attempt);
  for (const attempt of run.again.splice(0)) attempt.giveBack();
  const { timers } = run.engine;
  timers.cancel(run.clock);
  timers.cancel(run.grace);
}
