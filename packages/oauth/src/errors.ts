/**
 * The one error of this package.
 *   X1  `message`, `stack`, `toJSON` and `util.inspect` hold fixed text and safe values: no token, secret, code, state,
 *       verifier, body or query.
 *   X2  `body`, `oauthError` and `cause` can be read, but are in no listing of the error.
 *   X3  Whether a repeat can help is decided here, from kind, status and reason.
 */

/** Kind of an error, in the words of the specification. @see specification, "Errors" */
export type OAuthErrorKind = "Http" | "Token" | "NoRefreshToken" | "Credential" | "Decode";

/** The same as a code, for logs and problem documents. */
export type OAuthErrorCode =
  | "oauth_http"
  | "oauth_token"
  | "oauth_no_refresh_token"
  | "oauth_credential"
  | "oauth_decode";

/**
 * What exactly, where a program can do something about it.
 *   Http        `bind`, `network`, `timeout`, `redirect_timeout`
 *   Token       `denied`, `state_mismatch`, `issuer_mismatch`, `endpoint`
 *   Credential  `locked`, `unavailable`, `no_backend`, `helper_timeout`, `helper_crash`, `too_large`, `lock_timeout`, `decrypt`
 */
export type OAuthReason =
  | "bind"
  | "network"
  | "timeout"
  | "redirect_timeout"
  | "denied"
  | "state_mismatch"
  | "issuer_mismatch"
  | "endpoint"
  | "locked"
  | "unavailable"
  | "no_backend"
  | "helper_timeout"
  | "helper_crash"
  | "too_large"
  | "lock_timeout"
  | "decrypt";

/** Details of a failure. `status` and `body` belong to kind `Token`, `oauthError` also to `Decode`. */
export interface OAuthErrorOptions {
  readonly reason?: OAuthReason | undefined;
  readonly status?: number | undefined;
  readonly body?: string | undefined;
  readonly oauthError?: string | undefined;
  readonly cause?: unknown;
}

const MARK = Symbol.for("@millrace/oauth.error.OAuthError");
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

const CODES: Readonly<Record<OAuthErrorKind, OAuthErrorCode>> = {
  Http: "oauth_http",
  Token: "oauth_token",
  NoRefreshToken: "oauth_no_refresh_token",
  Credential: "oauth_credential",
  Decode: "oauth_decode",
};

/** Everything that can go wrong at run time, but for an abort. Branch on `kind` or `code`. */
export class OAuthError extends Error {
  static {
    // biome-ignore lint/complexity/noThisInStatic: bundlers rename a class that names itself here, and Node prints that name.
    const { prototype } = this;
    // On the prototype, so that V8 writes it into the first line of the stack.
    Object.defineProperty(prototype, "name", { value: "OAuthError" });
    Object.defineProperty(prototype, INSPECT, { value: inspectSafely });
  }

  declare readonly name: "OAuthError";
  readonly kind: OAuthErrorKind;
  readonly code: OAuthErrorCode;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Kind `Token`: the status of the answer; 400 where the user denied or the state did not match. */
  declare readonly status?: number;
  /** Kind `Token`: the answer as it came, bytes that are no UTF-8 replaced, at most 1 MiB. Not enumerable: it may echo a secret. */
  declare readonly body?: string;
  /** Kind `Token`, and `Decode` of an error with a status of success: `error` of the body, as the server wrote it. Not enumerable. */
  declare readonly oauthError?: string;
  /** Cause within its kind. */
  declare readonly reason?: OAuthReason;

  constructor(kind: OAuthErrorKind, message: string, options: OAuthErrorOptions = {}) {
    super(message);
    const { reason, status, body, oauthError, cause } = options;
    this.kind = kind;
    this.code = CODES[kind];
    this.retryable = isRetryable(options);
    if (status !== undefined) this.status = status;
    if (reason !== undefined) this.reason = reason;
    for (const [name, value] of Object.entries({ body, oauthError, cause })) {
      // As getters: Node prints an uncaught error with its cause and without our own inspection.
      if (value !== undefined) Object.defineProperty(this, name, { get: () => value });
    }
    Object.defineProperty(this, MARK, { value: true });
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown, kind?: OAuthErrorKind): value is OAuthError {
    return (
      typeof value === "object" &&
      value !== null &&
      MARK in value &&
      (kind === undefined || (value as { kind?: unknown }).kind === kind)
    );
  }

  /** `{"name":"OAuthError","kind":"Token","code":"oauth_token","message":"…","status":400,"reason":"endpoint"}`. */
  toJSON(): {
    name: "OAuthError";
    kind: OAuthErrorKind;
    code: OAuthErrorCode;
    message: string;
    status?: number;
    reason?: OAuthReason;
  } {
    return {
      name: "OAuthError",
      kind: this.kind,
      code: this.code,
      message: this.message,
      ...(this.status !== undefined && { status: this.status }),
      ...(this.reason !== undefined && { reason: this.reason }),
    };
  }
}

/** Output of Node's `inspect`: by default it would show a cause even where it is not enumerable, and everything with `showHidden`. */
function inspectSafely(
  this: OAuthError,
  _depth: number,
  options: object,
  inspect?: (value: object, options: object) => string,
): string {
  const { name: _name, message: _message, ...fields } = this.toJSON();
  return `${this.stack} ${inspect?.(fields, options) ?? JSON.stringify(fields)}`;
}

function isRetryable({ reason, status }: OAuthErrorOptions): boolean {
  switch (reason) {
    case "network":
    case "timeout":
    case "lock_timeout":
    case "helper_timeout":
      return true;
    case "endpoint":
      return (
        status === 408 ||
        status === 425 ||
        status === 429 ||
        (status !== undefined && status >= 500)
      );
    default:
      return false;
  }
}

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
