/**
 * How often something may happen in a minute, by key: an allowance that is used up one by one and fills again as time passes.
 * What was used longest ago is forgotten first.
 */

/** Keys remembered; one that is forgotten has its whole allowance again. */
const MAX_KEYS = 10_000;
const MINUTE_MS = 60_000;

interface Bucket {
  readonly left: number;
  readonly at: number;
}

/** An allowance for each key. */
export class TokenBuckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #allowance: number;
  readonly #now: () => number;

  /** `allowance`: how many at once, and in each minute. `now` in milliseconds. */
  constructor(allowance: number, now: () => number) {
    this.#allowance = allowance;
    this.#now = now;
  }

  /** Counts one; false when the key has used up its allowance. */
  take(key: string): boolean {
    const now = this.#now();
    const bucket = this.#buckets.get(key) ?? { left: this.#allowance, at: now };
    const refill = (Math.max(0, now - bucket.at) * this.#allowance) / MINUTE_MS;
    const left = Math.min(this.#allowance, bucket.left + refill);
    // Delete first: a Map keeps the order of insertion, and this one was just used.
    this.#buckets.delete(key);
    this.#buckets.set(key, { left: Math.max(0, left - 1), at: now });
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= MAX_KEYS) break;
      this.#buckets.delete(oldest);
    }
    return left >= 1;
  }
}
