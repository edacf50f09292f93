/** The public types, name by name. What is optional here is optional for every caller. */
import {
  type AuthorizeParams,
  accountFor,
  buildAuthorizeUrl,
  type CredentialStore,
  deleteToken,
  ensureFreshToken,
  exchangeCode,
  generatePkce,
  generateState,
  isExpired,
  type Lock,
  loadToken,
  OAuthError,
  type OAuthErrorCode,
  type OAuthErrorKind,
  type OAuthReason,
  type OAuthToken,
  percentEncode,
  refreshToken,
  revokeToken,
  storeToken,
  type TokenEndpoint,
  tokenFromResponse,
} from "@millrace/oauth";
import {
  acceptOAuthCode,
  bindLoopback,
  type ConnectOptions,
  connectService,
  type LoopbackListener,
  type LoopbackPage,
} from "@millrace/oauth/loopback";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { expectTypeOf, test } from "vitest";

type Client = Omit<TokenEndpoint, "tokenUrl">;
type Pages = Partial<Record<"ok" | "denied" | "notFound", LoopbackPage>>;

test("errors are told apart by closed unions", () => {
  expectTypeOf<OAuthErrorKind>().toEqualTypeOf<
    "Http" | "Token" | "NoRefreshToken" | "Credential" | "Decode"
  >();
  expectTypeOf<OAuthErrorCode>().toEqualTypeOf<
    "oauth_http" | "oauth_token" | "oauth_no_refresh_token" | "oauth_credential" | "oauth_decode"
  >();
  expectTypeOf<Omit<OAuthError, keyof Error>>().toEqualTypeOf<{
    readonly kind: OAuthErrorKind;
    readonly code: OAuthErrorCode;
    readonly retryable: boolean;
    readonly status?: number;
    readonly body?: string;
    readonly oauthError?: string;
    readonly reason?: OAuthReason;
    toJSON: () => {
      name: "OAuthError";
      kind: OAuthErrorKind;
      code: OAuthErrorCode;
      message: string;
      status?: number;
      reason?: OAuthReason;
    };
  }>();
  expectTypeOf<OAuthError>().toExtend<Error>();
  expectTypeOf(OAuthError.isInstance).toEqualTypeOf<
    (value: unknown, kind?: OAuthErrorKind) => value is OAuthError
  >();
});

test("a token has the fields of the specification", () => {
  expectTypeOf<OAuthToken>().toEqualTypeOf<{
    access_token: string;
    refresh_token?: string;
    expires_at?: string;
    token_type: string;
    scope: string;
  }>();
});

test("the authorize URL and its parts", () => {
  expectTypeOf<AuthorizeParams>().toEqualTypeOf<{
    readonly authorizeUrl: string;
    readonly clientId: string;
    readonly redirectUri: string;
    readonly scopes: readonly string[];
    readonly state: string;
    readonly pkce?: { readonly challenge: string } | undefined;
    readonly resource?: readonly string[] | undefined;
    readonly extraParams?: Readonly<Record<string, string>> | undefined;
  }>();
  expectTypeOf(buildAuthorizeUrl).toEqualTypeOf<(params: AuthorizeParams) => string>();
  expectTypeOf(percentEncode).toEqualTypeOf<(s: string) => string>();
  expectTypeOf(generateState).toEqualTypeOf<() => string>();
  expectTypeOf(generatePkce).toEqualTypeOf<
    () => Promise<{ verifier: string; challenge: string; method: "S256" }>
  >();
});

