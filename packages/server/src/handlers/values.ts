/** The command for values that were too large for their event. */
import type { CommandName, Json } from "@millrace/contracts";
import { wire } from "../commands/index.ts";
import { ProblemError } from "../errors.ts";
import type { CommandHandler } from "../ports.ts";
import { knownRun } from "../runs/index.ts";

/** Handler of the command that gives a large value back. */
export const valueHandlers: readonly (readonly [CommandName, CommandHandler])[] = [
  wire("get_run_blob", async ({ runId, digest }, { host }) => {
    await knownRun(host, runId);
    const value: Json | undefined = await host.journal.getValue(runId, digest);
    if (value === undefined)
      throw new ProblemError("not_found", { members: { resource: "value" } });
    const bytes = Buffer.from(JSON.stringify(value));
    return {
      digest,
      mediaType: "application/json",
      bytes: bytes.byteLength,
      base64: bytes.toString("base64"),
    };
  }),
];
