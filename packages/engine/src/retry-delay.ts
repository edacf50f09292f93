/** Pause before a retry: grows, is capped, and is spread so that runs which failed together do not return together. */
import type { RetryPolicy } from "@millrace/contracts";

const DELAY_MS = 500; // long enough for a hiccup to pass, short enough to be waited for
const MAX_DELAY_MS = 30_000; // a longer wait needs a schedule, not a retry

/** A service that asks for a longer pause than this gets no retry: the run would look stuck. */
export const MAX_RETRY_AFTER_MS = 600_000;

/**
 * Milliseconds to wait after failed attempt `failed` (1-based). `retryAfterMs` of the other side counts as a lower bound
 * and is not spread. `random` is in [0, 1).
 */
export function retryDelayMs(
  policy: RetryPolicy,
  failed: number,
  options: { random: () => number; retryAfterMs?: number | undefined },
): number {
  const base = policy.delayMs ?? DELAY_MS;
  const factor = { constant: 1, linear: failed, exponential: 2 ** (failed - 1) };
  const grown = base * factor[policy.backoff ?? "exponential"];
  const capped = Math.min(grown, policy.maxDelayMs ?? MAX_DELAY_MS);
  const asked = options.retryAfterMs ?? 0;
  if (asked >= capped || policy.jitter === false) return Math.ceil(Math.max(capped, asked));
  return Math.ceil(Math.max(capped / 2 + (capped / 2) * options.random(), asked));
}
