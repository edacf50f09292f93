/** Errors of the store. */

const MARK = Symbol.for("@millrace/store.error.StoreError");

/**
 * `store_locked`: the folder has a server, or is to be changed and another process has it open. `store_busy`: other processes wrote for
 * longer than `busyTimeoutMs`. `store_too_new`: a newer version wrote the file. `store_corrupt`: it is not a
 * store, or it is damaged. `store_wrong_key`: its private values are sealed with another key. `store_read_only`, `store_full`:
 * nothing can be written, `store_full` until there is room again. `store_unavailable`: no driver, no such folder, the writer is gone,
 * or a database that cannot be reached now. `lease_lost`: the run has another owner. `not_found`, `run_exists`: of runs and rows. `key_used`, `already_fired`, `signature_used`: of the rows that were to be written with a
 * run. `bad_cursor`: of another list, or made up. `path_exists`: a backup never overwrites.
 */
export type StoreErrorCode =
  | "store_locked"
  | "store_busy"
  | "store_too_new"
  | "store_corrupt"
  | "store_wrong_key"
  | "store_read_only"
  | "store_full"
  | "store_unavailable"
  | "lease_lost"
  | "not_found"
  | "run_exists"
  | "key_used"
  | "already_fired"
  | "signature_used"
  | "bad_cursor"
  | "path_exists";

/** A call that the store does not serve; branch on `code`. `retryable`: the same call may succeed later. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  readonly retryable: boolean;

  /** Of `bad_cursor`: the cursor is one of this store, and of another list or filter. */
  readonly reason: "other_list" | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly reason?: "other_list" } = {},
  ) {
    super(message, options);
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
    this.reason = options.reason;
    this.retryable = code === "store_full" || code === "store_unavailable" || code === "store_busy";
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is StoreError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}
