/** Cancelling a run: in one tick all signals are aborted and nothing starts any more. */
import { failureOf } from "../failures.ts";
import type { RunCancelOptions } from "../options.ts";
import { emitCancelling } from "./emit-run.ts";
import { armGrace, endRun } from "./end.ts";
import type { RunCore } from "./state.ts";

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
