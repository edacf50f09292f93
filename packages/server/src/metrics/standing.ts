/** The live state of a server, read when its metrics are requested. */
import type { Executor } from "@millrace/contracts";
import type { Store } from "@millrace/store";
import type { LiveState, Standing } from "./metrics.ts";

/** Runs looked at in one step. */
const PAGE = 200;
const STATES: readonly LiveState[] = ["pending", "running", "paused", "cancelling"];

/** Counts the live runs; costs a walk over the runs that have not ended. */
export async function standingOf(
  host: { readonly executor: Executor; readonly store: Store; now(): number },
  streams: number,
): Promise<Standing> {
  const runs = { pending: 0, running: 0, paused: 0, cancelling: 0 };
  let cursor: string | undefined;
  do {
    const page = await host.executor.list({
      status: STATES,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { status } of page.items) runs[status as LiveState] += 1;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  const now = host.now();
  const [longestDue] = host.store.schedules.due(now);
  const scheduleLagS = Math.max(0, now - (longestDue?.nextAt ?? now)) / 1_000;
  return { runs, streams, scheduleLagS };
}
