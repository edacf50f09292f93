/** How a command ends when it cannot do what was asked. `main` prints the message, writes the summary and sets the exit code. */
import type { Diagnostic, ErrorCode, SummaryStatus } from "@millrace/contracts";
import { clean } from "./output/text.ts";

/** `error.code` of the summary that stands in where no run wrote one. */
export type CliErrorCode =
  | "usage"
  | "flow_invalid"
  | "check_failed"
  | "confirmation_required"
  | "credentials_missing"
  | "credentials_expired"
  | "unavailable"
  | "timeout"
  | "cancelled"
  | "internal";

/** By code: the status of the summary, and the default of `problem`. */
const ENDS: Record<CliErrorCode, readonly [SummaryStatus, ErrorCode]> = {
  usage: ["invalid", "invalid_args"],
  flow_invalid: ["invalid", "flow_invalid"],
  check_failed: ["failed", "value_invalid"],
  confirmation_required: ["failed", "precondition_required"],
  credentials_missing: ["failed", "reconnect_service"],
  credentials_expired: ["failed", "reconnect_service"],
  unavailable: ["failed", "upstream_failed"],
  timeout: ["cancelled", "upstream_timeout"],
  cancelled: ["cancelled", "internal"],
  internal: ["failed", "internal"],
};

/** The command that helps where a store of credentials says in its message that the encrypted file would; undefined elsewhere. */
export function fileStoreHint(message: string): string | undefined {
  if (!message.includes("encrypted file store")) return undefined;
  return "millrace config set credentials.store file --user, which makes its key beside it";
}

/** The file that an error is about, and the place in it where that is known; both count from 1. */
export interface WrongFile {
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
}

/** Ends a command. `hint` says what to do next, `diagnostics` go into the summary of an invalid flow. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;
  readonly hint: string | undefined;
  readonly diagnostics: readonly Diagnostic[] | undefined;
  /** True when the details are on stderr already, for people; `log`: as a line of a log, and nothing else belongs there. */
  readonly reported: boolean | "log";
  /** Code of the problem document that a failed query prints under `--json`. */
  readonly problem: ErrorCode;
  /** Lines around the place of a mistake, for people. */
  readonly frame: string | undefined;
  readonly file: WrongFile | undefined;

  constructor(
    code: CliErrorCode,
    message: string,
    options: {
      hint?: string | undefined;
      diagnostics?: readonly Diagnostic[] | undefined;
      reported?: boolean | "log";
      problem?: ErrorCode | undefined;
      frame?: string;
      file?: WrongFile;
    } = {},
  ) {
    super(message);
    this.code = code;
    this.hint = options.hint;
    this.diagnostics = options.diagnostics;
    this.reported = options.reported ?? false;
    this.problem = options.problem ?? ENDS[code][1];
    this.frame = options.frame;
    this.file = options.file;
  }

  /** Status of the summary that this error becomes. */
  get status(): SummaryStatus {
    return ENDS[this.code][0];
  }
}

/** A wrong word on the command line: exit code 2. */
export function usage(message: string, hint?: string): CliError {
  return new CliError("usage", message, { hint });
}

/** A file that cannot be used, which the message names: exit code 2. */
export function unusable(path: string, message: string): CliError {
  return new CliError("usage", message, { file: { path } });
}

/** The promise, or a `cancelled` error as soon as the signal aborts. */
export async function interruptible<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let onAbort: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(endedBy(signal));
  });
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The end of a command that a signal has ended. `more`: what is true in spite of that. */
export function endedBy(signal: AbortSignal, more = "", hint?: string): CliError {
  return new CliError("cancelled", `ended by ${String(signal.reason)}${more}`, { hint });
}

/** The system's word for what went wrong with a file, without the path of anything else. */
export function reason(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const words: Record<string, string> = {
    ENOENT: "no such file",
    EACCES: "not permitted",
    EPERM: "not permitted",
    ENOSPC: "no space left on the device",
    EISDIR: "it is a folder",
    ENOTDIR: "a part of the path is not a folder",
    ENODEV: "it is a pipe or a device",
    EFBIG: "it is too long",
  };
  return words[code ?? ""] ?? code ?? "unreadable";
}

/** The end of a command that was to write this file. What is missing then is its folder. */
export function cannotWrite(path: string, error: unknown): CliError {
  const isMissing = (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
  return usage(
    `cannot write ${clean(path)}: ${isMissing ? "there is no such folder" : reason(error)}`,
  );
}
