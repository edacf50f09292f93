/** How the refusals of an executor become problems. */
import type { FlowDocument } from "@millrace/dsl";
import { notFound, ProblemError } from "../errors.ts";
import { ExecutorError } from "../executor/index.ts";
import { flowInvalid, toProblems } from "../flows/read-flow.ts";
import { fromStore } from "../http/problem.ts";

/** Seconds after which a refused run may be tried again. */
const RETRY_AFTER_BUSY_S = 5;

/** Calls the executor; its refusals become problems. */
export async function callExecutor<T>(call: () => Promise<T>, document?: FlowDocument): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw ExecutorError.isInstance(error) ? toProblem(error, document) : fromStore(error);
  }
}

function toProblem(error: ExecutorError, document: FlowDocument | undefined): ProblemError {
  switch (error.code) {
    case "flow_invalid":
      return flowInvalid(error.diagnostics, document);
    case "input_invalid":
      return new ProblemError("input_invalid", { errors: toProblems(error.diagnostics) });
    case "run_exists":
      return new ProblemError("already_exists", {
        detail: "A run has this id",
        members: { resource: "run" },
      });
    case "not_found":
      return notFound("run");
    case "state_conflict":
      return new ProblemError("state_conflict", { members: { state: error.state } });
    case "too_many_runs":
    case "executor_unavailable":
      return new ProblemError(error.code, { headers: { "Retry-After": `${RETRY_AFTER_BUSY_S}` } });
  }
}
