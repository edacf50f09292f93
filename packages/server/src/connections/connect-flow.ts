/**
 * From a connect request to a stored token, in two steps with a person between them.
 *   F1  State, verifier and client secret never leave the server.
 *   F2  A client that comes with a request is stored after the exchange has succeeded; a failure changes nothing.
 *   F3  A code is exchanged once, and nothing is stored for a consent that has ended.
 */
import { isDeepStrictEqual } from "node:util";
import type { ConnectStarted, ParsedArgs } from "@millrace/contracts";
import {
  type Consent,
  type CredentialStore,
  exchangeCode,
  type Lock,
  OAuthError,
  startConsent,
  storeToken,
  withEntryLock,
} from "@millrace/oauth";
import {
  acceptOAuthCode,
  bindLoopback,
  isState,
  type LoopbackListener,
} from "@millrace/oauth/loopback";
import { invalidArg, notFound, ProblemError } from "../errors.ts";
import type { Logger, ServiceCredentials } from "../ports.ts";
import {
  dropNextClient,
  endpointOf,
  isClientRefused,
  loadClient,
  loadNextClient,
  type OAuth2,
  type OAuthClient,
  storeClient,
  type WebFetch,
} from "./oauth-client.ts";
import { type PendingConnect, PendingConnects } from "./pending-connects.ts";
import type { ConnectionRecord, ConnectionRecords } from "./records.ts";
import type { ServiceCatalog } from "./service-credentials.ts";
import { type ConsentSecrets, SharedConsents } from "./shared-consents.ts";

/** The parts that commands on connections work with. */
export interface ConnectionParts {
  readonly store: CredentialStore;
  /** Name of the store, as a status shows it: `os`, `file`, `memory`. */
  readonly storeName: string;
  /** Of the entries of the store. */
  readonly lock: Lock;
  readonly services: ServiceCatalog;
  readonly records: ConnectionRecords;
  readonly credentials: ServiceCredentials;
  /** For requests to token endpoints, behind the egress policy; default the global `fetch`. */
  readonly fetch?: WebFetch | undefined;
  readonly log: Logger;
  /** Epoch milliseconds. */
  now(): number;
  random(bytes: number): Uint8Array;
}

/** A consent that waits for a person, and what is stored when its code comes. */
interface Waiting {
  readonly connect: PendingConnect;
  readonly consent: Pick<Consent, "state" | "finish">;
  readonly record: ConnectionRecord;
  /** Stored once the token endpoint has accepted it. */
  readonly client: OAuthClient;
  readonly byCaller: boolean;
}

