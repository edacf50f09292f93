/** A node that waits gives its slots back, and goes on only when it has them again and the run is not paused. */
import { emitWaiting } from "./emit.ts";
import { WAITING } from "./node-states.ts";
import { acquire } from "./slots.ts";
import type { Attempt } from "./state.ts";

/** Parks a running node. Waiting for a person does not count as work, and stops the clock of the attempt. */
export function park(attempt: Attempt, on: Parameters<typeof emitWaiting>[3]): void {
  const { run, frame, node } = attempt;
  run.link(attempt);
  frame.setState(node, WAITING);
  emitWaiting(run, frame, node, on);
  if (on.on === "confirm") {
    attempt.setIdle(true);
    attempt.holdTimeout();
  }
  attempt.giveBack();
}

/** What a parked node waited for has come: it goes on with `then` as soon as it may. */
export function unpark(attempt: Attempt, then: () => void): void {
  if (attempt.over) return;
  const { extras } = attempt;
  if (extras.onResume !== null) {
    extras.onResume.push(then);
    return;
  }
  extras.onResume = [then];
  attempt.setIdle(false);
  if (acquire(attempt)) attempt.granted();
}
