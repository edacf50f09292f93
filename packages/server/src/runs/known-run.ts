/** Runs that there are. */
import type { Run, RunSummary } from "@millrace/contracts";
import { ProblemError } from "../errors.ts";
import type { ServerHost } from "../ports.ts";

const ENDED: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);

/** Whether nothing follows this state. */
export function isEnded(state: string): boolean {
  return ENDED.has(state);
}

/** A run that exists, with its nodes. Throws `not_found`. */
export async function knownRun(host: ServerHost, runId: string): Promise<Run> {
  return (await host.executor.get(runId)) ?? unknownRun();
}

/** The same without its nodes, which costs no look at its log. */
export function knownSummary({ store }: ServerHost, runId: string): RunSummary {
  return store.runs.summary(runId) ?? unknownRun();
}

function unknownRun(): never {
  throw new ProblemError("not_found", { members: { resource: "run" } });
}
