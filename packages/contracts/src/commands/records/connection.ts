/** Services and their connections. Status only: no token, prefix, length or hash of one ever leaves. */
import type { Diagnostic } from "../../diagnostics.ts";
import type { AuthScheme, ServiceSpec } from "../../service.ts";

/** State of one connection. `expires_at` keeps the spelling of the stored token. */
export interface ConnectionStatus {
  readonly slug: string;
  readonly service: string;
  readonly scheme: AuthScheme;
  /** `connected`: fresh, or expired and refreshable. `unavailable`: the credential store failed. */
  readonly status: "connected" | "reconnect_required" | "not_connected" | "unavailable";
  readonly scopes: readonly string[];
  readonly expires_at?: string;
  readonly refreshable: boolean;
  readonly connectedAt?: string;
  /** Name of the credential store. */
  readonly store?: string;
  readonly lastError?: { readonly code: string; readonly at: string };
}

/** A service that connections may be made to. */
export interface ServiceInfo {
  readonly slug: string;
  readonly title: string;
  readonly scheme: AuthScheme;
  /** Ids of its operations. */
  readonly operations: readonly string[];
  readonly connections: readonly ConnectionStatus[];
}

/** Who receives the redirect: the server, or the caller on a loopback port of its own. */
export interface ConnectArgs {
  readonly slug: string;
  /** Default: that of the stored connection, else `slug`. */
  readonly service?: string;
  readonly scopes?: readonly string[];
  readonly receiver?: "server" | "caller";
  /** With `caller`: `http://127.0.0.1:<port>/…`. */
  readonly redirectUri?: string;
  readonly port?: number;
  /** The OAuth client to connect with; stored once the service has accepted it. Default: the stored one. */
  readonly client?: OAuthClientArgs;
}

/** An OAuth client as a person registered it; a public one has no secret. */
export interface OAuthClientArgs {
  readonly client_id: string;
  readonly client_secret?: string;
}

/** A consent that waits for a person. */
export interface ConnectStarted {
  readonly connectId: string;
  readonly authorizeUrl: string;
  readonly redirectUri: string;
  readonly expiresAt: string;
}

/** How far a consent has come, for a page that waits for it. */
export interface ConnectProgress {
  readonly state: "waiting" | "connected" | "failed" | "expired" | "cancelled" | "superseded";
  readonly error?: { readonly code: string; readonly reason?: string };
}

/** A credential of `bearer` and `apiKey` as text, of `basic` as `user:password`, or an OAuth client. */
export type ServiceSecret = string | OAuthClientArgs;

/** What an OpenAPI document became; `entry` null: it has no use as a service. */
export interface ImportedService {
  readonly entry: ServiceSpec | null;
  readonly diagnostics: readonly Diagnostic[];
}
