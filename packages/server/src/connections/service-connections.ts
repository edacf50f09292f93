/**
 * Services and their connections, as commands see them.
 *   S1  No answer holds a credential, or a prefix, length or hash of one.
 *   S2  What a command changes is seen by runs at once.
 *   S3  An entry and its record change under one lock, so that neither is left without the other.
 */
import type {
  ConnectionStatus,
  ParsedArgs,
  ServiceDefinition,
  ServiceInfo,
  ServiceSecret,
} from "@millrace/contracts";
import {
  type CredentialStore,
  deleteToken,
  type Lock,
  loadToken,
  OAuthError,
  type OAuthToken,
  revokeToken,
  storeToken,
} from "@millrace/oauth";
import { invalidArg, notFound, type ProblemError } from "../errors.ts";
import type { Logger, ServiceConnections } from "../ports.ts";
import { ConnectFlow, type ConnectionParts } from "./connect-flow.ts";
import { connectionStatus } from "./credential.ts";
import { toProblem } from "./failures.ts";
import {
  endpointOf,
  loadClient,
  type OAuth2,
  proposeClient,
  storeClient,
  type WebFetch,
} from "./oauth-client.ts";
import { processLock, withEntryLock } from "./open-store.ts";
import type { PendingConnect } from "./pending-connects.ts";
import {
  type ConnectionRecord,
  type ConnectionRecords,
  memoryConnectionRecords,
} from "./records.ts";
import { createServiceCredentials } from "./service-credentials.ts";

/** Forgetting a connection must not wait for a server that does not answer. */
const REVOKE_MS = 5_000;

/** What connections are built from. */
export interface ServiceConnectionsOptions {
  readonly store: CredentialStore;
  /** Name of the store, as a status shows it: `os`, `file`, `memory`. */
  readonly storeName: string;
  /** Between processes that share the store; default one among the callers of this process. */
  readonly lock?: Lock;
  readonly services: readonly ServiceDefinition[];
  /** Default: in memory. */
  readonly records?: ConnectionRecords;
  /** For requests to token endpoints, behind the egress policy; default the global `fetch`. */
  readonly fetch?: WebFetch;
  readonly log: Logger;
  /** Epoch milliseconds. */
  now(): number;
  random(bytes: number): Uint8Array;
}

