/** How a refusal or a fault becomes an answer. */
import { problemError } from "@millrace/client";
import { type ErrorCode, type ProblemDocument, problemDocument } from "@millrace/contracts";
import { type Condition, StoreError, type StoreErrorCode } from "@millrace/store";
import { ProblemError } from "../errors.ts";
import type { Logger } from "../ports.ts";
import { ClientGoneError } from "./body.ts";
import type { Exchange, Reply } from "./exchange.ts";

/** Content type of every problem document. */
export const PROBLEM_TYPE = "application/problem+json";

/** Answers what was thrown on the way to an answer; a client that has left gets none. */
export function answerError(exchange: Exchange, error: unknown, log: Logger): Response {
  if (error instanceof ClientGoneError) return exchange.abandon();
  return exchange.reply(problemReply(exchange, error, log));
}

/**
 * The answer to an error. Anything that is not a `ProblemError` is a fault of the server: the log gets it, the client
 * gets the request id.
 */
function problemReply(exchange: Exchange, thrown: unknown, log: Logger): Reply {
  const error = fromStore(thrown);
  const problem = ProblemError.isInstance(error)
    ? error
    : new ProblemError("internal", { cause: error });
  if (problem.code === "internal") {
    log.error(
      { requestId: exchange.requestId, err: problem.options.cause ?? problem },
      "request.failed",
    );
  }
  const { requestId, pattern: instance } = exchange;
  return {
    status: problem.status,
    headers: { "Content-Type": PROBLEM_TYPE, ...problem.options.headers },
    body: JSON.stringify(documentOf(problem, { requestId, instance })),
  };
}

/** The document of a refusal. `instance`: pattern of the route; null: none was found. */
export function documentOf(
  { code, options }: ProblemError,
  { requestId, instance }: { readonly requestId: string; readonly instance: string | null },
): ProblemDocument {
  const { detail, errors, members } = options;
  return problemDocument(code, {
    requestId,
    ...(detail === undefined ? {} : { detail }),
    ...(instance === null ? {} : { instance }),
    ...(errors === undefined ? {} : { errors }),
    ...members,
  });
}

/** Seconds after which a store may work again: room is made on a disk by hand, a server is started again by its supervisor. */
const RETRY_AFTER_S = 30;

/** Every other code is a fault of the server. */
const CODES: ReadonlyMap<StoreErrorCode, ErrorCode> = new Map([
  ["store_full", "store_full"],
  ["store_read_only", "store_read_only"],
  ["store_unavailable", "store_unavailable"],
  ["store_busy", "store_unavailable"],
  ["lease_lost", "executor_unavailable"],
  ["bad_cursor", "bad_cursor"],
  ["key_used", "idempotency_in_flight"],
]);

/** The problem that `error` is when it comes from a store; anything else as it is. */
export function fromStore(error: unknown): unknown {
  if (!StoreError.isInstance(error)) return error;
  const code = CODES.get(error.code);
  if (code === undefined) return error;
  const mayPass = error.retryable || code === "executor_unavailable";
  const headers = mayPass ? { "Retry-After": `${RETRY_AFTER_S}` } : undefined;
  return new ProblemError(code, { cause: error, headers });
}

/** The error as a client of this process throws it: a refusal becomes a `ClientError`, anything else stays. */
export function toClientError(
  thrown: unknown,
  place: { readonly requestId: string; readonly instance: string | null },
): unknown {
  const error = fromStore(thrown);
  if (!ProblemError.isInstance(error)) return error;
  const seconds = Number(error.options.headers?.["Retry-After"] ?? Number.NaN);
  return problemError(documentOf(error, place), {
    cause: error,
    ...(Number.isFinite(seconds) && { retryAfterMs: seconds * 1_000 }),
  });
}

/** Throws the problem of a store that takes no writes. */
export function checkCondition(condition: Condition): void {
  if (condition !== "ok") throw fromStore(new StoreError(condition, "the store takes no writes"));
}
