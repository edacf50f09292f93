/** Describes the trigger of a run to people. */
import type { RunSummary } from "./schemas/run.ts";

/**
 * Says what started a run: `schedule nightly`, `webhook whk_01`, `retry of run_01`, `notify of run_01`, else its `trigger` alone,
 * such as `cli`, `api` or `mcp`. A schedule without a name is said by its id; one that was started by hand has `, now`.
 */
export function startedBy({
  trigger,
  source,
  retryOf,
}: Pick<RunSummary, "trigger" | "source" | "retryOf">): string {
  if (retryOf !== null) return `retry of ${retryOf}`;
  if (source === undefined) return trigger;
  if ("webhookId" in source) return `webhook ${source.webhookId}`;
  if ("failedRunId" in source) return `${trigger} of ${source.failedRunId}`;
  const schedule = `schedule ${source.name ?? source.scheduleId}`;
  return trigger === "schedule" ? schedule : `${schedule}, now`;
}
