/** Problems of commands, from this process or from a server, as the ends of a command line. */

import { ClientError, type ClientErrorCode } from "@millrace/client";
import type { Diagnostic, ErrorCode, Problem } from "@millrace/contracts";
import { CliError, type CliErrorCode, fileStoreHint } from "../errors.ts";
import { clean } from "../render/text.ts";

/** A problem as far as its end depends on it. */
interface Refusal {
  readonly code: ClientErrorCode;
  /** What happened, in a sentence. */
  readonly message: string;
  /** Places of the arguments that are wrong. */
  readonly errors?: readonly Problem[] | undefined;
}

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
/** What a program is told of an answer that was none. */
const PROBLEM_OF: Partial<Record<ClientErrorCode, ErrorCode>> = {
  unreachable: "upstream_failed",
  bad_answer: "upstream_failed",
};
/** Longest text of a server that is shown. */
const MAX_TEXT = 1_000;
/** The authorization server knows this client, code or grant not, or not any more. @see RFC 6749 section 5.2 */
const REFUSED = /\((?:invalid_client|unauthorized_client|invalid_grant)\)/;

/** The end that a failed call of the API means; anything else as it is. */
export function toEnd(error: unknown): unknown {
  if (!ClientError.isInstance(error)) return error;
  const { code, message, problem } = error;
  if (problem === undefined) return toCliError({ code, message });
  // The client's message has the first place already.
  const said = problem.errors === undefined ? message : (problem.detail ?? problem.title);
  return toCliError({ code, message: said, errors: problem.errors });
}

/** The end that a problem means: 2 for words, 3 for a flow, 5 where somebody must be let in, 1 for what is taken, else 6. */
function toCliError({ code, message, errors = [] }: Refusal): CliError {
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
    ...(hint !== undefined && { hint }),
    ...(code === "flow_invalid" && { diagnostics: errors.map(toDiagnostic) }),
  });
}

/** A place of a flow as a server tells it. */
function toDiagnostic({ code, message, pointer }: Problem): Diagnostic {
  return { code, severity: "error", message: clean(message), ...(pointer !== "" && { pointer }) };
}