/** Services, their connections, and the credentials of both for runs. */
export function createServiceConnections(options: ServiceConnectionsOptions): ServiceConnections {
  const { store, storeName, log, lock = processLock() } = options;
  const services = [...options.services].sort((a, b) => (a.slug < b.slug ? -1 : 1));
  const bySlug = new Map(services.map((service) => [service.slug, service]));
  const records = options.records ?? memoryConnectionRecords();
  const credentials = createServiceCredentials({
    ...options,
    lock,
    services: bySlug,
    connections: records,
  });
  const parts: ConnectionParts = {
    store,
    storeName,
    lock,
    services: bySlug,
    records,
    credentials,
    fetch: options.fetch,
    log,
    now: () => options.now(),
    random: (bytes) => options.random(bytes),
  };
  const flow = new ConnectFlow(parts);

  async function status(slug: string, service: ServiceDefinition): Promise<ConnectionStatus> {
    const record = await records.get(slug);
    return connectionStatus({ slug, service, record, store, storeName, now: parts.now() });
  }

  async function info(service: ServiceDefinition): Promise<ServiceInfo> {
    const { slug, title, serviceIntegration } = service;
    const recorded = (await records.list()).filter((record) => record.service === slug);
    const slugs = new Set(recorded.map((record) => record.slug).sort());
    // What was connected elsewhere, under the slug of the service, has no record here.
    const unrecorded = slugs.has(slug) || (await records.get(slug)) !== undefined ? [] : [slug];
    const own = (await Promise.all(unrecorded.map((each) => status(each, service)))).filter(
      (each) => each.status !== "not_connected",
    );
    const others = await Promise.all([...slugs].map((each) => status(each, service)));
    return {
      slug,
      title,
      scheme: serviceIntegration.auth.scheme,
      operations: serviceIntegration.operations.map(({ id }) => id),
      connections: [...own, ...others],
    };
  }

  function known(args: { readonly connectId: string; readonly slug?: string }): PendingConnect {
    const connect = flow.pending.get(args.connectId);
    if (connect === undefined || (args.slug ?? connect.slug) !== connect.slug) {
      throw notFound("connect");
    }
    return connect;
  }

  function serviceOf(slug: string): ServiceDefinition {
    const service = bySlug.get(slug);
    if (service === undefined) throw notFound("service");
    return service;
  }

  async function setSecret({ slug, service: name, value }: ParsedArgs<"set_service_secret">) {
    const service = serviceOf(name);
    const { auth } = service.serviceIntegration;
    const secret = checkSecret(auth.scheme, value);
    if (typeof secret === "object") {
      const isUsed =
        (await records.list()).some((record) => record.service === name) ||
        (await status(slug, service)).status !== "not_connected";
      await (isUsed ? proposeClient : storeClient)(store, name, secret);
      credentials.forget(slug);
      return status(slug, service);
    }
    const token = { access_token: secret, token_type: "", scope: "" };
    await withEntryLock(lock, slug, async () => {
      const before = await records.get(slug);
      await storeToken(store, slug, token);
      const scopes = before?.service === name ? before.scopes : [];
      const connectedAt = new Date(parts.now()).toISOString();
      await records.put({ slug, service: name, scopes, connectedAt });
    });
    credentials.forget(slug);
    return status(slug, service);
  }

  async function disconnect(slug: string): Promise<null> {
    await flow.pending.cancel(slug);
    const existed = await withEntryLock(lock, slug, async () => {
      const record = await records.get(slug);
      const isDeleted = await forgetEntry(slug, record);
      await records.delete(slug);
      return isDeleted || record !== undefined;
    });
    credentials.forget(slug);
    if (!existed) throw notFound("connection");
    return null;
  }

  /** Revokes and deletes; whether there was an entry. */
  async function forgetEntry(slug: string, record: ConnectionRecord | undefined): Promise<boolean> {
    // An entry that cannot be read is no reason to keep it.
    const token = await loadToken(store, slug).catch((error: unknown) => {
      if (OAuthError.isInstance(error, "Decode")) return undefined;
      throw error;
    });
    const auth = bySlug.get(record?.service ?? slug)?.serviceIntegration.auth;
    if (token !== undefined && auth?.scheme === "oauth2") {
      await revoke(auth, { slug, service: record?.service ?? slug, token });
    }
    return deleteToken(store, slug);
  }

  /** Asks the server to forget the grant. That it does not is its own affair: here the credential goes either way. */
  async function revoke(
    auth: OAuth2,
    { slug, service, token }: { slug: string; service: string; token: OAuthToken },
  ): Promise<void> {
    const { revocationUrl } = auth;
    if (revocationUrl === undefined) return;
    try {
      const client = await loadClient(store, service, auth);
      if (client === undefined) return log.warn({ slug }, "revoke.no_client");
      const { tokenUrl: _, ...endpoint } = endpointOf(auth, client, {
        ...(options.fetch && { fetch: options.fetch }),
      });
      const { refresh_token, access_token } = token;
      await revokeToken({
        ...endpoint,
        revocationUrl,
        token: refresh_token || access_token,
        hint: refresh_token ? "refresh_token" : "access_token",
        timeoutMs: REVOKE_MS,
      });
    } catch (error) {
      const code = OAuthError.isInstance(error) ? error.code : "internal";
      log.warn({ slug, code }, "revoke.failed");
    }
  }

  return {
    storeName,
    credentials,
    services,
    get: (slug) => bySlug.get(slug),
    info: (service) => asProblem(info(service)),
    connect: (args) => asProblem(flow.start(args)),
    progress: (args) => known(args).progress,
    async complete(args) {
      const connect = known(args);
      await asProblem(flow.complete(connect, args));
      const record = await records.get(connect.slug);
      return asProblem(status(connect.slug, serviceOf(record?.service ?? connect.slug)));
    },
    async cancel(args) {
      const connect = known(args);
      connect.end({ state: "cancelled" });
      await connect.released();
      return null;
    },
    setSecret: (args) => asProblem(setSecret(args)),
    disconnect: (slug) => asProblem(disconnect(slug)),
    close: () => flow.pending.close(),
  };
}

/** A secret in the shape that its scheme wants. Throws `invalid_args`. */
function checkSecret(scheme: string, value: ServiceSecret): ServiceSecret {
  const refuse = (message: string): ProblemError => invalidArg("/value", message);
  if (scheme === "none") throw refuse("the service takes no credential");
  if ((scheme === "oauth2") !== (typeof value === "object")) {
    throw refuse(
      scheme === "oauth2"
        ? "must be an OAuth client, an object with client_id and client_secret; tokens come by connect_service"
        : "must be text; only services of scheme oauth2 have a client",
    );
  }
  if (typeof value === "object") return value;
  if (scheme === "basic" ? !value.includes(":") : !/^[\x21-\x7e]+$/.test(value)) {
    throw refuse(
      scheme === "basic"
        ? "must be user:password"
        : "must be visible ASCII without spaces, as a header can carry it",
    );
  }
  return value;
}

async function asProblem<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toProblem(error);
  }
}
