/** The error with which a failed command or subscription over a transport rejects. */
import {
  type ErrorCode,
  PROBLEMS,
  type ProblemDocument,
  problemDocument,
  problemMessage,
} from "@millrace/contracts";

const MARK = Symbol.for("@millrace/desktop.error.CommandError");

/** Codes that belong to transports and never to HTTP. */
const OWN = {
  channel_unknown: { status: 404, title: "There is no such channel" },
  transport_closed: { status: 503, title: "The other side is gone" },
} as const;

/** A code of the server's problem documents, `channel_unknown`, or `transport_closed`. */
export type CommandErrorCode = ErrorCode | keyof typeof OWN;

/** A problem document as it crosses a transport. */
export type CommandProblem = ProblemDocument | TransportProblem;

/** The same of a code that HTTP does not have. */
interface TransportProblem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly code: keyof typeof OWN;
  readonly requestId: string;
}

/**
 * A command failed on the other side, or the other side is gone. Branch on `code`; `message` has the first of `problem.errors`:
 * "The flow is not valid: FLOW3001 unknown node type … (line 4)".
 */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly status: number;
  readonly code: CommandErrorCode;
  readonly problem: CommandProblem;

  constructor(problem: CommandProblem, options: { readonly cause?: unknown } = {}) {
    super(problemMessage(problem), options);
    Object.defineProperty(this, MARK, { value: true });
    this.status = problem.status;
    this.code = problem.code;
    this.problem = problem;
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is CommandError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}

/** The error of a code; `detail` is one sentence and never a value that was sent. */
export function commandError(
  code: CommandErrorCode,
  detail?: string,
  options: { readonly cause?: unknown } = {},
): CommandError {
  const members = { requestId: "", ...(detail === undefined ? {} : { detail }) };
  const problem: CommandProblem =
    code === "channel_unknown" || code === "transport_closed"
      ? { type: `https://millrace.dev/problems/${code}`, ...OWN[code], code, ...members }
      : problemDocument(code, members);
  return new CommandError(problem, options);
}

/** Any thrown value as a problem for the other side of a wire: a problem stays as it is, anything else is `internal`. */
export function problemOf(thrown: unknown): CommandProblem {
  return CommandError.isInstance(thrown) ? thrown.problem : commandError("internal").problem;
}

/** A problem that came over a wire; an invalid one becomes `internal`. */
export function readProblem(value: unknown): CommandProblem {
  const isProblem =
    typeof value === "object" &&
    value !== null &&
    "code" in value &&
    typeof value.code === "string" &&
    (Object.hasOwn(PROBLEMS, value.code) || Object.hasOwn(OWN, value.code)) &&
    "status" in value &&
    typeof value.status === "number" &&
    "title" in value &&
    typeof value.title === "string";
  return isProblem ? (value as CommandProblem) : commandError("internal").problem;
}
