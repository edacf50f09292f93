/** What the settings say of runs. */
import type { FlowGraph, RunSpec, Settings } from "@millrace/contracts";

/** Wishes for a run of `graph` whose request says nothing of them; what the flow itself says comes before. */
export function runDefaults(
  graph: FlowGraph,
  { run }: Settings,
): Pick<RunSpec, "timeoutMs" | "confirm"> {
  const isTimed = graph.policy?.timeoutMs !== undefined || run.timeoutMs === null;
  return {
    ...(isTimed ? {} : { timeoutMs: run.timeoutMs }),
    ...(run.confirm === "ask" ? {} : { confirm: run.confirm }),
  };
}
