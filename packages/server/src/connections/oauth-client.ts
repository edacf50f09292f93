/** Who this installation is to an authorization server, and how its token endpoint is asked. */
import type { FetchLike, ServiceAuth } from "@millrace/contracts";
import { toWebFetch } from "@millrace/contracts/web-fetch";
import {
  type CredentialStore,
  deleteEntry,
  OAuthError,
  readEntry,
  type TokenEndpoint,
  writeEntry,
} from "@millrace/oauth";

export type OAuth2 = Extract<ServiceAuth, { scheme: "oauth2" }>;

/** A registered client, as it is stored: `{"client_id":"…","client_secret":"…"}`. A public client has no secret. */
export interface OAuthClient {
  readonly client_id: string;
  readonly client_secret?: string;
}

const accountOf = (service: string): string => `client:${service}`;
/** A client that shall replace the stored one once the token endpoint has accepted it. */
const nextOf = (service: string): string => `client-next:${service}`;

/** The stored client of a service, else the public one of its descriptor. Throws `OAuthError`: `Credential`, `Decode`. */
export async function loadClient(
  store: CredentialStore,
  service: string,
  auth: OAuth2,
): Promise<OAuthClient | undefined> {
  const text = await readEntry(store, accountOf(service));
  if (text !== undefined) return readClient(text);
  return auth.clientId === undefined ? undefined : { client_id: auth.clientId };
}

/** The client that waits to be accepted. Throws `OAuthError`: `Credential`, `Decode`. */
export async function loadNextClient(
  store: CredentialStore,
  service: string,
): Promise<OAuthClient | undefined> {
  const text = await readEntry(store, nextOf(service));
  return text === undefined ? undefined : readClient(text);
}

/**
 * Stores an untested client, for a service with connections: the client of before stays in use until the token
 * endpoint has accepted this one, so that a mistyped secret breaks none of them. Throws `OAuthError` kind `Credential`.
 */
export function proposeClient(
  store: CredentialStore,
  service: string,
  client: OAuthClient,
): Promise<void> {
  return writeEntry(store, nextOf(service), textOf(client));
}

/** Stores the client of a service. Throws `OAuthError` kind `Credential`. */
export async function storeClient(
  store: CredentialStore,
  service: string,
  client: OAuthClient,
): Promise<void> {
  await writeEntry(store, accountOf(service), textOf(client));
  await dropNextClient(store, service);
}

/** Forgets the client that waits. Throws `OAuthError` kind `Credential`. */
export async function dropNextClient(store: CredentialStore, service: string): Promise<void> {
  await deleteEntry(store, nextOf(service));
}

/** Whether the token endpoint does not know the client, or not with this secret. */
export function isClientRefused(error: unknown): boolean {
  return (
    OAuthError.isInstance(error, "Token") &&
    (error.oauthError === "invalid_client" || error.oauthError === "unauthorized_client")
  );
}

function textOf({ client_id, client_secret }: OAuthClient): string {
  return JSON.stringify({ client_id, client_secret });
}

/** Options of requests to the token endpoint of a service. */
export function endpointOf(
  auth: OAuth2,
  { client_id, client_secret }: OAuthClient,
  options: Pick<TokenEndpoint, "fetch" | "now">,
): TokenEndpoint {
  return {
    tokenUrl: auth.tokenUrl,
    clientId: client_id,
    clientSecret: client_secret,
    clientAuth: client_secret === undefined ? "none" : (auth.clientAuth ?? "post"),
    resource: auth.resource === undefined ? undefined : [auth.resource],
    extraParams: auth.extraParams,
    lenient: auth.lenient,
    ...options,
  };
}

function readClient(text: string): OAuthClient {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The error would quote the text.
  }
  const { client_id, client_secret } = (value ?? {}) as { [name: string]: unknown };
  if (typeof client_id === "string" && client_id !== "") {
    if (client_secret === undefined) return { client_id };
    if (typeof client_secret === "string") return { client_id, client_secret };
  }
  const message =
    "stored client: it must be JSON with client_id and, unless it is public, client_secret";
  throw new OAuthError("Decode", message);
}

/** `fetch` as the OAuth helpers take it. */
export type WebFetch = NonNullable<TokenEndpoint["fetch"]>;

/** A `fetch` over an egress client, as the OAuth helpers take it; what is outside of the policy rejects with a `NodeError`. */
export function egressFetch(send: FetchLike): WebFetch {
  return toWebFetch(send);
}
