/** Errors of the manager of models and of its jobs. */

const MARK = Symbol.for("@millrace/local-models.error.ModelError");

/** Why a call on models was refused, or why a job ended in the stage `error`. */
export type ModelErrorCode =
  | "invalid_args"
  | "not_found"
  | "state_conflict"
  | "already_exists"
  | "in_use"
  | "models_locked"
  | "operator_required"
  | "digest_required"
  | "digest_mismatch"
  | "download_interrupted"
  | "download_denied"
  | "download_not_found"
  | "download_failed"
  | "disk_full"
  | "invalid_model"
  | "engine_missing"
  | "engine_offline"
  | "engine_unsupported"
  | "engine_digest_mismatch"
  | "model_busy"
  | "model_out_of_memory"
  | "runner_crashed"
  | "load_failed";

/** Codes after which the same call may succeed later. */
const RETRYABLE: ReadonlySet<ModelErrorCode> = new Set([
  "download_interrupted",
  "disk_full",
  "engine_offline",
  "model_busy",
  "model_out_of_memory",
  "runner_crashed",
]);

/** A refused call, or the end of a job; branch on `code`. Messages name ids, never an absolute path, a query or a secret. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly code: ModelErrorCode;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;

  constructor(code: ModelErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
    this.retryable = RETRYABLE.has(code);
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is ModelError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}

/** Faults of the file system that mean: there is no room. */
const NO_ROOM: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

/** What went wrong in a job, as one of our own. The message names no path: that of the file system does. */
export function toModelError(error: unknown): ModelError {
  if (ModelError.isInstance(error)) return error;
  const code = (error as NodeJS.ErrnoException | null)?.code ?? "unknown";
  return NO_ROOM.has(code)
    ? new ModelError("disk_full", "the disk is full; what was fetched is kept", { cause: error })
    : new ModelError("download_failed", `the files could not be written (${code})`, {
        cause: error,
      });
}
