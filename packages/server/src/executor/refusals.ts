/** What an executor says when it does not do something. */
import { ExecutorError } from "./errors.ts";

export function refuse(
  code: ExecutorError["code"],
  message: string,
  diagnostics: ExecutorError["diagnostics"] = [],
): ExecutorError {
  return new ExecutorError(code, message, { diagnostics });
}

/** Another run has the id. */
export function taken(runId: string): ExecutorError {
  return refuse("run_exists", `a run "${runId}" exists`);
}

/** The store has the run, and nobody works on it here. */
export function lost(runId: string): ExecutorError {
  return refuse("executor_unavailable", `the run "${runId}" is not at work in this process`);
}

/** Throws that there is no such run. */
export function missing(runId: string): never {
  throw refuse("not_found", `there is no run "${runId}"`);
}
