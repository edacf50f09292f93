/** A token as a run gets it: it can be asked for, and shown nowhere. */
import type {
  AuthScheme,
  ConnectionStatus,
  ServiceCredential,
  ServiceDefinition,
} from "@millrace/contracts";
import {
  type CredentialStore,
  isExpired,
  loadToken,
  OAuthError,
  type OAuthToken,
} from "@millrace/oauth";
import type { ConnectionRecord } from "./records.ts";

const HIDDEN = "[redacted]";
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Makes a credential; its value is in no listing, JSON or inspection of it. */
export function createCredential(scheme: AuthScheme, token?: OAuthToken): ServiceCredential {
  const value = token?.access_token ?? "";
  const hidden = (): typeof HIDDEN => HIDDEN;
  const credential = { scheme, scopes: scopesOf(token), reveal: () => value };
  const members = { toJSON: hidden, toString: hidden, [INSPECT]: hidden };
  for (const key of Reflect.ownKeys(members)) {
    Object.defineProperty(credential, key, { value: hidden });
  }
  return Object.freeze(credential);
}

/** The scopes of a token. They are parted by spaces, by some servers with commas. @see RFC 6749 section 3.3 */
function scopesOf(token: OAuthToken | undefined): readonly string[] {
  const scope = token?.scope ?? "";
  return scope.split(scope.includes(" ") ? " " : /[ ,]/).filter((name) => name !== "");
}

/** What a status is made from. */
export interface StatusSource {
  readonly slug: string;
  readonly service: ServiceDefinition;
  readonly record: ConnectionRecord | undefined;
  readonly store: CredentialStore;
  /** Name of the store. */
  readonly storeName: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Reads the entry of a connection and says how it stands; a store that fails is a status, too. */
export async function connectionStatus(source: StatusSource): Promise<ConnectionStatus> {
  const { slug, service, record, store, storeName, now } = source;
  const { scheme } = service.serviceIntegration.auth;
  const about = {
    slug,
    service: service.slug,
    scheme,
    scopes: record?.scopes ?? [],
    refreshable: false,
    ...(record?.connectedAt !== undefined && { connectedAt: record.connectedAt }),
    ...(record?.lastError !== undefined && { lastError: record.lastError }),
  };
  if (scheme === "none") return { ...about, status: "connected" };
  const shown = { ...about, store: storeName };
  try {
    const token = await loadToken(store, slug);
    if (token === undefined) return { ...shown, status: "not_connected" };
    const refreshable = Boolean(token.refresh_token);
    const lost = record?.reconnect === true || (isExpired(token, new Date(now)) && !refreshable);
    const scopes = scopesOf(token);
    return {
      ...shown,
      status: lost ? "reconnect_required" : "connected",
      scopes: scopes.length > 0 ? scopes : shown.scopes,
      refreshable,
      ...(token.expires_at !== undefined && {
        expires_at: new Date(token.expires_at).toISOString(),
      }),
    };
  } catch (error) {
    if (!OAuthError.isInstance(error)) throw error;
    const lastError = { code: error.code, at: new Date(now).toISOString() };
    const status = error.kind === "Decode" ? "reconnect_required" : "unavailable";
    return { ...shown, status, lastError };
  }
}
