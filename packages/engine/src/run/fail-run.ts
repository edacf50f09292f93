/** Ends a run that reached one of its own limits. */
import { limitFailure } from "../failures.ts";
import type { RunCore } from "./run-core.ts";
import { endRun } from "./stop.ts";

/** Fails the run as a whole: no node is to blame. Does nothing when the run is stopping already. */
export function failRun(run: RunCore, limit: string, detail: string): void {
  if (run.stop !== null || run.state === "over") return;
  run.failure ??= limitFailure(limit, detail).info;
  endRun(run, { reason: "run_failed", cancel: null });
}
