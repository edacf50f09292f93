/**
 * From a connect request to a stored token, in two steps with a person between them.
 *   F1  State, verifier and client secret never leave the server.
 *   F2  A client that comes with a request is stored after the exchange has succeeded; a failure changes nothing.
 *   F3  A code is exchanged once, and nothing is stored for a consent that has ended.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ConnectStarted, ParsedArgs } from "@millrace/contracts";
import {
  buildAuthorizeUrl,
  type CredentialStore,
  exchangeCode,
  generatePkce,
  generateState,
  type Lock,
  OAuthError,
  storeToken,
  type TokenEndpoint,
} from "@millrace/oauth";
import { acceptOAuthCode, bindLoopback } from "@millrace/oauth/loopback";
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
import { withEntryLock } from "./open-store.ts";
import { type PendingConnect, PendingConnects } from "./pending-connects.ts";
import type { ConnectionRecords } from "./records.ts";
import type { ServiceCatalog } from "./service-credentials.ts";

/** What is known of a consent until its code comes. */
interface Consent {
  readonly connect: PendingConnect;
  readonly slug: string;
  readonly service: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  readonly state: string;
  readonly verifier: string | undefined;
  /** Stored once the token endpoint has accepted it. */
  readonly client: OAuthClient;
  readonly endpoint: TokenEndpoint;
  readonly byCaller: boolean;
}

/** The consents of a server, by the commands that drive them. */
export class ConnectFlow {
  readonly pending: PendingConnects;
  readonly #consents = new WeakMap<PendingConnect, Consent>();
  readonly #parts: ConnectionParts;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.pending = new PendingConnects(parts.now);
  }

  /** Begins a consent; with receiver `server` its port is bound when this resolves. */
  async start(args: ParsedArgs<"connect_service">): Promise<ConnectStarted> {
    const { slug, receiver } = args;
    const { records, services, store, fetch, random, now } = this.#parts;
    const record = await records.get(slug);
    const service = args.service ?? record?.service ?? slug;
    const auth = oauth2Of(service, services.get(service)?.serviceIntegration.auth);
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
    const ofService = record?.service === service && record.scopes.length > 0;
    const scopes = args.scopes ?? (ofService ? record.scopes : auth.scopes);
    if (!this.pending.hasRoom(slug)) {
      const detail =
        "Too many consents wait for a person; cancel one, or come back in five minutes";
      throw new ProblemError("too_many_requests", { detail, headers: { "Retry-After": "300" } });
    }
    const id = `con_${Buffer.from(random(16)).toString("base64url")}`;
    const connect = await this.pending.begin(id, slug);
    try {
      const state = generateState();
      const pkce = auth.pkce === true ? await generatePkce() : undefined;
      const consent: Omit<Consent, "redirectUri"> = {
        connect,
        slug,
        service,
        scopes,
        state,
        verifier: pkce?.verifier,
        client,
        endpoint: endpointOf(auth, client, { ...(fetch && { fetch }), now: () => new Date(now()) }),
        byCaller: receiver === "caller",
      };
      const redirectUri = args.redirectUri ?? (await this.#listen(consent, auth, args.port));
      this.#consents.set(connect, { ...consent, redirectUri });
      const authorizeUrl = buildAuthorizeUrl({
        ...consent.endpoint,
        authorizeUrl: auth.authorizeUrl,
        redirectUri,
        scopes,
        state,
        ...(pkce && { pkce }),
      });
      const expiresAt = new Date(connect.expiresEpoch).toISOString();
      return { connectId: connect.id, authorizeUrl, redirectUri, expiresAt };
    } catch (error) {
      connect.end({ state: "failed" });
      this.pending.drop(connect.id);
      throw error;
    }
  }

  /** Takes the code that the caller received. Throws `state_conflict` for another state, and when its use is spent. */
  async complete(
    connect: PendingConnect,
    { code, state }: { code: string; state: string },
  ): Promise<void> {
    const consent = this.#consents.get(connect);
    if (consent?.byCaller !== true || !connect.claim()) throw conflict(connect);
    if (!sameText(state, consent.state)) {
      connect.end({ state: "failed", error: { code: "oauth_token", reason: "state_mismatch" } });
      throw conflict(connect, "OAuth state mismatch (possible CSRF)");
    }
    await this.#finish(consent, code);
  }

  /** Binds the port and waits for the redirect in the background. */
  async #listen(
    consent: Omit<Consent, "redirectUri">,
    auth: OAuth2,
    port = auth.redirect?.port,
  ): Promise<string> {
    const { connect, state } = consent;
    if (connect.signal.aborted) throw conflict(connect); // superseded before it had begun
    const binding = bindLoopback(port);
    // Registered before it is bound: the end of this consent waits until the port is free, and the next may use that port.
    connect.onEnd(() =>
      binding.then(
        (bound) => bound.close(),
        () => {},
      ),
    );
    const listener = await binding;
    const path = auth.redirect?.path;
    const redirectUri = listener.redirectUri(path);
    const wait = acceptOAuthCode(listener, {
      state,
      timeoutMs: Number.POSITIVE_INFINITY, // the consent has its own end
      signal: connect.signal,
      ...(path !== undefined && { path }),
      ...(auth.issuer !== undefined && { expectedIssuer: auth.issuer }),
    });
    void wait
      .then(async (code) => {
        if (connect.claim()) await this.#finish({ ...consent, redirectUri }, code);
      })
      .catch((error: unknown) => this.#fail(connect, error));
    return redirectUri;
  }

  async #finish(consent: Consent, code: string): Promise<void> {
    const { connect, slug, service, scopes, redirectUri, verifier, client, endpoint } = consent;
    const { store, lock, records, credentials, now, log } = this.#parts;
    try {
      const token = await exchangeCode({
        ...endpoint,
        code,
        redirectUri,
        signal: connect.signal,
        ...(verifier !== undefined && { codeVerifier: verifier }),
      });
      await withEntryLock(lock, slug, async () => {
        connect.signal.throwIfAborted();
        await storeToken(store, slug, token);
        await this.#keepClient(service, client);
        const connectedAt = new Date(now()).toISOString();
        await records.put({ slug, service, scopes, connectedAt });
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
    const { store, services } = this.#parts;
    const auth = oauth2Of(service, services.get(service)?.serviceIntegration.auth);
    const known = await loadClient(store, service, auth);
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
}

/** The consent has ended, or is not the caller's to complete. */
function conflict(connect: PendingConnect, detail?: string): ProblemError {
  return new ProblemError("state_conflict", {
    ...(detail !== undefined && { detail }),
    members: { state: connect.progress.state },
  });
}

function oauth2Of(service: string, auth: { readonly scheme: string } | undefined): OAuth2 {
  if (auth === undefined) throw notFound("service");
  if (auth.scheme === "oauth2") return auth as OAuth2;
  const message = `service "${service}" asks nobody for consent: its scheme is ${auth.scheme}`;
  throw invalidArg("/service", message);
}

/** Compares digests, so that the time it takes tells nothing. */
function sameText(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/** The parts that commands on connections work with. */
export interface ConnectionParts {
  readonly store: CredentialStore;
  /** Name of the store, as a status shows it. */
  readonly storeName: string;
  /** Of the entries of the store. */
  readonly lock: Lock;
  readonly services: ServiceCatalog;
  readonly records: ConnectionRecords;
  readonly credentials: ServiceCredentials;
  /** For requests to token endpoints. */
  readonly fetch: WebFetch | undefined;
  readonly log: Logger;
  /** Epoch milliseconds. */
  now(): number;
  random(bytes: number): Uint8Array;
}
