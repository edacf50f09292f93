/** A node that waits gives its slots back, and goes on only when it has them again and the run is not paused. */
import type { Attempt } from "./attempt.ts";
import { emitNodeResumed, emitWaiting } from "./emit.ts";
import { setIdle } from "./settle.ts";
import { acquire } from "./slots.ts";
import { giveBack } from "./start.ts";
import { RUNNING, WAITING } from "./states.ts";
import { armTimeout, holdTimeout } from "./timeout.ts";

/** Parks a running node. Waiting for a person does not count as work, and stops the clock of the attempt. */
export function park(attempt: Attempt, on: Parameters<typeof emitWaiting>[3]): void {
  const { run, frame, node } = attempt;
  run.link(attempt);
  frame.setState(node, WAITING);
  emitWaiting(run, frame, node, on);
  if (on.on === "confirm") {
    setIdle(attempt, true);
    holdTimeout(attempt);
  }
  giveBack(attempt);
}

/** What a parked node waited for has come: it goes on with `then` as soon as it may. */
export function unpark(attempt: Attempt, then: () => void): void {
  if (attempt.over) return;
  const { aside } = attempt;
  if (aside.onResume !== null) {
    aside.onResume.push(then);
    return;
  }
  aside.onResume = [then];
  setIdle(attempt, false);
  if (acquire(attempt)) attempt.granted();
}

/** Lets a parked node that has its slots work again. */
export function resumeParked(attempt: Attempt): void {
  const { run, frame, node } = attempt;
  const { onResume } = attempt.aside;
  if (attempt.over || frame.state(node) !== WAITING) {
    giveBack(attempt);
    return;
  }
  attempt.aside.onResume = null;
  attempt.aside.replaying = false;
  frame.setState(node, RUNNING);
  emitNodeResumed(run, frame, node);
  if (run.past !== null) attempt.aside.calls?.closePast();
  armTimeout(attempt);
  for (const then of onResume ?? []) then();
}
