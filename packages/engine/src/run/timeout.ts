/** The clock of one attempt: it stands still while the node waits for a person. */
import { NodeError } from "@millrace/contracts";
import { stopAttempt } from "./end.ts";
import type { Attempt } from "./state.ts";

/** Starts the timeout of an attempt whose body waits. */
export function armTimeout(attempt: Attempt): void {
  const { timeoutMs } = attempt.policy;
  if (timeoutMs === null || attempt.over || attempt.type.ownsTimeout === true) return;
  if (attempt.timer !== null || attempt.stopping !== null) return;
  const left = attempt.extrasIfAny?.timeLeftMs ?? timeoutMs;
  const { run } = attempt;
  attempt.timer = run.engine.timers.set(run.now + left, () => {
    attempt.timer = null;
    run.tick();
    stopAttempt(attempt, "timeout");
    run.pump();
  });
}

/** Runs `work` with a signal that follows `signal` and aborts with `timeout` after `ms`; no timer and no listener is left behind. */
export async function within<T>(
  attempt: Attempt,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { run } = attempt;
  const { timers } = run.engine;
  const inner = new AbortController();
  const follow = (): void => inner.abort(signal.reason);
  signal.addEventListener("abort", follow, { once: true });
  if (signal.aborted) follow();
  run.tick();
  const late = new NodeError("timeout", `no end within ${ms} ms`, {
    reason: "timeout",
    retryable: true,
  });
  const timer = timers.set(run.now + ms, () => inner.abort(late));
  try {
    return await work(inner.signal);
  } finally {
    timers.cancel(timer);
    signal.removeEventListener("abort", follow);
  }
}
