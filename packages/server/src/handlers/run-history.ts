/** Commands of runs that have ended: repeat one, delete one, delete many. */
import type { CommandName, ParsedArgs, RunSpec } from "@millrace/contracts";
import { Answer, keyedStart, wire } from "../commands/index.ts";
import { ProblemError } from "../errors.ts";
import type { CommandCall, CommandHandler } from "../ports.ts";
import { callExecutor, isEnded, knownSummary } from "../runs/index.ts";

/** Handlers of the commands that look back. */
export const runHistoryHandlers: readonly (readonly [CommandName, CommandHandler])[] = [
  wire("retry_run", async (args, call) => {
    const { value, headers } = await keyedStart(call, "retry_run", args, async (rows) => {
      const spec = againSpec(call, args);
      return callExecutor(() => call.host.executor.start(spec, rows));
    });
    return new Answer(value, { headers: { ...headers, Location: `/api/runs/${value.runId}` } });
  }),
  wire("delete_run", async ({ runId }, { host }) => {
    const { status } = knownSummary(host, runId);
    const became = await host.store.runs.delete(runId);
    if (became === "live") throw stillLive(status);
    return null;
  }),
  wire("prune_runs", (args, { host }) => host.store.runs.prune(args)),
];

/** The run once more, with the flow, the inputs and the wishes that it had. Throws `not_found`, `state_conflict`. */
function againSpec(
  { app, host, caller }: CommandCall,
  { runId, from, inputs }: ParsedArgs<"retry_run">,
): RunSpec {
  const { status, template, tags } = knownSummary(host, runId);
  if (!isEnded(status)) throw stillLive(status);
  const header = host.store.runs.header(runId);
  if (header === null) throw new ProblemError("not_found", { members: { resource: "run" } });
  const { from: _from, ...wishes } = header.options ?? {};
  return {
    graph: header.graph,
    inputs: inputs ?? (header.inputs as RunSpec["inputs"]),
    trigger: app.actor,
    retryOf: runId,
    tags,
    ...(from !== undefined && { from }),
    ...(template !== null && { template }),
    ...wishes,
    ...(caller.tokenId !== null && { tokenId: caller.tokenId }),
  };
}

function stillLive(state: string): ProblemError {
  return new ProblemError("state_conflict", {
    detail: "The run has not ended",
    members: { state },
  });
}
