/** The shapes of this package. The wire and the stored entry keep the spelling of RFC 6749; the rest is camelCase. */

/**
 * A token as it is stored: `{"access_token":"a","refresh_token":"r","expires_at":"2026-01-01T00:00:00.000Z","token_type":"Bearer","scope":"s"}`.
 * @see specification, "OAuthToken"
 */
export interface OAuthToken {
  access_token: string;
  /** Absent: the token cannot be renewed. */
  refresh_token?: string;
  /** ISO 8601 timestamp; absent: never expires. */
  expires_at?: string;
  /** As the server wrote it; "" when it wrote none. */
  token_type: string;
  /** As the server wrote it; "" when it wrote none. */
  scope: string;
}

/** Parameters of an authorize URL. */
export interface AuthorizeParams {
  /** Where the user is asked; a query and a fragment of its own are kept. */
  readonly authorizeUrl: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly state: string;
  /** Adds `code_challenge` and `code_challenge_method=S256`. @see RFC 7636 */
  readonly pkce?: { readonly challenge: string } | undefined;
  /** Adds a `resource` for each. @see RFC 8707 */
  readonly resource?: readonly string[] | undefined;
  /** Further parameters, at the end, in this order. Naming one of ours is a `TypeError`. */
  readonly extraParams?: Readonly<Record<string, string>> | undefined;
}

/** Where and how tokens are asked for. */
export interface TokenEndpoint {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Needed unless `clientAuth` is `"none"`. */
  readonly clientSecret?: string | undefined;
  /** `"post"` (default): the secret is a field of the form. `"basic"`: an `Authorization` header. `"none"`: a public client. */
  readonly clientAuth?: "post" | "basic" | "none" | undefined;
  /** Adds a `resource` for each. @see RFC 8707 */
  readonly resource?: readonly string[] | undefined;
  /** Further form fields, at the end, in this order. Naming one of ours is a `TypeError`. */
  readonly extraParams?: Readonly<Record<string, string>> | undefined;
  /** Also takes `expires_in` as digits or a fraction, scopes as a list, and a form instead of JSON. Default false. */
  readonly lenient?: boolean | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long connecting, headers and body may take together. Default 30000; it may be lowered, never raised. */
  readonly timeoutMs?: number | undefined;
  /** The clock. Default: the system's. */
  readonly now?: (() => Date) | undefined;
}

/** Where tokens are kept: text by account name. A failure is thrown, and is never reported as a missing entry. */
export interface CredentialStore {
  /** The stored text; null or undefined when there is no entry. */
  get(account: string): Promise<string | null | undefined>;
  set(account: string, value: string): Promise<void>;
  /** Whether there was an entry. */
  delete(account: string): Promise<boolean>;
  /** The account names, where the store can tell them. */
  list?(): Promise<string[]>;
}

/** A lock that one owner has at a time, across processes. */
export interface Lock {
  /** Waits for the lock at most `timeoutMs`, then rejects with `OAuthError` kind `Credential`, reason `lock_timeout`. */
  acquire(
    key: string,
    options: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<{
    /** Whether the lock is still ours: false once another took it over. */
    held(): Promise<boolean>;
    release(): Promise<void>;
  }>;
}
