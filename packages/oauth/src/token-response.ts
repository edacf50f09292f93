/** From the answer of a token endpoint to a token. Pure: the clock is an argument. */
import { registeredError } from "./errors.ts";
import { JsonFields } from "./json-fields.ts";
import type { OAuthToken } from "./types.ts";

/** How long `2026-01-01T00:00:00.000Z` is. A year before 0 or behind 9999 is written longer, and is no ISO timestamp of ours. */
const ISO_LENGTH = 24;

/**
 * The token in the body of a 2xx answer: `{"access_token":"a","expires_in":3600,"token_type":"Bearer","scope":"s"}`.
 * `expires_at` is `now` plus `expires_in`. Without `refresh_token` in the answer the previous one stays. `token_type` and
 * `scope` are copied untouched, "" when absent. `lenient` also takes `expires_in` as digits in a string, and floors fractions,
 * takes scopes as a list, and the answer as a form (`access_token=a&scope=s`), as servers did before RFC 6749.
 * Throws `OAuthError` kind `Decode` when the body has another shape; `oauthError` is there where the body is an error.
 * @see specification, "Token-endpoint response"
 */
export function tokenFromResponse(
  body: string,
  options: {
    readonly previousRefreshToken?: string | undefined;
    readonly now?: Date | undefined;
    readonly lenient?: boolean | undefined;
  } = {},
): OAuthToken {
  const { now = new Date(), lenient = false } = options;
  const isForm = lenient && /^\w+=/.test(body);
  const fields = new JsonFields(
    "token response",
    isForm ? JSON.stringify(Object.fromEntries(new URLSearchParams(body))) : body,
  );
  const error = fields.get("error");
  if (typeof error === "string" && fields.get("access_token") === undefined) {
    const rule = `it is an error${registeredError(error)} although the status is a success`;
    throw fields.fault(rule, { oauthError: error });
  }
  const access_token = fields.text("access_token");
  // RFC 6749 A.17 gives a refresh token at least one character: an empty one is none.
  const refresh_token = fields.string("refresh_token") || options.previousRefreshToken;
  const expires_at = expiresAt(fields, now, lenient);
  return {
    access_token,
    ...(refresh_token && { refresh_token }),
    ...(expires_at && { expires_at }),
    token_type: fields.string("token_type") ?? "",
    scope: (lenient ? fields.list("scope") : fields.string("scope")) ?? "",
  };
}

function expiresAt(fields: JsonFields, now: Date, lenient: boolean): string | undefined {
  let seconds = fields.get("expires_in");
  if (seconds === undefined) return undefined;
  if (lenient) {
    if (typeof seconds === "string" && /^\d+$/.test(seconds)) seconds = Number(seconds);
    if (typeof seconds === "number") seconds = Math.floor(seconds);
  }
  if (!Number.isSafeInteger(seconds)) throw fields.fault("expires_in must be an integer");
  const time = new Date(now.getTime() + (seconds as number) * 1000);
  const text = Number.isNaN(time.getTime()) ? "" : time.toISOString();
  if (text.length !== ISO_LENGTH) {
    throw fields.fault("expires_in must end between the years 0 and 9999");
  }
  return text;
}
