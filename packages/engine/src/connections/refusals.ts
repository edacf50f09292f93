/** Errors of connections. The ends of their messages are fixed: people and scripts act on them. */
import { NodeError } from "@millrace/contracts";

/** Codes of credentials that are of no use any more, or not there. */
export type AuthFailure = "credentials_missing" | "credentials_expired" | "no_refresh_token";

/** Nothing was ever connected: the message ends with the command that connects, which knows a service only by its own name. */
export function notConnected(
  what: string,
  { slug, service }: { readonly slug: string; readonly service: string },
): NodeError {
  const of = service === slug ? "" : ` --service ${service}`;
  return authFailed("credentials_missing", `${what}. Connect it: millrace connect ${slug}${of}`);
}

/** Connected once, and of no use any more: the message ends with the command that connects again. */
export function mustReconnect(code: AuthFailure, what: string, slug: string): NodeError {
  return authFailed(code, `${what}. Reconnect the service: millrace connect ${slug}`);
}

/** The grant is too small; connecting again asks for more. */
export function scopesMissing(slug: string, scopes: readonly string[]): Error {
  const list = [...new Set(scopes)].join(" ") || "the service does not say which";
  return mustReconnect("credentials_missing", `missing scopes: ${list}`, slug);
}

function authFailed(code: AuthFailure, message: string): NodeError {
  return new NodeError(code, message, { reason: "auth", sent: false });
}

/** A request that would leave the origin of its connection. */
export function offOrigin(what: string): NodeError {
  return new NodeError("egress_denied", `connection-origin: ${what}`, { reason: "denied" });
}
