/** Exit codes of every surface, and the one place that decides them. */
import type { ErrorInfo, SummaryStatus } from "./types.ts";

/** Exit codes of a process; 4 to 6 name what the operator must provide, 74 means that not all output could be written. */
export const ExitCode = {
  succeeded: 0,
  failed: 1,
  usage: 2,
  invalid: 3,
  confirmation: 4,
  credentials: 5,
  unavailable: 6,
  internal: 70,
  output: 74,
  timeout: 124,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Codes of errors that end a failed run with something else than 1. */
const BY_ERROR: ReadonlyMap<string, ExitCode> = new Map<string, ExitCode>([
  ["confirmation_required", ExitCode.confirmation],
  ["confirm_rejected", ExitCode.confirmation],
  ["confirm_expired", ExitCode.confirmation],
  ["credentials_missing", ExitCode.credentials],
  ["credentials_expired", ExitCode.credentials],
  ["no_refresh_token", ExitCode.credentials],
  ["ai_auth", ExitCode.credentials],
  ["unavailable", ExitCode.unavailable],
  ["provider_unavailable", ExitCode.unavailable],
  ["model_unavailable", ExitCode.unavailable],
  ["internal", ExitCode.internal],
]);

/** Reasons of `run.cancelling` that end a cancelled run with something else than 130. */
const BY_REASON: ReadonlyMap<string, ExitCode> = new Map<string, ExitCode>([
  ["timeout", ExitCode.timeout],
  ["sigterm", ExitCode.terminated],
  ["shutdown", ExitCode.terminated],
]);

/**
 * The exit code of a summary. `cancelReason` is the reason of `run.cancelling`; without it a cancelled run whose error
 * is `run_timeout` counts as timed out.
 * @see the events page, "Summary"
 */
export function exitCodeFor(
  summary: { readonly status: SummaryStatus; readonly error?: Pick<ErrorInfo, "code"> },
  cancelReason?: string,
): ExitCode {
  const code = summary.error?.code ?? "";
  switch (summary.status) {
    case "succeeded":
      return ExitCode.succeeded;
    case "invalid":
      return code === "usage" ? ExitCode.usage : ExitCode.invalid;
    case "cancelled":
      return (
        BY_REASON.get(cancelReason ?? (code === "run_timeout" ? "timeout" : "")) ??
        ExitCode.interrupted
      );
    default:
      return BY_ERROR.get(code) ?? ExitCode.failed;
  }
}
