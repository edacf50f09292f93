/** What the settings say of runs. */
import type { FlowGraph, RunSpec, Settings } from "@millrace/contracts";

/** Wishes for a run of `graph` whose request says nothing of them; what the flow itself says comes before. */
export function runDefaults(
  { policy = {} }: Pick<FlowGraph, "policy">,
  { run }: Settings,
): Pick<RunSpec, "timeoutMs" | "onFailure" | "concurrency" | "confirm"> {
  const { timeoutMs, onFailure, concurrency, confirm } = run;
  return {
    ...(policy.timeoutMs === undefined && timeoutMs !== null && { timeoutMs }),
    ...(policy.onFailure === undefined && { onFailure }),
    ...(policy.concurrency === undefined && { concurrency }),
    ...(confirm !== "ask" && { confirm }),
  };
}
