/** Errors that the engine throws to its callers. A failing node is never an exception: it is an event and a summary. */
import type { Diagnostic } from "@millrace/contracts";

const MARK = Symbol.for("@millrace/engine.error.EngineError");

/** Why a call could not be served. `journal_failed`, `lease_lost` and `run_left` come from `Run.result` alone, `flow_invalid` from `runFlow`. */
export type EngineErrorCode =
  | "input_invalid"
  | "flow_invalid"
  | "plan_mismatch"
  | "run_exists"
  | "run_not_found"
  | "run_not_resumable"
  | "registry_duplicate"
  | "registry_invalid"
  | "engine_closed"
  | "run_left"
  | "journal_failed"
  | "lease_lost";

/** A refused call; branch on `code`. With `input_invalid` and `flow_invalid`, `diagnostics` says what is wrong, and where. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: EngineErrorCode;
  readonly retryable = false;
  readonly diagnostics: readonly Diagnostic[];

  constructor(
    code: EngineErrorCode,
    message: string,
    options: { diagnostics?: readonly Diagnostic[]; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
    this.diagnostics = options.diagnostics ?? [];
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is EngineError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}
