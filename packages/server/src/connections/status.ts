/** How a connection stands, for people. Never a token, or a prefix, length or hash of one. */
import type { ConnectionStatus, ServiceDefinition } from "@millrace/contracts";
import { type CredentialStore, isExpired, loadToken, OAuthError } from "@millrace/oauth";
import { scopesOf } from "./credential.ts";
import type { ConnectionRecord } from "./records.ts";

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
