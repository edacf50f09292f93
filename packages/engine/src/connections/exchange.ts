/**
 * One request over a connection: credential, sending, and what a 401 asks for. `service.call` and `http.request` come here.
 *   X1  A credential is told to the redactor before it is on any request.
 *   X2  A 401 costs one renewal and one more request at most; it is no attempt of the node.
 */
import type {
  CredentialsPort,
  FetchInit,
  FetchLike,
  ResponseLike,
  ServiceAuth,
  ServiceCredential,
} from "@millrace/contracts";
import { untilAborted } from "@millrace/contracts/kit";
import { type Authorizable, authorize } from "./authorize.ts";
import { credentialFailure } from "./credential-failure.ts";
import { mustReconnect, notConnected, scopesMissing } from "./refusals.ts";
import type { Renewals } from "./renewals.ts";

/** A connection as one attempt uses it. */
export interface Exchange {
  readonly slug: string;
  /** The service that the flow expects of the connection. */
  readonly service: string;
  readonly auth: ServiceAuth;
  readonly port: CredentialsPort | undefined;
  readonly renewals: Renewals;
  readonly fetch: FetchLike;
  readonly signal: AbortSignal;
  /** Keeps a secret out of events. */
  learn(secret: string): void;
}

/**
 * Sends a request with the credential of its connection; `scopes` must be among those that were granted. Throws `NodeError`:
 * `credentials_missing`, `credentials_expired`, `no_refresh_token`, `unavailable`, and what the egress client throws.
 */
export async function send(
  exchange: Exchange,
  request: Authorizable & { readonly init: FetchInit },
  scopes: readonly string[],
): Promise<ResponseLike> {
  const { auth, fetch, slug } = exchange;
  const { init, ...plain } = request;
  const attempt = (credential: ServiceCredential): Promise<ResponseLike> => {
    const value = reveal(exchange, credential);
    const { url, headers, secretHeaders } = authorize(plain, auth, {
      credential: value,
      connection: slug,
    });
    const originHeaders = [...(init.originHeaders ?? []), ...secretHeaders];
    return fetch(url, { ...init, headers, originHeaders });
  };
  if (auth.scheme === "none") return fetch(plain.url, { ...init, headers: plain.headers });
  const first = await resolve(exchange);
  checkScopes(slug, first, scopes);
  const response = await attempt(first);
  if (response.status !== 401) return response;
  await endUnread(response);
  const second = await renewed(exchange, first);
  if (second === null) throw refusedAgain(slug);
  const again = await attempt(second);
  if (again.status !== 401) return again;
  await endUnread(again);
  exchange.renewals.refused(slug);
  // Only a note: what the port makes of it, or throws, changes nothing here.
  (async () => exchange.port?.refused?.(slug, second))().catch(() => undefined);
  throw refusedAgain(slug);
}

/** Ends an answer whose body is not needed. */
async function endUnread(response: ResponseLike): Promise<void> {
  await response.body?.[Symbol.asyncIterator]().return?.();
}

async function resolve(exchange: Exchange): Promise<ServiceCredential> {
  const { port, slug, service, signal } = exchange;
  if (port === undefined) throw notConnected("this engine has no credentials", exchange);
  const found = await asked(exchange, async () => {
    const credential = await untilAborted(port.resolve(slug, { signal, service }), signal);
    return credential as ServiceCredential | null | undefined;
  });
  if (found === null || found === undefined)
    throw notConnected(`${slug} is not connected`, exchange);
  return found;
}

/** Only OAuth has another credential to offer. */
async function renewed(
  exchange: Exchange,
  rejected: ServiceCredential,
): Promise<ServiceCredential | null> {
  const { port, slug, service, signal, renewals, auth } = exchange;
  if (auth.scheme !== "oauth2" || port === undefined) return null;
  return asked(exchange, () => renewals.renew(port, slug, { rejected, signal, service }));
}

async function asked<T>({ slug, auth, signal }: Exchange, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const host = auth.scheme === "oauth2" ? new URL(auth.tokenUrl).host : slug;
    throw credentialFailure(error, { slug, host });
  }
}

function reveal({ auth, learn }: Exchange, credential: ServiceCredential): string {
  const value = credential.reveal();
  learn(value);
  // Whoever quotes a user and password seldom quotes both.
  if (auth.scheme === "basic") learn(value.slice(value.indexOf(":") + 1));
  return value;
}

/** A credential that says nothing of its scopes is tried. */
function checkScopes(slug: string, credential: ServiceCredential, needed: readonly string[]): void {
  const granted = credential.scopes.filter((scope) => scope !== "");
  if (granted.length === 0) return;
  const missing = needed.filter((scope) => !granted.includes(scope));
  if (missing.length > 0) throw scopesMissing(slug, missing);
}

function refusedAgain(slug: string): Error {
  return mustReconnect("credentials_expired", "the service refuses the credential (401)", slug);
}
