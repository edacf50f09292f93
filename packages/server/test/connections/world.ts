/** A server with a service of each scheme, and consents to one of them. */
import { createServer } from "node:net";
import type { ConnectProgress, ConnectStarted, ServiceInfo } from "@millrace/contracts";
import type { FakeAuthorizationServer } from "@millrace/oauth/testing";
import type { RunningServer, StartOptions } from "@millrace/server";
import { expect, vi } from "vitest";
import { invoke, post, problemOf, serve } from "../support/server.ts";
import {
  authorizationServer,
  consent,
  oauth2,
  service,
  type WatchedStore,
  watchedStore,
} from "./support.ts";

export const ADMIN = "0123456789abcdef-admin";
export const RUNNER = "0123456789abcdef-runner";
export const ADMINISTRATOR = {
  tokenId: null,
  role: "admin",
  requestId: "r",
  remote: null,
} as const;
const LOOPBACK = { allow: [{ cidr: "127.0.0.0/8" }] };
export const CLIENT = { client_id: "client", client_secret: "client-secret" };

export interface World {
  readonly server: RunningServer;
  readonly store: WatchedStore;
  readonly auth: FakeAuthorizationServer;
}

/** A server with a service of each scheme; the OAuth client of `tracker` is stored. */
export async function world(
  options: StartOptions & {
    readonly deny?: boolean;
    readonly more?: Parameters<typeof oauth2>[1];
  } = {},
): Promise<World> {
  const { deny = false, more, ...rest } = options;
  const auth = await authorizationServer({ deny });
  const store = watchedStore({ "client:tracker": JSON.stringify(CLIENT) });
  const server = await serve({
    services: [
      service("tracker", oauth2(auth, more)),
      service("mail", { scheme: "bearer" }),
      service("keys", { scheme: "apiKey", in: "header", name: "X-Key" }),
      service("files", { scheme: "basic" }),
      service("open", { scheme: "none" }),
    ],
    credentials: { store },
    egress: LOOPBACK,
    ...rest,
  });
  return { server, store, auth };
}

export const start = (server: RunningServer, args: object = {}): Promise<ConnectStarted> =>
  invoke(server, "connect_service", { slug: "tracker", ...args });

/** The same without HTTP, so that several begin in one tick, and one may outlast the server. */
export const call = (server: RunningServer, args: object = {}): Promise<ConnectStarted> =>
  server.app.invoke(
    "connect_service",
    { slug: "tracker", ...args },
    ADMINISTRATOR,
  ) as Promise<ConnectStarted>;

export const stateOf = (server: RunningServer, connectId: string): Promise<ConnectProgress> =>
  invoke(server, "get_connect_status", { connectId });

/** The end of a consent, once it has one. */
export async function endOf(server: RunningServer, connectId: string): Promise<ConnectProgress> {
  return vi.waitFor(
    async () => {
      const progress = await stateOf(server, connectId);
      expect(progress.state).not.toBe("waiting");
      return progress;
    },
    { timeout: 30_000 },
  );
}

export async function problem(server: RunningServer, command: string, args: object) {
  return problemOf(await post(server, "/api/invoke", { command, args }));
}
export const codeOf = async (server: RunningServer, command: string, args: object) =>
  (await problem(server, command, args)).code;

export const connectionsOf = async (server: RunningServer, slug = "tracker") =>
  (await invoke<ServiceInfo>(server, "get_service", { slug })).connections;

/** A consent that the caller receives, given by its person and not yet completed. */
export async function consented(server: RunningServer, args: object = caller) {
  const { connectId, authorizeUrl } = await start(server, args);
  const { code, state } = await consent(authorizeUrl);
  return { connectId, code, state };
}

export async function expectFree(url: string): Promise<void> {
  const other = createServer();
  await new Promise<void>((resolve, reject) => {
    other.once("error", reject);
    other.listen({ host: "127.0.0.1", port: Number(new URL(url).port), exclusive: true }, resolve);
  });
  await new Promise((resolve) => other.close(resolve));
}

export const NOWHERE = "http://127.0.0.1:1/token";
export const TRACKER = { slug: "tracker", service: "tracker", scheme: "oauth2", store: "custom" };
export const caller = { receiver: "caller", redirectUri: "http://127.0.0.1:9/callback" };
