import type { OAuthToken } from "./types.ts";

/** A token is not begun with in its last minute. @see specification, "Limits" */
const SKEW_MS = 60_000;

/**
 * Whether `now` plus 60 seconds has reached `expires_at`; without `expires_at` a token never expires. One that cannot be
 * read is expired.
 * @see specification, "OAuthToken"
 */
export function isExpired(token: OAuthToken, now: Date = new Date()): boolean {
  // "not before": a comparison with NaN is false, and must not make a token fresh for ever.
  return (
    token.expires_at !== undefined && !(now.getTime() + SKEW_MS < Date.parse(token.expires_at))
  );
}
