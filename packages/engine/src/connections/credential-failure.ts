/**
 * What a credentials port threw, as a failure of the node. The port may speak in `NodeError`, or pass on errors of
 * `@millrace/oauth`, which are told by their code alone: the engine knows no OAuth.
 */
import { NodeError } from "@millrace/contracts";
import { mustReconnect } from "./refusals.ts";

/** Errors of a token endpoint that no second try mends (RFC 6749, section 5.2); the last three are words of Slack and GitHub. */
const REFUSED_GRANTS: ReadonlySet<unknown> = new Set([
  "invalid_grant",
  "invalid_client",
  "unauthorized_client",
  "invalid_refresh_token",
  "bad_refresh_token",
  "token_revoked",
]);

/** The members of an error of `@millrace/oauth` that are read here; its messages hold no secret. */
interface TokenFailure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly status?: number;
  readonly oauthError?: string;
  readonly reason?: string;
}

/** The failure of a node whose credential could not be had. `host`: the one that gives tokens. */
export function credentialFailure(
  thrown: unknown,
  { slug, host }: { readonly slug: string; readonly host: string },
): NodeError {
  if (NodeError.isInstance(thrown)) return thrown;
  if (!isTokenFailure(thrown)) {
    return new NodeError("internal", `the credential of ${slug} could not be read`, {
      reason: "internal",
    });
  }
  const { code, message, retryable, status, reason, oauthError } = thrown;
  // Whatever the code: some token endpoints say no with a status of success.
  if (REFUSED_GRANTS.has(oauthError)) {
    return mustReconnect("credentials_expired", "the service no longer accepts the grant", slug);
  }
  switch (code) {
    case "oauth_no_refresh_token":
      return mustReconnect("no_refresh_token", "no refresh token is stored", slug);
    case "oauth_credential":
      return new NodeError("unavailable", message, { reason: "unavailable", retryable });
    case "oauth_http": {
      const late = reason === "timeout";
      const what = late ? "the token request took too long" : "the token request failed";
      const kind = late ? "timeout" : "network";
      const more = { reason: kind, retryable, sent: false, cause: code };
      return new NodeError(kind, `${what}: ${host}`, more);
    }
    case "oauth_token":
      return new NodeError("http_status", `the token request to ${host} was answered ${status}`, {
        reason: retryable ? "server" : "client",
        retryable,
        ...(status !== undefined && { status }),
      });
    default:
      // An entry of ours that cannot be read needs a new one; an answer may be better the next time.
      return message.startsWith("stored token")
        ? mustReconnect("credentials_expired", "the stored credential cannot be read", slug)
        : new NodeError("decode_failed", message, { reason: "output" });
  }
}

function isTokenFailure(thrown: unknown): thrown is TokenFailure {
  if (typeof thrown !== "object" || thrown === null) return false;
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  return typeof code === "string" && code.startsWith("oauth_") && typeof message === "string";
}
