/**
 * Failed attempts to show a token, by address. A client that keeps failing costs an HMAC for each configured token; past
 * the allowance it is told to wait, while whoever shows a valid token is never held up by it.
 */
import { TokenBuckets } from "../token-buckets.ts";

/** Failures that an address may have at once, and in each minute. */
const ALLOWANCE = 600;

/** Counts refused logins by address, to slow down who guesses. */
export class AuthFailures {
  readonly #buckets: TokenBuckets;

  /** `now` in milliseconds. */
  constructor(now: () => number) {
    this.#buckets = new TokenBuckets(ALLOWANCE, now);
  }

  /** Counts one failure; false when the address has used up its allowance. */
  count(address: string): boolean {
    return this.#buckets.take(address);
  }
}
