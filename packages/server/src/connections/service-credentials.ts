/**
 * The credentials of runs, from a credential store.
 *   C1  A store that fails is never reported as a missing entry.
 *   C2  A credential is remembered for at most `cacheMs`, and never past its expiry.
 *   C3  A credential goes to the service that it is of, whatever a flow says.
 *   C4  A connection whose fresh credential was refused is not renewed again for REFUSED_MS.
 */

import type {
  AbortSignalLike,
  CredentialsPort,
  ServiceAuth,
  ServiceCredential,
  ServiceDefinition,
} from "@millrace/contracts";
import { whenAborted } from "@millrace/contracts/kit";
import {
  type CredentialStore,
  ensureFreshToken,
  isExpired,
  type Lock,
  loadToken,
  OAuthError,
  type OAuthToken,
  readEntry,
} from "@millrace/oauth";
import type { ServiceCredentials } from "../ports.ts";
import { createCredential } from "./credential.ts";
import { credentialsExpired, credentialsMissing, needsReconnect, toNodeError } from "./failures.ts";
import { readSecret } from "./named-secrets.ts";
import {
  endpointOf,
  isClientRefused,
  loadClient,
  loadNextClient,
  type OAuth2,
  type OAuthClient,
  storeClient,
  type WebFetch,
} from "./oauth-client.ts";
import type { ConnectionRecord, ConnectionRecords } from "./records.ts";

const CACHE_MS = 30_000;
/** A service that refuses what it just gave out will do so again. */
const REFUSED_MS = 60_000;

/** The services that connections may be of. */
export interface ServiceCatalog {
  get(slug: string): ServiceDefinition | undefined;
}

/** Dependencies of service credentials. */
export interface ServiceCredentialsOptions {
  readonly store: CredentialStore;
  /** Keeps processes that share the store from renewing the same token at once. */
  readonly lock?: Lock | undefined;
  readonly services: ServiceCatalog;
  /** Absent: a connection is of the service that the flow says, else of the one with its slug. */
  readonly connections?: ConnectionRecords | undefined;
  /** For requests to token endpoints, behind the egress policy; default the global `fetch`. */
  readonly fetch?: WebFetch | undefined;
  /** How long a credential is used without a look into the store, where another process may have put another one; default 30 s. */
  readonly cacheMs?: number | undefined;
  /** Epoch milliseconds; default the system's clock. */
  readonly now?: () => number;
}

interface Remembered {
  readonly credential: ServiceCredential;
  readonly token: OAuthToken;
  readonly service: string;
  readonly untilEpoch: number;
}

/** A connection that is looked up. */
interface Wanted {
  readonly slug: string;
  readonly service: string;
  readonly auth: ServiceAuth;
  readonly signal: AbortSignal;
}

/**
 * The credentials of services for runs. Its methods reject with `NodeError`: `credentials_missing`, `no_refresh_token`,
 * `credentials_expired` (a person must connect), `unavailable` (the store), and `network`, `timeout`, `http_status`,
 * `decode_failed` (the token endpoint); an abort rejects with the signal's reason.
 */
