/**
 * Failed attempts to show a token, by address. A client that keeps failing costs an HMAC for each configured token; past
 * the allowance it is told to wait, while whoever shows a valid token is never held up by it.
 */

/** Failures that an address may have at once, and in each minute. */
const ALLOWANCE = 600;
const REFILL_PER_MS = ALLOWANCE / 60_000;
/** Addresses remembered; the one that failed longest ago goes first. */
const MAX_ADDRESSES = 10_000;

interface Bucket {
  left: number;
  at: number;
}

/** Counts refused logins by address, to slow down who guesses. */
export class AuthFailures {
  readonly #buckets = new Map<string, Bucket>();
  readonly #now: () => number;

  /** `now` in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts one failure; false when the address has used up its allowance. */
  count(address: string): boolean {
    const now = this.#now();
    const bucket = this.#buckets.get(address) ?? { left: ALLOWANCE, at: now };
    const refill = Math.max(0, now - bucket.at) * REFILL_PER_MS;
    const left = Math.min(ALLOWANCE, bucket.left + refill);
    // Delete first: a Map keeps the order of insertion, and this one has just failed.
    this.#buckets.delete(address);
    this.#buckets.set(address, { left: Math.max(0, left - 1), at: now });
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= MAX_ADDRESSES) break;
      this.#buckets.delete(oldest);
    }
    return left >= 1;
  }
}
