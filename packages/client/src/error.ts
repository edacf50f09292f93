/** The error with which a failed call of a server rejects. */
import {
  type ErrorCode,
  isErrorCode,
  type ProblemDocument,
  problemMessage,
} from "@millrace/contracts";

const MARK = Symbol.for("@millrace/client.error.ClientError");

/**
 * A code of the server's problem documents, or one of our own: `unreachable` (no connection, or one that broke off),
 * `bad_answer` (an answer that no Millrace server gives), `bad_fetch` (an option with which nothing can be sent or read).
 */
export type ClientErrorCode = ErrorCode | "unreachable" | "bad_answer" | "bad_fetch";

/** Optional members of a `ClientError`. */
export interface ClientErrorOptions {
  /** The server's own words; absent when it had none. */
  readonly problem?: ProblemDocument;
  readonly status?: number;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Codes after which the same call may succeed later. */
const RETRYABLE: ReadonlySet<ClientErrorCode> = new Set<ClientErrorCode>([
  "unreachable",
  "request_timeout",
  "too_many_runs",
  "too_many_requests",
  "idempotency_in_flight",
  "draining",
  "too_many_streams",
  "store_unavailable",
  "store_full",
  "executor_unavailable",
  "upstream_failed",
  "upstream_timeout",
  "model_busy",
]);

/** A call failed. Branch on `code`; `retryable`: the same call may succeed later. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: ClientErrorCode;
  readonly status: number | undefined;
  readonly problem: ProblemDocument | undefined;
  readonly retryAfterMs: number | undefined;
  readonly retryable: boolean;

  constructor(code: ClientErrorCode, message: string, options: ClientErrorOptions = {}) {
    super(message, { cause: options.cause });
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
    this.status = options.status;
    this.problem = options.problem;
    this.retryAfterMs = options.retryAfterMs;
    this.retryable = RETRYABLE.has(code);
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is ClientError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}

/**
 * The error of a refused request: its problem document; of a gateway's own answer `too_many_requests` or `unreachable`; else
 * `bad_answer`. Reads the body.
 */
export async function refusal(response: Response): Promise<ClientError> {
  const { status } = response;
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const told = { status, retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : undefined };
  const problem = await jsonOf(response).catch((error: ClientError) => error);
  if (ClientError.isInstance(problem) && problem.code === "unreachable") return problem;
  if (!isProblem(problem)) {
    // 502, 503 and 504 are what gateways answer while the server behind them is away.
    const isAway = status >= 502 && status <= 504;
    const code = status === 429 ? "too_many_requests" : isAway ? "unreachable" : "bad_answer";
    return new ClientError(
      code,
      `the answer has status ${status} and is no problem document`,
      told,
    );
  }
  return problemError(problem, told);
}

/** The JSON of an answer. Throws `ClientError`: `unreachable` when the answer breaks off, `bad_answer` when it is no JSON. */
export async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    const isText = (cause as Error | null)?.name === "SyntaxError";
    throw isText
      ? new ClientError("bad_answer", "the answer is not JSON", { cause })
      : new ClientError("unreachable", "the answer broke off", { cause });
  }
}

/** The error that a problem document means, wherever it comes from. */
export function problemError(
  problem: ProblemDocument,
  told: Pick<ClientErrorOptions, "status" | "retryAfterMs" | "cause"> = {},
): ClientError {
  return new ClientError(problem.code, problemMessage(problem), {
    status: problem.status,
    ...told,
    problem,
  });
}

function isProblem(value: unknown): value is ProblemDocument {
  return isErrorCode((value as { readonly code?: unknown } | null | undefined)?.code);
}
