/** Bringing the runs of a server to rest. */
import type { RunState } from "@millrace/contracts";
import type { ServerHost } from "./ports.ts";
import { isEnded } from "./runs/index.ts";

/** What became of the runs that were live when the server was told to stop. `parked`: they go on at the next start. */
export interface DrainReport {
  readonly finished: number;
  readonly cancelled: number;
  readonly parked: number;
  readonly ms: number;
}

const LIVE: readonly RunState[] = ["pending", "running", "paused", "cancelling"];
/** Runs listed in one step. */
const PAGE = 200;

/**
 * Fires no more schedules, closes the executor, then every open consent and the credentials, which runs need until they have
 * ended; and counts.
 */
export async function drainRuns(host: ServerHost, graceMs: number): Promise<DrainReport> {
  const startedAt = performance.now();
  await host.scheduler?.close();
  const runIds = await liveRuns(host);
  try {
    await host.executor.close({ graceMs });
  } finally {
    await host.services.close();
  }
  let finished = 0;
  let cancelled = 0;
  for (const runId of runIds) {
    const run = host.store.runs.summary(runId);
    if (run?.status === "cancelled") cancelled += 1;
    else if (run !== null && isEnded(run.status)) finished += 1;
  }
  return {
    finished,
    cancelled,
    parked: runIds.length - finished - cancelled,
    ms: Math.round(performance.now() - startedAt),
  };
}

async function liveRuns(host: ServerHost): Promise<readonly string[]> {
  const runIds: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await host.executor.list({
      status: LIVE,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    runIds.push(...page.items.map((run) => run.runId));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return runIds;
}