/** The consents of a server, by the commands that drive them. */
export class ConnectFlow {
  readonly pending: PendingConnects;
  readonly #waiting = new WeakMap<PendingConnect, Waiting>();
  readonly #parts: ConnectionParts;
  /** Undefined: no other server knows of the consents of this one. */
  readonly #shared: SharedConsents | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.pending = new PendingConnects(parts.now);
    if (parts.storeName === "shared") this.#shared = new SharedConsents(parts);
  }

  /**
   * A consent of this server or of another one, as it is now; undefined: there is none, or it is of another connection than `slug`.
   */
  async find(id: string, slug?: string): Promise<PendingConnect | undefined> {
    const known = this.pending.get(id);
    if (known !== undefined && known.slug !== (slug ?? known.slug)) return undefined;
    if (this.#shared === undefined || (known && known.progress.state !== "waiting")) return known;
    const kept = await this.#shared.get(id);
    const now = this.pending.get(id); // who else asked may have taken it up meanwhile
    if (kept === undefined) return now;
    if (kept.slug !== (slug ?? kept.slug)) return undefined;
    const connect = now ?? this.pending.adopt(id, kept.slug, kept.expiresEpoch);
    if (kept.progress.state !== "waiting") connect.end(kept.progress);
    else if (now === undefined) {
      this.#tellEnd(connect);
      if (kept.secrets !== undefined) this.#adopt(connect, kept.secrets);
    }
    return connect;
  }

  /** Ends one at all servers, unless it has ended before. Rejects when the others cannot be told. */
  async cancel(connect: PendingConnect): Promise<void> {
    const progress = { state: "cancelled" } as const;
    try {
      if ((await this.#shared?.end(connect.id, progress)) === false) await this.find(connect.id);
    } finally {
      connect.end(progress);
      await connect.released();
    }
  }

  /** Ends those of a connection, whichever server has begun them. */
  async cancelAll(slug: string): Promise<void> {
    await this.pending.cancel(slug);
    await this.#shared?.endAll(slug, { state: "cancelled" });
  }

  /** Another server has begun it. */
  #adopt(connect: PendingConnect, secrets: ConsentSecrets): void {
    const { fetch, now } = this.#parts;
    const { record, client, byCaller, state, verifier, redirectUri } = secrets;
    const endpoint = endpointOf(this.#authOf(record.service), client, {
      fetch,
      now: () => new Date(now()),
    });
    const finish = (code: string, signal?: AbortSignal) =>
      exchangeCode({ ...endpoint, code, redirectUri, codeVerifier: verifier, signal });
    this.#waiting.set(connect, { connect, consent: { state, finish }, record, client, byCaller });
  }

  /** Other servers learn how it ended, unless this server ends alone. */
  #tellEnd(connect: PendingConnect): void {
    connect.onEnd(async () => {
      if (this.pending.isClosed) return;
      await this.#shared?.end(connect.id, connect.progress).catch(() => {}); // it expires there
    });
  }

  /** Forgets those that ended long ago, with what a server that is gone has left of them. */
  async prune(): Promise<void> {
    await this.#shared?.prune();
  }

  /** Takes the one use of its code, among all servers. */
  async #take(connect: PendingConnect): Promise<boolean> {
    if (!connect.claim()) return false;
    try {
      if ((await this.#shared?.take(connect.id)) ?? true) return true;
    } catch (error) {
      connect.unclaim();
      throw error;
    }
    await this.find(connect.id); // it ends as the other server says
    return false;
  }

  /** Begins a consent; with receiver `server` its port is bound when this resolves. */
  async start(args: ParsedArgs<"connect_service">): Promise<ConnectStarted> {
    const { slug } = args;
    const { records, store, fetch, random, now } = this.#parts;
    const known = await records.get(slug);
    const service = args.service ?? known?.service ?? slug;
    const auth = this.#authOf(service);
    const client =
      args.client ??
      (await loadNextClient(store, service)) ??
      (await loadClient(store, service, auth));
    if (client === undefined) {
      throw new ProblemError("not_found", {
        detail: `No OAuth client of service "${service}" is stored; give one as client, or store it with set_service_secret`,
        members: { resource: "client" },
      });
    }
    const ofService = known?.service === service && known.scopes.length > 0;
    const scopes = args.scopes ?? (ofService ? known.scopes : auth.scopes);
    if (!this.pending.hasRoom(slug)) {
      const detail =
        "Too many consents wait for a person; cancel one, or come back in five minutes";
      throw new ProblemError("too_many_requests", { detail, headers: { "Retry-After": "300" } });
    }
    const id = `con_${Buffer.from(random(16)).toString("base64url")}`;
    const connect = await this.pending.begin(id, slug);
    try {
      const listener =
        args.redirectUri === undefined
          ? await bindFor(connect, args.port ?? auth.redirect?.port)
          : undefined;
      const redirectUri = args.redirectUri ?? listener?.redirectUri(auth.redirect?.path) ?? "";
      const consent = await startConsent({
        ...endpointOf(auth, client, { fetch, now: () => new Date(now()) }),
        authorizeUrl: auth.authorizeUrl,
        redirectUri,
        scopes: auth.scopeSeparator === "," ? [scopes.join(",")] : scopes,
        usePkce: auth.pkce,
      });
      const byCaller = args.receiver === "caller";
      const waiting = { connect, consent, record: { slug, service, scopes }, client, byCaller };
      this.#waiting.set(connect, waiting);
      if (this.#shared !== undefined) {
        const { state, verifier } = consent;
        const secrets = { record: waiting.record, client, byCaller, state, verifier, redirectUri };
        const { expiresEpoch, progress } = connect;
        await this.#shared.prune();
        await this.#shared.endAll(slug, { state: "superseded" });
        await this.#shared.put(id, { slug, expiresEpoch, progress, secrets });
        this.#tellEnd(connect);
      }
      if (listener !== undefined) this.#receive(waiting, listener, auth);
      const expiresAt = new Date(connect.expiresEpoch).toISOString();
      return { connectId: id, authorizeUrl: consent.authorizeUrl, redirectUri, expiresAt };
    } catch (error) {
      connect.end({ state: "failed" });
      this.pending.drop(id);
      throw error;
    }
  }

  /** Takes the code that the caller received. Throws `state_conflict` for another state, and when its use is spent. */
  async complete(
    connect: PendingConnect,
    { code, state }: { code: string; state: string },
  ): Promise<void> {
    const waiting = this.#waiting.get(connect);
    if (waiting?.byCaller !== true || !(await this.#take(connect))) throw conflict(connect);
    if (!isState(state, waiting.consent.state)) {
      connect.end({ state: "failed", error: { code: "oauth_token", reason: "state_mismatch" } });
      throw conflict(connect, "OAuth state mismatch (possible CSRF)");
    }
    await this.#finish(waiting, code);
  }

  /** Waits for the redirect in the background. */
  #receive(waiting: Waiting, listener: LoopbackListener, { redirect, issuer }: OAuth2): void {
    const { connect, consent } = waiting;
    acceptOAuthCode(listener, {
      state: consent.state,
      timeoutMs: Number.POSITIVE_INFINITY, // the consent has its own end
      signal: connect.signal,
      path: redirect?.path,
      expectedIssuer: issuer,
    })
      .then(async (code) => {
        if (await this.#take(connect)) await this.#finish(waiting, code);
      })
      .catch((error: unknown) => this.#fail(connect, error));
  }

  async #finish({ connect, consent, record, client }: Waiting, code: string): Promise<void> {
    const { store, lock, records, credentials, now, log } = this.#parts;
    const { slug, service } = record;
    try {
      const token = await consent.finish(code, connect.signal);
      const keep = async (): Promise<void> => {
        connect.signal.throwIfAborted();
        await storeToken(store, slug, token);
        await this.#keepClient(service, client);
        await records.put({ ...record, connectedAt: new Date(now()).toISOString() });
      };
      await withEntryLock(lock, slug, async () => {
        if (this.#shared === undefined) return keep();
        if (await this.#shared.end(connect.id, { state: "connected" }, keep)) return;
        await this.find(connect.id); // another server has ended it
        connect.end({ state: "superseded" });
        connect.signal.throwIfAborted();
      });
      credentials.forget(slug);
      if (!token.refresh_token) log.warn({ slug }, "connect.no_refresh_token");
      connect.end({ state: "connected" });
    } catch (error) {
      if (connect.signal.aborted) throw conflict(connect);
      // The next attempt uses the client that worked.
      if (isClientRefused(error)) await dropNextClient(store, service).catch(() => {});
      this.#fail(connect, error);
      throw error;
    }
  }

  /** A public client of the descriptor is stored nowhere. */
  async #keepClient(service: string, client: OAuthClient): Promise<void> {
    const { store } = this.#parts;
    const known = await loadClient(store, service, this.#authOf(service));
    await (isDeepStrictEqual(known, client)
      ? dropNextClient(store, service)
      : storeClient(store, service, client));
  }

  #fail(connect: PendingConnect, error: unknown): void {
    if (connect.progress.state !== "waiting") return;
    const known = OAuthError.isInstance(error) ? error : undefined;
    const code = known?.code ?? "internal";
    const reason = known?.reason;
    connect.end({ state: "failed", error: { code, ...(reason !== undefined && { reason }) } });
    this.#parts.log.warn({ slug: connect.slug, code, reason }, "connect.failed");
  }

  /** Throws `not_found` for a service that is unknown, `invalid_args` for one without a consent. */
  #authOf(service: string): OAuth2 {
    const auth = this.#parts.services.get(service)?.serviceIntegration.auth;
    if (auth === undefined) throw notFound("service");
    if (auth.scheme === "oauth2") return auth;
    const message = `service "${service}" asks nobody for consent: its scheme is ${auth.scheme}`;
    throw invalidArg("/service", message);
  }
}

/** Binds the port, which is free again when the consent has ended. */
async function bindFor(
  connect: PendingConnect,
  port: number | readonly number[] | undefined,
): Promise<LoopbackListener> {
  if (connect.signal.aborted) throw conflict(connect); // superseded before it had begun
  const binding = bindLoopback(port);
  // Registered before it is bound: the end of this consent waits until the port is free, and the next may use that port.
  connect.onEnd(() =>
    binding.then(
      (bound) => bound.close(),
      () => {},
    ),
  );
  return binding;
}

/** The consent has ended, or is not the caller's to complete. */
function conflict(connect: PendingConnect, detail?: string): ProblemError {
  return new ProblemError("state_conflict", { detail, members: { state: connect.progress.state } });
}
