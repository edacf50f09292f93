/**
 * Services and their connections, as commands see them.
 *   S1  No answer holds a credential, or a prefix, length or hash of one.
 *   S2  What a command changes is seen by runs at once.
 *   S3  An entry and its record change under one lock, so that neither is left without the other.
 */
import type {
  ConnectionStatus,
  ParsedArgs,
  ServiceAuth,
  ServiceDefinition,
  ServiceInfo,
  ServiceSecret,
} from "@millrace/contracts";
import {
  deleteToken,
  isExpired,
  type Lock,
  loadToken,
  OAuthError,
  type OAuthToken,
  revokeToken,
  storeToken,
  withEntryLock,
} from "@millrace/oauth";
import { memoryLock } from "@millrace/oauth/store/memory";
import { invalidArg, known, notFound, type ProblemError } from "../errors.ts";
import type { ServiceConnections } from "../ports.ts";
import { ConnectFlow, type ConnectionParts } from "./connect-flow.ts";
import { scopesOf } from "./credential.ts";
import { toProblem } from "./failures.ts";
import { endpointOf, loadClient, type OAuth2, proposeClient, storeClient } from "./oauth-client.ts";
import type { PendingConnect } from "./pending-connects.ts";
import {
  type ConnectionRecord,
  type ConnectionRecords,
  memoryConnectionRecords,
} from "./records.ts";
import { createServiceCredentials } from "./service-credentials.ts";

/** Forgetting a connection must not wait for a server that does not answer. */
const REVOKE_MS = 5_000;

/** Dependencies of connections. */
export interface ServiceConnectionsOptions
  extends Omit<ConnectionParts, "services" | "credentials" | "lock" | "records"> {
  readonly services: readonly ServiceDefinition[];
  /** Between processes that share the store; default one among the callers of this process. */
  readonly lock?: Lock | undefined;
  /** How long a run uses a credential without a look into the store. */
  readonly cacheMs?: number | undefined;
  /** Default: in memory. */
  readonly records?: ConnectionRecords | undefined;
  /** Closes the store, when the consents have ended. */
  readonly close?: () => Promise<void>;
}

/** Services, their connections, and the credentials of both for runs. */
export function createServiceConnections(options: ServiceConnectionsOptions): ServiceConnections {
  const { store, storeName, log, lock = memoryLock() } = options;
  const all = [...options.services].sort((a, b) => (a.slug < b.slug ? -1 : 1));
  const services = new Map(all.map((service) => [service.slug, service]));
  const records = options.records ?? memoryConnectionRecords();
  const credentials = createServiceCredentials({
    ...options,
    lock,
    services,
    connections: records,
  });
  const flow = new ConnectFlow({ ...options, lock, services, records, credentials });

  /** Reads the entry of a connection and says how it stands; a store that fails is a status, too. */
  async function status(slug: string, service: ServiceDefinition): Promise<ConnectionStatus> {
    const record = await records.get(slug);
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
    const now = new Date(options.now());
    try {
      const token = await loadToken(store, slug);
      if (token === undefined) return { ...shown, status: "not_connected" };
      const refreshable = Boolean(token.refresh_token);
      const lost = record?.reconnect === true || (isExpired(token, now) && !refreshable);
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
      const lastError = { code: error.code, at: now.toISOString() };
      const kind = error.kind === "Decode" ? "reconnect_required" : "unavailable";
      return { ...shown, status: kind, lastError };
    }
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
      ...redirectOf(serviceIntegration.auth),
      operations: serviceIntegration.operations.map(({ id }) => id),
      connections: [...own, ...others],
    };
  }

  async function pending(args: {
    readonly connectId: string;
    readonly slug?: string;
  }): Promise<PendingConnect> {
    return known(await flow.find(args.connectId, args.slug), "connect");
  }

  async function setSecret({ slug, service: name, value }: ParsedArgs<"set_service_secret">) {
    const service = known(services.get(name), "service");
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
      const connectedAt = new Date(options.now()).toISOString();
      await records.put({ slug, service: name, scopes, connectedAt });
    });
    credentials.forget(slug);
    return status(slug, service);
  }

  async function disconnect(slug: string): Promise<null> {
    await flow.cancelAll(slug);
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
    const auth = services.get(record?.service ?? slug)?.serviceIntegration.auth;
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
      const { fetch } = options;
      const { tokenUrl: _, ...endpoint } = endpointOf(auth, client, { fetch });
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
    services: all,
    get: (slug) => services.get(slug),
    info: (service) => asProblem(info(service)),
    connect: (args) => asProblem(flow.start(args)),
    progress: async (args) => (await pending(args)).progress,
    async complete(args) {
      const connect = await pending(args);
      await asProblem(flow.complete(connect, args));
      const record = await records.get(connect.slug);
      return asProblem(
        status(connect.slug, known(services.get(record?.service ?? connect.slug), "service")),
      );
    },
    async cancel(args) {
      const connect = await pending(args);
      await asProblem(flow.cancel(connect));
      return null;
    },
    setSecret: (args) => asProblem(setSecret(args)),
    disconnect: (slug) => asProblem(disconnect(slug)),
    prune: () => flow.prune(),
    async close() {
      await flow.pending.close();
      await options.close?.();
    },
  };
}

/** The redirect address that the service requires; port 0 is any port. */
function redirectOf(auth: ServiceAuth): Pick<ServiceInfo, "redirect"> {
  const { port = 0, path } = (auth.scheme === "oauth2" && auth.redirect) || {};
  const redirect = { ...(port > 0 && { port }), ...(path !== undefined && { path }) };
  return Object.keys(redirect).length === 0 ? {} : { redirect };
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
