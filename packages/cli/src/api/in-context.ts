/** What the API refuses, in the words of the command line that has asked for it. */
import { ClientError } from "@millrace/contracts/client";
import type { Input } from "../command.ts";
import { CliError } from "../errors.ts";
import { clean } from "../render/text.ts";
import { toEnd } from "./problem.ts";

/** Where to look for what there is, by the resource that the API names. */
const LISTS: ReadonlyMap<unknown, string> = new Map([
  ["run", "runs list"],
  ["template", "templates list"],
  ["template version", "templates versions SLUG"],
  ["schedule", "schedule list"],
  ["hub", "hubs list"],
  ["hub item", "hubs items HUB"],
  ["node", "catalog list"],
  ["model", "models list"],
]);

/** The error as the end of this command line: what is not there, or not as it must be, is named. */
export function inContext(error: unknown, input: Input): unknown {
  if (!ClientError.isInstance(error) || error.problem === undefined) return error;
  const { code, problem } = error;
  const end = toEnd(error);
  if (!(end instanceof CliError)) return end;
  const named = input.args.map(clean).join(" ");
  switch (code) {
    case "not_found": {
      const { resource } = problem as { readonly resource?: unknown };
      const list = LISTS.get(resource);
      return again(end, `there is no ${clean(String(resource ?? "such thing"))} "${named}"`, {
        ...(list !== undefined && { hint: `millrace ${list} shows what there is` }),
      });
    }
    case "state_conflict": {
      const { state } = problem as { readonly state?: unknown };
      if (state === undefined) return again(end, `${named}: ${end.message}`);
      return again(end, `${named} is ${clean(String(state))}, which does not allow that`);
    }
    case "command_not_wired":
      return again(end, problem.detail === undefined ? "this is not available here" : end.message);
    case "etag_mismatch":
    case "already_exists":
    case "in_use":
      return again(end, named === "" ? end.message : `${named}: ${end.message}`);
    default:
      return end;
  }
}

function again(end: CliError, message: string, more: { readonly hint?: string } = {}): CliError {
  const { code, problem, hint = more.hint } = end;
  return new CliError(code, message, { problem, ...(hint !== undefined && { hint }) });
}
