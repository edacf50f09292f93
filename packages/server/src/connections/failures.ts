/** OAuth errors in the words of their readers: node errors for runs, problems for commands. */
import { NodeError } from "@millrace/contracts";
import { OAuthError } from "@millrace/oauth";
import { ProblemError } from "../errors.ts";
import { isClientRefused } from "./oauth-client.ts";

/** Answers of a token endpoint after which only a person can help; the last three are words of Slack and GitHub. */
const GRANT_IS_GONE: ReadonlySet<string | undefined> = new Set([
  "invalid_grant",
  "invalid_client",
  "unauthorized_client",
  "invalid_refresh_token",
  "bad_refresh_token",
  "token_revoked",
]);

const reconnect = (slug: string): string => `Reconnect the service: millrace connect ${slug}`;

/** Nothing is stored for a connection; `service`: what it is to be of, where no record says so. */
export function credentialsMissing(slug: string, what: string, service: string = slug): NodeError {
  const of = service === slug ? "" : ` --service ${service}`;
  const message = `${what}. Connect it: millrace connect ${slug}${of}`;
  return new NodeError("credentials_missing", message, { reason: "auth" });
}

/** The stored credentials of a connection can no longer be used. */
export function credentialsExpired(slug: string, what: string, cause?: unknown): NodeError {
  const message = `${what}. ${reconnect(slug)}`;
  return new NodeError("credentials_expired", message, { reason: "auth", cause });
}

/** Whether the connection needs a person before it can work again. */
export function needsReconnect(error: unknown): boolean {
  if (!OAuthError.isInstance(error)) return false;
  if (GRANT_IS_GONE.has(error.oauthError)) return true;
  return error.kind === "NoRefreshToken" || isStoredTokenFault(error);
}

/** The node error of a failure to load or renew the credential of a connection; what is no `OAuthError` stays as it is. */
export function toNodeError(error: unknown, slug: string, tokenHost: string): unknown {
  if (!OAuthError.isInstance(error)) return error;
  const { kind, message, retryable, status = 0, cause } = error;
  const what = `the credential of connection "${slug}" could not be renewed`;
  if (NodeError.isInstance(cause)) {
    // A refusal of the egress policy is the operator's word, not a fault of the network.
    if (cause.code === "egress_denied") return cause;
    const { reason, retryable } = cause;
    return new NodeError(cause.code, `${what}: ${cause.message}`, {
      ...(reason !== undefined && { reason }),
      retryable,
      sent: false,
      cause, // a call takes a fault without a cause for its own
    });
  }
  switch (kind) {
    case "NoRefreshToken":
      return new NodeError("no_refresh_token", message, { reason: "auth", cause });
    case "Credential":
      return new NodeError("unavailable", message, {
        reason: "unavailable",
        retryable,
        sent: false,
      });
    case "Http": {
      const code = error.reason === "timeout" ? "timeout" : "network";
      return new NodeError(code, `${what}: ${message}; host ${tokenHost}`, {
        reason: code,
        retryable,
        sent: false,
        cause: error,
      });
    }
    case "Token":
      if (isClientRefused(error)) {
        const why =
          "the id or the secret of the client is not right: give both with --client-id ID --secret-stdin";
        return credentialsExpired(slug, `${what}: ${message}; ${why}`, error);
      }
      if (needsReconnect(error)) return credentialsExpired(slug, `${what}: ${message}`, error);
      return new NodeError("http_status", `${what}: the token endpoint answered ${status}`, {
        reason: status === 429 ? "rate_limit" : status >= 500 ? "server" : "client",
        status,
        retryable,
        sent: false,
      });
    case "Decode":
      if (isStoredTokenFault(error)) return credentialsExpired(slug, message, error);
      if (needsReconnect(error)) return credentialsExpired(slug, `${what}: ${message}`, error);
      return new NodeError("decode_failed", `${what}: ${message}`, { reason: "server" });
  }
}

/** The problem of a failed command; what is no `OAuthError` stays as it is. */
export function toProblem(error: unknown): unknown {
  if (!OAuthError.isInstance(error)) return error;
  const { kind, reason, message: detail, oauthError } = error;
  const options = { detail, cause: error };
  switch (kind) {
    case "NoRefreshToken":
      return new ProblemError("reconnect_service", options);
    case "Credential":
      return new ProblemError("credential_store_unavailable", options);
    case "Http":
      if (reason === "bind") return new ProblemError("in_use", options);
      return new ProblemError(
        reason === "timeout" ? "upstream_timeout" : "upstream_failed",
        options,
      );
    case "Token":
      return new ProblemError(
        oauthError === "invalid_grant" ? "reconnect_service" : "upstream_failed",
        options,
      );
    case "Decode":
      return new ProblemError("upstream_failed", options);
  }
}

function isStoredTokenFault({ kind, message }: OAuthError): boolean {
  return kind === "Decode" && message.startsWith("stored ");
}
