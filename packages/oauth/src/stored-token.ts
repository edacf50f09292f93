/**
 * Tokens in a credential store, as JSON under `service:<slug>`.
 *   S1  A failing store is an error of kind `Credential`; it never looks like a missing entry.
 *   S2  An entry that was written here is read here, unchanged.
 */
import { OAuthError } from "./errors.ts";
import { JsonFields } from "./json-fields.ts";
import type { CredentialStore, OAuthToken } from "./types.ts";

/** RFC 3339 with an offset. `Date.parse` alone also takes `1`, zone-less times and 24:00. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

/**
 * The account of a service connection: `service:<slug>`. Throws `OAuthError` kind `Credential` for an empty slug, and for
 * one with NUL or half a surrogate pair, which stores cut or mangle.
 * @see specification, "Credential-store entry"
 */
export function accountFor(slug: string): string {
  if (typeof slug !== "string" || slug === "" || /[\0\p{Surrogate}]/u.test(slug)) {
    throw new OAuthError(
      "Credential",
      "credential store: a slug must be text that is not empty, without NUL and without halves of surrogate pairs. Choose another slug.",
    );
  }
  return `service:${slug}`;
}

/** Writes a token under `service:<slug>`. Throws `OAuthError` kind `Credential` when the store fails. */
export async function storeToken(
  store: CredentialStore,
  slug: string,
  token: OAuthToken,
): Promise<void> {
  await writeEntry(store, accountFor(slug), printToken(token));
}

/**
 * Reads the token under `service:<slug>`; undefined when there is no entry. Throws `OAuthError` kind `Credential` when the
 * store fails, and kind `Decode` when the entry is not a token.
 */
export async function loadToken(
  store: CredentialStore,
  slug: string,
): Promise<OAuthToken | undefined> {
  const text = await readEntry(store, accountFor(slug));
  return text === undefined ? undefined : parseToken(text);
}

/** Removes the entry `service:<slug>`; whether there was one. Throws `OAuthError` kind `Credential` when the store fails. */
export async function deleteToken(store: CredentialStore, slug: string): Promise<boolean> {
  return deleteEntry(store, accountFor(slug));
}

/** The text of any entry; undefined when there is none. Throws `OAuthError` kind `Credential` when the store fails. */
export async function readEntry(
  store: CredentialStore,
  account: string,
): Promise<string | undefined> {
  return (await onEntry("read", account, () => store.get(account))) ?? undefined;
}

/** Writes any entry. Throws as `readEntry` does. */
export function writeEntry(store: CredentialStore, account: string, text: string): Promise<void> {
  return onEntry("written", account, () => store.set(account, text));
}

/** Removes any entry; whether there was one. Throws as `readEntry` does. */
export function deleteEntry(store: CredentialStore, account: string): Promise<boolean> {
  return onEntry("deleted", account, () => store.delete(account));
}

/** Keys in the order of the specification, no whitespace, absent fields left out. */
export function printToken({
  access_token,
  refresh_token,
  expires_at,
  token_type,
  scope,
}: OAuthToken): string {
  return JSON.stringify({ access_token, refresh_token, expires_at, token_type, scope });
}

/** The token of a stored text. Throws `OAuthError` kind `Decode`; fields of other names are ignored. */
export function parseToken(text: string): OAuthToken {
  const fields = new JsonFields("stored token", text);
  const refresh_token = fields.string("refresh_token");
  const expires_at = fields.string("expires_at");
  if (expires_at !== undefined && !isTimestamp(expires_at)) {
    throw fields.fault("expires_at must be an RFC 3339 timestamp with Z or an offset");
  }
  const token = { access_token: fields.text("access_token") } as OAuthToken;
  if (refresh_token !== undefined) token.refresh_token = refresh_token;
  if (expires_at !== undefined) token.expires_at = expires_at;
  token.token_type = fields.string("token_type") ?? "";
  token.scope = fields.string("scope") ?? "";
  return token;
}

/** `Date.parse` moves a day that its month does not have into the next month, so the day is read back. */
function isTimestamp(text: string): boolean {
  if (!RFC_3339.test(text) || Number.isNaN(instantOf(text))) return false;
  const day = text.slice(0, 10);
  if (day.slice(-2) <= "28") return true; // every month has those, and reading back costs as much as all the rest
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

let latest = "";
let latestMs = Number.NaN;

/** `Date.parse`, of the latest text once: a token that is used often has one `expires_at`, which takes longer to read than its JSON. */
export function instantOf(text: string): number {
  if (text !== latest) latestMs = Date.parse(text);
  latest = text;
  return latestMs;
}

/** Converts an error of the store; its message is left out, because it may quote the entry. */
async function onEntry<T>(done: string, account: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (OAuthError.isInstance(cause, "Credential")) throw cause;
    throw new OAuthError(
      "Credential",
      `credential store: the entry "${account}" could not be ${done}. Check that the store is running and unlocked, then try again.`,
      { reason: "unavailable", cause },
    );
  }
}
