/** How a refusal or a fault becomes an answer. */
import { type ProblemDocument, problemDocument } from "@millrace/contracts";
import { ProblemError } from "../errors.ts";
import type { Logger } from "../process/index.ts";
import { fromStore } from "../store-problem.ts";
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
  const document = documentOf(problem, {
    requestId: exchange.requestId,
    instance: exchange.pattern,
  });
  return {
    status: problem.status,
    headers: { "Content-Type": PROBLEM_TYPE, ...problem.options.headers },
    body: JSON.stringify(document),
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
