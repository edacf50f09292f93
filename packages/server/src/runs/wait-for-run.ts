/** Waits for the end of a run, for requests that are answered with it. */
import type { RunRef, RunSummary } from "@millrace/contracts";
import { Answer } from "../dispatch/index.ts";
import type { CommandCall } from "../ports.ts";
import { knownSummary } from "./known-run.ts";
import { isEnded } from "./run-state.ts";

/** Waits until a run has ended or paused, at most `waitMs`; the run goes on either way. */
export async function waitForRun(
  { host, signal }: Pick<CommandCall, "host" | "signal">,
  runId: string,
  waitMs: number,
): Promise<Answer<RunSummary | RunRef>> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), waitMs);
  const onLeave = () => stop.abort();
  if (signal.aborted) onLeave();
  signal.addEventListener("abort", onLeave);
  try {
    for await (const page of host.executor.attach(runId, { signal: stop.signal })) {
      const newest = page.findLast(({ kind }) => kind.startsWith("run.") || kind === "summary");
      if (newest?.kind !== "run.paused") continue;
      // The log is read from its beginning: a pause in it may be over.
      if ((await knownSummary(host, runId)).status === "paused") {
        return new Answer({ runId, status: "paused" }, { status: 202 });
      }
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onLeave);
  }
  const run = await knownSummary(host, runId);
  if (isEnded(run.status)) return new Answer(run);
  return new Answer({ runId, status: run.status }, { status: 202 });
}
