/** A run that was started over the API by a command whose answer is not the run: on a server it goes its own way. */
import type { RunRef, RunView } from "@millrace/contracts";
import type { Given, Shown } from "./api-command.ts";
import { CliError } from "./errors.ts";
import { followRun } from "./follow-run.ts";

/** The text of a run that was started: its id, where it is not shown in its place. */
export function started({ runId }: RunRef, { api }: Given): Shown {
  if (api.where === "embedded") return {};
  return { data: [runId], said: [`millrace runs tail ${runId} follows it`] };
}

/**
 * The exit code of the command. A run of the embedded API lives as long as this process, so it is followed to its end, and
 * shown unless `--json` has asked for the answer alone; one that waits for a person is left for `millrace confirm`.
 */
export async function settle(
  { runId }: RunRef,
  { api, io }: Given,
  options: { readonly answered?: boolean } = {},
): Promise<number> {
  if (api.where === "remote") return 0;
  const silent = io.json !== undefined;
  let asking: string | undefined;
  const leave = (view: RunView): boolean => {
    asking = view.state === "paused" ? askerOf(view) : undefined;
    return asking !== undefined;
  };
  const summary = await followRun(runId, api, io, { ...options, silent, leave });
  if (summary !== undefined) return summary.exitCode;
  throw new CliError("confirmation_required", `${runId} waits for a person`, {
    hint: `millrace confirm ${runId} ${asking ?? ""} --approve answers`,
  });
}

/** The step that asks. */
function askerOf({ confirmations }: RunView): string | undefined {
  return [...confirmations.values()].find(({ state }) => state === "requested")?.node;
}
