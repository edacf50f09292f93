/** Errors of the manager of models and of its jobs. */

const MARK = Symbol.for("@millrace/local-models.error.ModelError");

/** Every code, and whether the same call may succeed later. */
const CODES = {
  invalid_args: false,
  not_found: false,
  state_conflict: false,
  already_exists: false,
  in_use: false,
  models_locked: false,
  operator_required: false,
  digest_required: false,
  digest_mismatch: false,
  download_interrupted: true,
  download_denied: false,
  download_not_found: false,
  download_failed: false,
  disk_full: true,
  invalid_model: false,
  engine_missing: false,
  engine_offline: true,
  engine_unsupported: false,
  engine_digest_mismatch: false,
  model_busy: true,
  model_out_of_memory: true,
  runner_crashed: true,
  load_failed: false,
} as const;

/** Why a call on models was refused, or why a job ended in the stage `error`. */
export type ModelErrorCode = keyof typeof CODES;

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
    this.retryable = CODES[code];
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is ModelError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}

/** Faults of the file system that mean: there is no room. */
const NO_ROOM: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

/** The error of a job as one of our own. The message names no path, unlike that of the file system. */
export function toModelError(error: unknown): ModelError {
  if (ModelError.isInstance(error)) return error;
  const code = (error as NodeJS.ErrnoException | null)?.code ?? "unknown";
  return NO_ROOM.has(code)
    ? new ModelError("disk_full", "the disk is full; what was fetched is kept", { cause: error })
    : new ModelError("download_failed", `the files could not be written (${code})`, {
        cause: error,
      });
}
