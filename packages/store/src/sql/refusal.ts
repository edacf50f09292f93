/** A transaction that its own rows refuse. */
import { StoreError, type StoreErrorCode } from "../errors.ts";

/** With the `need` of the statement, or the code of the broken constraint. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const OWN: ReadonlySet<string> = new Set([
  "store_full",
  "store_busy",
  "store_read_only",
  "store_unavailable",
  "lease_lost",
]);

/** The error of `write` for a code: `StoreError` for those that callers of the store know, else `Refusal`. */
export function refusal(code: string, message: string): StoreError | Refusal {
  return OWN.has(code)
    ? new StoreError(code as StoreErrorCode, message)
    : new Refusal(code, message);
}
