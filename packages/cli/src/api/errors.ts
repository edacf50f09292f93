/** Maps errors to exits of a command: those of the API, local or remote, of stores and of options. */
import { ClientError, type ClientErrorCode } from "@millrace/client";
import type { Diagnostic, ErrorCode, Problem } from "@millrace/contracts";
import { CliError, type CliErrorCode, fileStoreHint, usage } from "../errors.ts";
import { clean } from "../output/text.ts";

/** Every other code means that something is not there or not able: 6. */
const CODES: Partial<Record<ClientErrorCode, CliErrorCode>> = {
  invalid_args: "usage",
  run_input_conflict: "usage",
  input_invalid: "usage",
  value_invalid: "usage",
  stream_only: "usage",
  bad_cursor: "usage",
  flow_invalid: "flow_invalid",
  already_exists: "check_failed",
  already_resolved: "check_failed",
  confirmation_expired: "check_failed",
  etag_mismatch: "check_failed",
  precondition_required: "check_failed",
  unauthorized: "credentials_missing",
  forbidden: "credentials_missing",
  reconnect_service: "credentials_expired",
};
/** Problem that a program gets for an unusable answer. */
const PROBLEM_OF: Partial<Record<ClientErrorCode, ErrorCode>> = {
  unreachable: "upstream_failed",
  bad_answer: "upstream_failed",
};
const MAX_TEXT = 1_000;
/** The authorization server no longer accepts this client, code or grant. @see RFC 6749 section 5.2 */
const REFUSED = /\((?:invalid_client|unauthorized_client|invalid_grant)\)/;

/**
 * The end of a command that an error means: of a failed call of the API, of a store that does not open or does not answer, of a
 * bad option. Any other error is returned as it is. With `context`, missing and conflicting things are named by `subject`, the
 * word of the command line that the call is about.
 */
export function toCliError(
  error: unknown,
  context?: { readonly subject: string | undefined },
): unknown {
  if (ClientError.isInstance(error)) {
    const end = endOf(error);
    const { problem } = error;
    return context === undefined || problem === undefined
      ? end
      : inContext(end, error.code, problem, context.subject);
  }
  if (!(error instanceof Error) || error instanceof CliError) return error;
  const { name, message, code } = error as Error & { readonly code?: unknown };
  // Refusals of single rows have an end in the API; one that comes here is a fault.
  if (name === "StoreError" && /^(?:store_|lease_lost$)/.test(String(code))) {
    const problem = code === "store_read_only" ? "store_read_only" : "store_unavailable";
    return new CliError("unavailable", clean(message), { problem });
  }
  if (name === "ConfigError") return usage(clean(message));
  if (code !== "oauth_credential") return error;
  // The message names the store and never an entry of it.
  const hint = fileStoreHint(message);
  return new CliError("unavailable", message, { problem: "credential_store_unavailable", hint });
}

/** The exit code of a failed call: 2 for arguments, 3 for a flow, 5 for missing access, 1 for a conflict, else 6. */
function endOf({ code, message: whole, problem }: ClientError): CliError {
  const { errors = [] } = problem ?? {};
  // The client's message has the first place already.
  const message = problem?.errors === undefined ? whole : (problem.detail ?? problem.title);
  const places = errors.map(({ pointer, message: what }) => `; ${pointer.slice(1)} ${what}`);
  const text = clean(message + places.join("")).slice(0, MAX_TEXT);
  const isRefused =
    (code === "upstream_failed" && REFUSED.test(message)) ||
    (code === "state_conflict" && message.includes("mismatch"));
  const end = isRefused ? "credentials_expired" : (CODES[code] ?? "unavailable");
  const hint = message.endsWith("egress_denied")
    ? 'whoever runs this allows the host with egress.allow in the configuration: millrace config set egress.allow \'[{"host": "HOST"}]\' --user'
    : code === "unauthorized"
      ? "give it with --token-file or in MILLRACE_TOKEN"
      : fileStoreHint(message);
  return new CliError(end, text, {
    problem: PROBLEM_OF[code] ?? (code as ErrorCode),
    hint,
    ...(code === "flow_invalid" && { diagnostics: errors.map(toDiagnostic) }),
  });
}

/** A place of a flow as a server tells it. */
function toDiagnostic({ code, message, pointer }: Problem): Diagnostic {
  return { code, severity: "error", message: clean(message), ...(pointer !== "" && { pointer }) };
}

/** Command that lists the existing ones, by the resource that the API names. */
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
  ["job", "models jobs"],
]);

/** The end with `subject` in its message: what is not there, or not as it must be. */
function inContext(
  end: CliError,
  code: ClientErrorCode,
  problem: NonNullable<ClientError["problem"]>,
  subject: string | undefined,
): CliError {
  const named = subject === undefined ? undefined : clean(subject);
  switch (code) {
    case "not_found": {
      const { resource } = problem as { readonly resource?: unknown };
      const list = LISTS.get(resource);
      const hint = list && `millrace ${list} shows what there is`;
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

function again({ code, problem, hint }: CliError, message: string, more?: string): CliError {
  return new CliError(code, message, { problem, hint: hint ?? more });
}