export function createServiceCredentials(options: ServiceCredentialsOptions): ServiceCredentials {
  const { store, services, connections, cacheMs = CACHE_MS, now = Date.now } = options;
  const remembered = new Map<string, Remembered>();
  const refused = new Map<string, { readonly value: string; readonly untilEpoch: number }>();
  let forgotten = 0; // what was read before a change must not be remembered after it

  async function look(
    slug: string,
    { signal, service: said }: Parameters<CredentialsPort["resolve"]>[1],
  ): Promise<Wanted> {
    const record = await connections?.get(slug);
    // Without a record, what is stored under the slug of a service is that service's.
    const owner = record?.service ?? services.get(slug)?.slug;
    if (owner !== undefined && said !== undefined && said !== owner) {
      throw credentialsMissing(
        slug,
        `connection "${slug}" is of service "${owner}", not of "${said}"`,
      );
    }
    const service = owner ?? said ?? slug;
    const definition = services.get(service);
    if (definition === undefined) {
      throw credentialsMissing(
        slug,
        `connection "${slug}" is of no service that is known here`,
        service,
      );
    }
    const { auth } = definition.serviceIntegration;
    return { slug, service, auth, signal: toAbortSignal(signal) };
  }

  /** The stored token; of `oauth2` renewed where it has expired or is `rejected`. */
  async function fresh(wanted: Wanted, rejected?: string): Promise<OAuthToken> {
    const { slug, service, auth, signal } = wanted;
    const token = await loadToken(store, slug);
    if (token === undefined)
      throw credentialsMissing(slug, `connection "${slug}" has no credential`, service);
    const usable = token.access_token !== rejected && !isExpired(token, new Date(now()));
    if (usable) return token;
    if (auth.scheme !== "oauth2")
      throw credentialsExpired(slug, `the credential of "${slug}" was refused`);
    const renewed = await renew(auth, { slug, service, signal }, token, rejected);
    if (renewed === undefined) {
      throw credentialsMissing(slug, `connection "${slug}" has no credential`, service);
    }
    return renewed;
  }

  async function renew(
    auth: OAuth2,
    { slug, service, signal }: Omit<Wanted, "auth">,
    token: OAuthToken,
    rejected: string | undefined,
  ): Promise<OAuthToken | undefined> {
    const client = await loadClient(store, service, auth);
    if (client === undefined && token.refresh_token) {
      throw credentialsMissing(slug, `no OAuth client of service "${service}" is stored`, service);
    }
    const renewAs = (who: OAuthClient): Promise<OAuthToken | undefined> =>
      ensureFreshToken({
        ...endpointOf(auth, who, { fetch: options.fetch, now: () => new Date(now()) }),
        store,
        slug,
        signal,
        lock: options.lock,
        rejected,
      });
    try {
      return await renewAs(client ?? { client_id: "" });
    } catch (error) {
      const next = isClientRefused(error) ? await loadNextClient(store, service) : undefined;
      if (next === undefined) throw error;
      const renewed = await renewAs(next);
      await storeClient(store, service, next);
      return renewed;
    }
  }

  async function obtain(wanted: Wanted, rejected?: string): Promise<ServiceCredential> {
    const { slug, service, auth } = wanted;
    if (auth.scheme === "none") return createCredential(auth);
    const before = forgotten;
    try {
      const token = await fresh(wanted, rejected);
      const credential = createCredential(auth, token);
      if (before === forgotten) {
        remembered.set(slug, { credential, token, service, untilEpoch: now() + cacheMs });
      }
      await noteSuccess(slug, token);
      return credential;
    } catch (error) {
      remembered.delete(slug);
      if (OAuthError.isInstance(error)) {
        await noteFailure(slug, error.code, needsReconnect(error));
      }
      throw toNodeError(error, slug, hostOf(auth));
    }
  }

  /** Changes the record of a connection; it is for people to read, so its own failure fails nothing. */
  async function change(
    slug: string,
    edit: (record: ConnectionRecord) => ConnectionRecord,
  ): Promise<void> {
    try {
      const record = await connections?.get(slug);
      if (record === undefined) return;
      const changed = edit(record);
      if (changed !== record) await connections?.put(changed);
    } catch {
      // The caller has its credential, or its error.
    }
  }

  /** A credential that came after a failure clears it, unless it is the one that was refused. */
  function noteSuccess(slug: string, token: OAuthToken): Promise<void> {
    return change(slug, (record) => {
      const { lastError, reconnect: _, ...rest } = record;
      const worked = refused.get(slug)?.value !== token.access_token;
      return lastError !== undefined && worked ? rest : record;
    });
  }

  function noteFailure(slug: string, code: string, lost: boolean): Promise<void> {
    const lastError = { code, at: new Date(now()).toISOString() };
    return change(slug, (record) => ({ ...record, lastError, ...(lost && { reconnect: true }) }));
  }

  function isRefused(slug: string, credential: ServiceCredential): boolean {
    const last = refused.get(slug);
    if (last === undefined) return false;
    if (last.untilEpoch > now()) return last.value === credential.reveal();
    refused.delete(slug);
    return false;
  }

  return {
    async resolve(slug, asked) {
      const known = remembered.get(slug);
      if (
        known !== undefined &&
        known.untilEpoch > now() &&
        !isExpired(known.token, new Date(now())) &&
        (asked.service ?? known.service) === known.service
      ) {
        return known.credential;
      }
      return obtain(await look(slug, asked));
    },
    async renew(slug, rejected, asked) {
      const wanted = await look(slug, asked);
      if (wanted.auth.scheme !== "oauth2" || isRefused(slug, rejected)) {
        throw credentialsExpired(slug, `the credential of connection "${slug}" was refused`);
      }
      return obtain(wanted, rejected.reveal());
    },
    refused(slug, credential) {
      refused.set(slug, { value: credential.reveal(), untilEpoch: now() + REFUSED_MS });
      const known = remembered.get(slug);
      if (known?.credential.reveal() === credential.reveal()) remembered.delete(slug);
      void noteFailure(slug, "credentials_expired", true);
    },
    async secret(name) {
      const [, environment, flows] = /^secret:(?:([^/]+)\/)?(.+)$/.exec(name) ?? [];
      const account = /^(?:ai|ext|secret):/.test(name) ? name : `ext:${name}`;
      try {
        if (flows !== undefined) return await readSecret(store, { name: flows, environment });
        return await readEntry(store, account);
      } catch (error) {
        throw toNodeError(error, account, "");
      }
    },
    forget(slug) {
      forgotten += 1;
      remembered.delete(slug);
      refused.delete(slug);
    },
  };
}

function hostOf(auth: ServiceAuth): string {
  return auth.scheme === "oauth2" && URL.canParse(auth.tokenUrl) ? new URL(auth.tokenUrl).host : "";
}

/** The signal itself where it is one of the platform, else one that follows it. */
function toAbortSignal(signal: AbortSignalLike): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  whenAborted(signal, () => controller.abort(signal.reason));
  return controller.signal;
}
