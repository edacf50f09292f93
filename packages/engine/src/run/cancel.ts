/** Cancelling a run: in one tick all signals are aborted and nothing starts any more. */
import type { RunCancelOptions } from "../options.ts";
import { emitCancelling } from "./emit-run.ts";
import type { RunCore } from "./run-core.ts";
import { armGrace, endRun } from "./stop.ts";

/** False when the run has ended or fails already. A second call may only shorten the grace. */
export function cancelRun(run: RunCore, options: RunCancelOptions): boolean {
  if (run.state === "over") return false;
  const graceMs = options.graceMs ?? run.limits.graceMs;
  run.tick();
  if (run.stop !== null) {
    if (run.stop.reason !== "run_cancelled") return false;
    armGrace(run, graceMs);
    run.engine.pump(run);
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
  run.engine.pump(run);
  return true;
}
