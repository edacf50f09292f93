/** Problems of commands, from this process or from a server, as the ends of a command line. */
import type { ErrorCode, Problem } from "@millrace/contracts";
import { CliError, type CliErrorCode } from "../errors.ts";
import { clean } from "../render/text.ts";

/** A problem as far as its end depends on it. */
export interface Refusal {
  readonly code: ErrorCode;
  /** What happened, in a sentence. */
  readonly message: string;
  /** Places of the arguments that are wrong. */
  readonly errors?: readonly Problem[] | undefined;
}

const CODES: Partial<Record<ErrorCode, CliErrorCode>> = {
  invalid_args: "usage",
  not_found: "unavailable",
  unauthorized: "credentials_missing",
  forbidden: "credentials_missing",
  reconnect_service: "credentials_expired",
};
/** Longest text of a server that is shown. */
const MAX_TEXT = 1_000;
/** The authorization server knows this client, code or grant not, or not any more. @see RFC 6749 section 5.2 */
const REFUSED = /\((?:invalid_client|unauthorized_client|invalid_grant)\)/;

/** The end that a problem means: 2 for words, 5 where somebody must be let in, else 6. */
export function toCliError({ code, message, errors = [] }: Refusal): CliError {
  const places = errors.map(({ pointer, message: what }) => `; ${pointer.slice(1)} ${what}`);
  const text = clean(message + places.join("")).slice(0, MAX_TEXT);
  const isRefused =
    (code === "upstream_failed" && REFUSED.test(message)) ||
    (code === "state_conflict" && message.includes("mismatch"));
  const end = isRefused ? "credentials_expired" : (CODES[code] ?? "unavailable");
  const hint = message.endsWith("egress_denied")
    ? "whoever runs this allows the host with egress.allow in the configuration"
    : code === "unauthorized"
      ? "give it with --token-file or in MILLRACE_TOKEN"
      : undefined;
  return new CliError(end, text, { problem: code, ...(hint !== undefined && { hint }) });
}
