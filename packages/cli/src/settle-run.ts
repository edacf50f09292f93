/** A run that was started over the API by a command whose answer is not the run: on a server it goes its own way. */
import type { RunView } from "@millrace/contracts";
import type { Api } from "./api/open-api.ts";
import type { CommandIo } from "./command.ts";
import { CliError } from "./errors.ts";
import { followRun } from "./follow-run.ts";

/**
 * The exit code of the command. A run of the embedded API lives as long as this process, so it is followed to its end, and
 * shown unless `--json` has asked for the answer alone; one that waits for a person is left for `millrace confirm`.
 */
export async function settle(runId: string, api: Api, io: CommandIo): Promise<number> {
  if (api.where === "remote") return 0;
  const silent = io.json !== undefined;
  const summary = await followRun(runId, api, io, { silent, leave: asks });
  if (summary !== undefined) return summary.exitCode;
  throw new CliError("confirmation_required", `${runId} waits for a person`, {
    hint: `millrace confirm ${runId} --approve answers`,
  });
}

function asks(view: RunView): boolean {
  return (
    view.state === "paused" &&
    [...view.confirmations.values()].some(({ state }) => state === "requested")
  );
}