test("the token requests", () => {
  expectTypeOf<TokenEndpoint>().toEqualTypeOf<{
    readonly tokenUrl: string;
    readonly clientId: string;
    readonly clientSecret?: string | undefined;
    readonly clientAuth?: "post" | "basic" | "none" | undefined;
    readonly resource?: readonly string[] | undefined;
    readonly extraParams?: Readonly<Record<string, string>> | undefined;
    readonly lenient?: boolean | undefined;
    readonly fetch?: typeof fetch | undefined;
    readonly signal?: AbortSignal | undefined;
    readonly timeoutMs?: number | undefined;
    readonly now?: (() => Date) | undefined;
  }>();
  expectTypeOf(exchangeCode).toEqualTypeOf<
    (
      p: TokenEndpoint & { code: string; redirectUri: string; codeVerifier?: string | undefined },
    ) => Promise<OAuthToken>
  >();
  expectTypeOf(refreshToken).toEqualTypeOf<
    (p: TokenEndpoint & { refreshToken: string; scopes?: readonly string[] }) => Promise<OAuthToken>
  >();
  expectTypeOf(revokeToken).toEqualTypeOf<
    (
      p: Client & {
        revocationUrl: string;
        token: string;
        hint?: "access_token" | "refresh_token";
      },
    ) => Promise<void>
  >();
  expectTypeOf(tokenFromResponse).toEqualTypeOf<
    (
      body: string,
      options?: {
        readonly previousRefreshToken?: string | undefined;
        readonly now?: Date | undefined;
        readonly lenient?: boolean | undefined;
      },
    ) => OAuthToken
  >();
  expectTypeOf(isExpired).toEqualTypeOf<(token: OAuthToken, now?: Date) => boolean>();
});

test("stores, locks and what is kept in them", () => {
  expectTypeOf<CredentialStore>().toEqualTypeOf<{
    get(account: string): Promise<string | null | undefined>;
    set(account: string, value: string): Promise<void>;
    delete(account: string): Promise<boolean>;
    list?(): Promise<string[]>;
  }>();
  expectTypeOf<Lock>().toEqualTypeOf<{
    acquire(
      key: string,
      options: { timeoutMs: number; signal?: AbortSignal | undefined },
    ): Promise<{ held(): Promise<boolean>; release(): Promise<void> }>;
  }>();
  expectTypeOf(accountFor).toEqualTypeOf<(slug: string) => string>();
  expectTypeOf(storeToken).toEqualTypeOf<
    (store: CredentialStore, slug: string, token: OAuthToken) => Promise<void>
  >();
  expectTypeOf(loadToken).toEqualTypeOf<
    (store: CredentialStore, slug: string) => Promise<OAuthToken | undefined>
  >();
  expectTypeOf(deleteToken).toEqualTypeOf<
    (store: CredentialStore, slug: string) => Promise<boolean>
  >();
  expectTypeOf(ensureFreshToken).toEqualTypeOf<
    (
      p: TokenEndpoint & {
        readonly store: CredentialStore;
        readonly slug: string;
        readonly lock?: Lock | undefined;
        readonly rejected?: string | undefined;
      },
    ) => Promise<OAuthToken | undefined>
  >();
  expectTypeOf(memoryCredentialStore).toEqualTypeOf<
    (initial?: Readonly<Record<string, string>>) => CredentialStore
  >();
});

test("the receiver on loopback", () => {
  expectTypeOf<LoopbackPage>().toEqualTypeOf<{ title: string; message: string }>();
  expectTypeOf<LoopbackListener>().toEqualTypeOf<{
    readonly port: number;
    redirectUri(path?: string): string;
    close(): Promise<void>;
    [Symbol.asyncDispose](): PromiseLike<void>;
  }>();
  expectTypeOf(bindLoopback).toEqualTypeOf<
    (port?: number | readonly number[]) => Promise<LoopbackListener>
  >();
  expectTypeOf(acceptOAuthCode).parameters.toEqualTypeOf<
    [
      LoopbackListener,
      {
        readonly state: string;
        readonly timeoutMs: number;
        readonly signal?: AbortSignal | undefined;
        readonly path?: string | undefined;
        readonly requireStateOnError?: boolean | undefined;
        readonly expectedIssuer?: string | undefined;
        readonly pages?: Pages | undefined;
      },
    ]
  >();
  expectTypeOf(acceptOAuthCode).returns.toEqualTypeOf<Promise<string>>();
  expectTypeOf(connectService).toEqualTypeOf<(options: ConnectOptions) => Promise<OAuthToken>>();
  expectTypeOf<
    Omit<AuthorizeParams, "state" | "redirectUri" | "pkce"> &
      TokenEndpoint & {
        store: CredentialStore;
        slug: string;
        lock?: Lock;
        port?: number | readonly number[];
        path?: string;
        usePkce?: boolean;
        expectedIssuer?: string;
        timeoutMs: number;
        openBrowser: (url: string) => unknown;
        pages?: Pages;
      }
  >().toExtend<ConnectOptions>();
});
