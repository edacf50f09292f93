/** Runs that there are. */
import type { Run } from "@millrace/contracts";
import { ProblemError } from "../errors.ts";
import type { ServerHost } from "../host.ts";

const ENDED: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);

/** Whether nothing follows this state. */
export function isEnded(state: string): boolean {
  return ENDED.has(state);
}

/** A run that exists. Throws `not_found`. */
export async function knownRun(host: ServerHost, runId: string): Promise<Run> {
  const run = await host.executor.get(runId);
  if (run === null) throw new ProblemError("not_found", { members: { resource: "run" } });
  return run;
}
