/**
 * The error codes that the specifications of OAuth register. Only these are copied into a message: a server may write
 * anything into `error`, the client secret too.
 * @see RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 7009 §2.2.1, RFC 8628 §3.5, RFC 8707 §2, RFC 9449 §5 and §8, OpenID Connect Core §3.1.2.6
 */
const REGISTERED: ReadonlySet<string> = new Set(
  (
    "invalid_request invalid_client invalid_grant unauthorized_client unsupported_grant_type invalid_scope " +
    "access_denied unsupported_response_type server_error temporarily_unavailable " +
    "invalid_token insufficient_scope unsupported_token_type " +
    "authorization_pending slow_down expired_token invalid_target invalid_dpop_proof use_dpop_nonce " +
    "interaction_required login_required account_selection_required consent_required " +
    "invalid_request_uri invalid_request_object request_not_supported request_uri_not_supported registration_not_supported"
  ).split(" "),
);

/** ` (invalid_grant)` for a registered code, else "": the end of a message. */
export function registeredError(error: string | undefined): string {
  return error !== undefined && REGISTERED.has(error) ? ` (${error})` : "";
}
