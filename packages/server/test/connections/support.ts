/** Services of every scheme, authorization servers and stores on loopback, and credentials over them. */
import { inspect } from "node:util";
import {
  defineService,
  NodeError,
  type ServiceAuth,
  type ServiceDefinition,
} from "@millrace/contracts";
import type { CredentialStore, OAuthToken } from "@millrace/oauth";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import {
  type FakeAuthorizationServer,
  type FakeAuthorizationServerOptions,
  startFakeAuthorizationServer,
} from "@millrace/oauth/testing";
import {
  createServiceCredentials,
  type ServiceCredentialsOptions,
} from "@millrace/server/connections";
import { onTestFinished } from "vitest";

/** A service with one operation. */
export function service(
  slug: string,
  auth: ServiceAuth,
  baseUrl = "https://api.example",
): ServiceDefinition {
  return defineService({
    slug,
    title: `The service ${slug}`,
    summary: `What ${slug} does.`,
    serviceIntegration: {
      baseUrl,
      auth,
      operations: [{ id: "list", method: "GET", path: "/list" }],
    },
  });
}

/** Auth of an authorization server at this origin. */
export const oauth2 = (
  server: Pick<FakeAuthorizationServer, "authorizeUrl" | "tokenUrl" | "revocationUrl">,
  more: Partial<Extract<ServiceAuth, { scheme: "oauth2" }>> = {},
): ServiceAuth => ({
  scheme: "oauth2",
  authorizeUrl: server.authorizeUrl,
  tokenUrl: server.tokenUrl,
  revocationUrl: server.revocationUrl,
  scopes: ["read"],
  ...more,
});

export async function authorizationServer(
  options: FakeAuthorizationServerOptions = {},
): Promise<FakeAuthorizationServer> {
  const server = await startFakeAuthorizationServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** A store that can be told to fail, and counts how often it is read. */
export interface WatchedStore extends CredentialStore {
  readonly entries: () => Promise<Record<string, string>>;
  reads: number;
  failure: Error | undefined;
}

export function watchedStore(initial: Record<string, string> = {}): WatchedStore {
  const inner = memoryCredentialStore(initial);
  const attempt = <T>(call: () => Promise<T>): Promise<T> =>
    watched.failure === undefined ? call() : Promise.reject(watched.failure);
  const watched: WatchedStore = {
    reads: 0,
    failure: undefined,
    get(account) {
      watched.reads += 1;
      return attempt(() => inner.get(account));
    },
    set: (account, value) => attempt(() => inner.set(account, value)),
    delete: (account) => attempt(() => inner.delete(account)),
    async entries() {
      const accounts = (await inner.list?.()) ?? [];
      const pairs = accounts.map(async (account) => [account, (await inner.get(account)) ?? ""]);
      return Object.fromEntries(await Promise.all(pairs));
    },
  };
  return watched;
}

export const CLIENT = JSON.stringify({ client_id: "client", client_secret: "client-secret" });

/** A stored token. */
export const stored = (token: Partial<OAuthToken> = {}): string =>
  JSON.stringify({ access_token: "stored-token", token_type: "Bearer", scope: "", ...token });

/** Consents to an authorize URL as a user would, without the redirect. */
export async function consent(
  authorizeUrl: string,
): Promise<{ code: string; state: string; target: URL }> {
  const response = await fetch(authorizeUrl, { redirect: "manual" });
  const target = new URL(response.headers.get("location") ?? "");
  const { searchParams } = target;
  return { code: searchParams.get("code") ?? "", state: searchParams.get("state") ?? "", target };
}

export const PAST = "2020-01-01T00:00:00.000Z";
/** A caller who stays. */
export const asked = () => ({ signal: new AbortController().signal });
const NOWHERE = "http://127.0.0.1:1";
export const nowhere = {
  authorizeUrl: `${NOWHERE}/authorize`,
  tokenUrl: `${NOWHERE}/token`,
  revocationUrl: `${NOWHERE}/revoke`,
};

/** Credentials over a store with these entries; the clock stands still unless the test moves it. */
export function credentials(
  entries: Record<string, string>,
  options: Partial<ServiceCredentialsOptions> = {},
) {
  const store = watchedStore({ "client:tracker": CLIENT, ...entries });
  const clock = { now: Date.parse("2026-01-01T00:00:00Z") };
  const services = new Map(
    [
      service("tracker", oauth2(nowhere)),
      service("mail", { scheme: "bearer" }),
      service("open", { scheme: "none" }),
    ].map((each) => [each.slug, each]),
  );
  const port = createServiceCredentials({ store, services, now: () => clock.now, ...options });
  return { store, clock, port };
}

/** The error that work rejects with, which must be one of a node. */
export async function failure(work: Promise<unknown>): Promise<NodeError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!NodeError.isInstance(error)) throw new Error(`not a NodeError: ${inspect(error)}`);
  return error;
}
