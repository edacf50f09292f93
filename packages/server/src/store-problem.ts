/** What a store refuses, as the server tells it: the one place where its codes become those of the API. */
import type { ErrorCode } from "@millrace/contracts";
import { type Condition, StoreError, type StoreErrorCode } from "@millrace/store";
import { ProblemError } from "./errors.ts";

/** Seconds after which a store may work again: a disk is made room on by hand, a server is started again by its supervisor. */
const RETRY_AFTER_S = 30;

/** Every other code is a fault of the server. */
const CODES: ReadonlyMap<StoreErrorCode, ErrorCode> = new Map([
  ["store_full", "store_full"],
  ["store_read_only", "store_read_only"],
  ["store_unavailable", "store_unavailable"],
  ["lease_lost", "executor_unavailable"],
  ["bad_cursor", "bad_cursor"],
  ["key_used", "idempotency_in_flight"],
]);

/** The problem that `error` is when it comes from a store; anything else as it is. */
export function fromStore(error: unknown): unknown {
  const code = StoreError.isInstance(error) ? CODES.get(error.code) : undefined;
  if (code === undefined) return error;
  const headers = { "Retry-After": `${RETRY_AFTER_S}` };
  return new ProblemError(code, {
    cause: error,
    ...(code.startsWith("store_") || code === "executor_unavailable" ? { headers } : {}),
  });
}

/** Throws the problem of a store that takes no writes. */
export function checkCondition(condition: Condition): void {
  if (condition !== "ok") throw fromStore(new StoreError(condition, "the store takes no writes"));
}
