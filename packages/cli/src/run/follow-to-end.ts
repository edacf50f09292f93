/** A run that was started over the API by a command whose answer is not the run: on a server it goes its own way. */

import type { RunRef } from "@millrace/contracts";
import type { CommandContext, Rendered } from "../api/command.ts";
import { CliError } from "../errors.ts";

/** The text of a run that was started: its id, where it is not shown in its place. */
export function startedRun({ runId }: RunRef, { api }: CommandContext): Rendered {
  if (api.where === "embedded") return {};
  return { data: [runId], said: [`millrace runs tail ${runId} follows it`] };
}

/**
 * The exit code of the command. A run of the embedded API lives as long as this process, so it is driven to its end: shown,
 * unless `--json` has asked for the answer alone, and without its outputs where stdout has the answer already (`answered`).
 */
export async function followToEnd(
  { runId }: RunRef,
  { api, io, input }: CommandContext,
  { answered = false }: { readonly answered?: boolean } = {},
): Promise<number> {
  if (api.where === "remote") return 0;
  const { followApiRun } = await import("./api-run.ts");
  const flow = await api.invoke("get_run_graph", { runId });
  const graph = answered ? { ...flow, outputs: [] } : flow;
  const silent = io.json !== undefined;
  const { error, exitCode } = await followApiRun(runId, { api, io, input }, { graph, silent });
  if (silent && error?.code === "confirmation_required") {
    throw new CliError("confirmation_required", error.message);
  }
  return exitCode;
}
