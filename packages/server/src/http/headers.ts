/** Headers of every response, and those of cross-origin requests. */

/** Names to values, as `writeHead` takes them. */
export type HeaderRecord = Record<string, string | number>;

const ALLOWED_REQUEST_HEADERS =
  "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id";
const EXPOSED_HEADERS = "Millrace-Run-Id, ETag, Location, Link, Idempotent-Replayed, Retry-After";
/** How long a browser may keep the answer of a preflight, in seconds. */
const PREFLIGHT_MAX_AGE = 600;

/** The headers that every response carries; later ones of the same spelling replace them. */
export function baseHeaders(requestId: string, corsOrigin: string | null): HeaderRecord {
  const headers: HeaderRecord = {
    "X-Request-Id": requestId,
    "Millrace-Api-Version": "1",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
  };
  if (corsOrigin !== null) {
    headers["Access-Control-Allow-Origin"] = corsOrigin;
    headers["Access-Control-Expose-Headers"] = EXPOSED_HEADERS;
    headers["Vary"] = "Origin";
  }
  return headers;
}

/** What a preflight of an allowed origin learns besides `baseHeaders`. Never credentials. */
export function preflightHeaders(methods: readonly string[]): HeaderRecord {
  return {
    "Access-Control-Allow-Methods": methods.join(", "),
    "Access-Control-Allow-Headers": ALLOWED_REQUEST_HEADERS,
    "Access-Control-Max-Age": PREFLIGHT_MAX_AGE,
    "Access-Control-Allow-Private-Network": "true",
  };
}
