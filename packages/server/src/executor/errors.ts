/** Refusals of an executor. */
import type { Diagnostic } from "@millrace/contracts";
import { StoreError } from "@millrace/store";

const MARK = Symbol.for("@millrace/server.error.ExecutorError");

/**
 * `flow_invalid`, `input_invalid`: `diagnostics` say where. `run_exists`: the id is taken. `too_many_runs`: the queue is
 * full. `executor_unavailable`: it is closing, or has lost the run. `not_found`: no such run. `state_conflict`: `state` does
 * not allow it.
 */
export type ExecutorErrorCode =
  | "flow_invalid"
  | "input_invalid"
  | "run_exists"
  | "too_many_runs"
  | "executor_unavailable"
  | "not_found"
  | "state_conflict";

/** A call that an executor does not serve; branch on `code`. What the store refuses comes as its own `StoreError`. */
export class ExecutorError extends Error {
  override readonly name = "ExecutorError";
  readonly code: ExecutorErrorCode;
  readonly diagnostics: readonly Diagnostic[];
  readonly state: string | undefined;

  constructor(
    code: ExecutorErrorCode,
    message: string,
    options: { readonly diagnostics?: readonly Diagnostic[]; readonly state?: string } = {},
  ) {
    super(message);
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
    this.diagnostics = options.diagnostics ?? [];
    this.state = options.state;
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is ExecutorError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}

export function refuse(
  code: ExecutorError["code"],
  message: string,
  diagnostics: ExecutorError["diagnostics"] = [],
): ExecutorError {
  return new ExecutorError(code, message, { diagnostics });
}

export function runExistsError(runId: string): ExecutorError {
  return refuse("run_exists", `a run "${runId}" exists`);
}

/** The store's refusal of a start, as an error of the executor. */
export function refusedStart(error: unknown, runId: string): unknown {
  const isTaken = StoreError.isInstance(error) && error.code === "run_exists";
  return isTaken ? runExistsError(runId) : error;
}

/** The run is in the store, and not live in this process. */
export function runNotLocalError(runId: string): ExecutorError {
  return refuse("executor_unavailable", `the run "${runId}" is not at work in this process`);
}

export function runEndedError(state: string): ExecutorError {
  return new ExecutorError("state_conflict", "the run has ended", { state });
}

export function throwRunNotFound(runId: string): never {
  throw refuse("not_found", `there is no run "${runId}"`);
}
