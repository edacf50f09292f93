/** What the API refuses, in the words of the command line that has asked for it. */
import { ClientError } from "@millrace/client";
import { CliError } from "../errors.ts";
import { clean } from "../render/text.ts";
import { toEnd } from "./problem.ts";

/** Where to look for what there is, by the resource that the API names. */
const LISTS: ReadonlyMap<unknown, string> = new Map([
  ["run", "runs list"],
  ["template", "templates list"],
  ["template version", "templates versions SLUG"],
  ["schedule", "schedule list"],
  ["webhook", "webhooks list"],
  ["hub", "hubs list"],
  ["hub item", "hubs items HUB"],
  ["node", "catalog list"],
  ["model", "models list"],
]);

/** The error as the end of a command line about `what`: what is not there, or not as it must be, is named. */
export function inContext(error: unknown, what: string | undefined): unknown {
  if (!ClientError.isInstance(error) || error.problem === undefined) return error;
  const { code, problem } = error;
  const end = toEnd(error);
  if (!(end instanceof CliError)) return end;
  const named = what === undefined ? undefined : clean(what);
  switch (code) {
    case "not_found": {
      const { resource } = problem as { readonly resource?: unknown };
      const list = LISTS.get(resource);
      const hint = list === undefined ? {} : { hint: `millrace ${list} shows what there is` };
      const noun =
        resource === "node"
          ? "node type"
          : typeof resource === "string"
            ? clean(resource)
            : "thing";
      if (named === undefined) return again(end, `there is no such ${noun}`, hint);
      if (noun === "template version") return again(end, `${named} has no such version`, hint);
      return again(end, `there is no ${noun} "${named}"`, hint);
    }
    case "command_not_wired":
      return again(end, problem.detail === undefined ? "this is not available here" : end.message);
    case "state_conflict": {
      const { state } = problem as { readonly state?: unknown };
      if (named === undefined) return end;
      if (typeof state !== "string") return again(end, `${named}: ${end.message}`);
      return again(end, `${named} is ${clean(state)}, which does not allow that`);
    }
    case "invalid_args": {
      const { errors = [] } = problem;
      const places = errors.map(({ pointer, message }) => `${pointer.slice(1)} ${message}`);
      return places.length === 0 ? end : again(end, clean(places.join("; ")));
    }
    case "digest_required":
      return new CliError("usage", "what comes from a URL needs its digest: --sha256", {
        hint: "--allow-unverified takes what comes",
        problem: code,
      });
    case "hub_rejected":
    case "digest_mismatch":
    case "upstream_failed":
    case "upstream_timeout":
    case "etag_mismatch":
    case "already_exists":
    case "in_use":
      return named === undefined ? end : again(end, `${named}: ${end.message}`);
    default:
      return end;
  }
}

function again(end: CliError, message: string, more: { readonly hint?: string } = {}): CliError {
  const { code, problem, hint = more.hint } = end;
  return new CliError(code, message, { problem, ...(hint !== undefined && { hint }) });
}
