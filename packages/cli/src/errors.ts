/** How a command ends when it cannot do what was asked. `main` turns it into a sentence, a summary and an exit code. */
import type { Diagnostic, SummaryStatus } from "@millrace/contracts";

/** `error.code` of the summary that stands in where no run wrote one. */
export type CliErrorCode =
  | "usage"
  | "flow_invalid"
  | "check_failed"
  | "unavailable"
  | "cancelled"
  | "internal";

const STATUS: Record<CliErrorCode, SummaryStatus> = {
  usage: "invalid",
  flow_invalid: "invalid",
  check_failed: "failed",
  unavailable: "failed",
  cancelled: "cancelled",
  internal: "failed",
};

/** Ends a command. `hint` says what to do next, `diagnostics` go into the summary of an invalid flow. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;
  readonly hint: string | undefined;
  readonly diagnostics: readonly Diagnostic[] | undefined;
  /** True when everything worth saying is on stderr already. */
  readonly told: boolean;

  constructor(
    code: CliErrorCode,
    message: string,
    options: { hint?: string; diagnostics?: readonly Diagnostic[]; told?: boolean } = {},
  ) {
    super(message);
    this.code = code;
    this.hint = options.hint;
    this.diagnostics = options.diagnostics;
    this.told = options.told ?? false;
  }

  /** Status of the summary that this error becomes. */
  get status(): SummaryStatus {
    return STATUS[this.code];
  }
}

/** A wrong word on the command line: exit code 2. */
export function usage(message: string, hint?: string): CliError {
  return new CliError("usage", message, hint === undefined ? {} : { hint });
}
