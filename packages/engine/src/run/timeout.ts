/** The clock of one attempt: it stands still while the node waits for a person. */
import { failureOf } from "../failures.ts";
import type { Attempt } from "./attempt.ts";
import { stopAttempt } from "./stop.ts";

/** Starts the timeout of an attempt whose body waits. */
export function armTimeout(attempt: Attempt): void {
  const { timeoutMs } = attempt.policy;
  if (timeoutMs === null || attempt.over || attempt.type.ownsTimeout === true) return;
  if (attempt.timer !== null || attempt.stopping !== null) return;
  const left = attempt.asideIfAny?.timeLeftMs ?? timeoutMs;
  const { run } = attempt;
  attempt.timer = run.engine.timers.set(run.now + left, () => {
    attempt.timer = null;
    run.tick();
    stopAttempt(attempt, "timeout");
    run.engine.pump(run);
  });
}

/** Stops the clock and keeps what is left. */
export function holdTimeout(attempt: Attempt): void {
  const { timer, run } = attempt;
  if (timer === null) return;
  attempt.aside.timeLeftMs = Math.max(0, timer.due - run.now);
  run.engine.timers.cancel(timer);
  attempt.timer = null;
}

/** The failure of an attempt that took too long. */
export function timeoutFailure(attempt: Attempt): ReturnType<typeof failureOf> {
  return failureOf("timeout", `the attempt took longer than ${attempt.policy.timeoutMs} ms`, {
    reason: "timeout",
    retryable: true,
  });
}
