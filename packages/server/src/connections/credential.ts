/** A token as a run gets it: it can be asked for, and shown nowhere. */

import type { ServiceAuth, ServiceCredential } from "@millrace/contracts";
import { REDACTED } from "@millrace/contracts/kit";
import type { OAuthToken } from "@millrace/oauth";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Makes a credential; its value is in no listing, JSON or inspection of it. */
export function createCredential(auth: ServiceAuth, token?: OAuthToken): ServiceCredential {
  const value = token?.access_token ?? "";
  const hidden = (): string => REDACTED;
  const { scheme } = auth;
  const includes = (auth.scheme === "oauth2" && auth.includes) || {};
  const scopes = scopesOf(token).flatMap((scope) => [
    scope,
    ...(Object.hasOwn(includes, scope) ? (includes[scope] ?? []) : []),
  ]);
  const credential = { scheme, scopes, reveal: () => value };
  const members = { toJSON: hidden, toString: hidden, [INSPECT]: hidden };
  for (const key of Reflect.ownKeys(members)) {
    Object.defineProperty(credential, key, { value: hidden });
  }
  return Object.freeze(credential);
}

/** The scopes of a token. They are parted by spaces, by some servers with commas. @see RFC 6749 section 3.3 */
export function scopesOf(token: OAuthToken | undefined): readonly string[] {
  const scope = token?.scope ?? "";
  return scope.split(scope.includes(" ") ? " " : /[ ,]/).filter((name) => name !== "");
}
