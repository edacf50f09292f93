/** Services and their connections over HTTP: list, connect, complete, cancel, secrets, disconnect. */
import { createServer } from "node:net";
import type {
  ConnectionStatus,
  ConnectProgress,
  ConnectStarted,
  ServiceInfo,
} from "@millrace/contracts";
import type { FakeAuthorizationServer } from "@millrace/oauth/testing";
import type { RunningServer, StartOptions } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { invoke, keepLog, post, problemOf, serve } from "../support/server.ts";
import {
  authorizationServer,
  consent,
  oauth2,
  service,
  stored,
  type WatchedStore,
  watchedStore,
} from "./support.ts";

const ADMIN = "0123456789abcdef-admin";
const RUNNER = "0123456789abcdef-runner";
const ADMINISTRATOR = { tokenId: null, role: "admin", requestId: "r", remote: null } as const;
const LOOPBACK = { allow: [{ cidr: "127.0.0.0/8" }] };
const CLIENT = { client_id: "client", client_secret: "client-secret" };

interface World {
  readonly server: RunningServer;
  readonly store: WatchedStore;
  readonly auth: FakeAuthorizationServer;
}

/** A server with a service of each scheme; the OAuth client of `tracker` is stored. */
async function world(
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

const start = (server: RunningServer, args: object = {}): Promise<ConnectStarted> =>
  invoke(server, "connect_service", { slug: "tracker", ...args });

/** The same without HTTP, so that several begin in one tick, and one may outlast the server. */
const call = (server: RunningServer, args: object = {}): Promise<ConnectStarted> =>
  server.app.invoke(
    "connect_service",
    { slug: "tracker", ...args },
    ADMINISTRATOR,
  ) as Promise<ConnectStarted>;

const stateOf = (server: RunningServer, connectId: string): Promise<ConnectProgress> =>
  invoke(server, "get_connect_status", { connectId });

/** The end of a consent, once it has one. */
async function endOf(server: RunningServer, connectId: string): Promise<ConnectProgress> {
  return vi.waitFor(
    async () => {
      const progress = await stateOf(server, connectId);
      expect(progress.state).not.toBe("waiting");
      return progress;
    },
    { timeout: 30_000 },
  );
}

async function problem(server: RunningServer, command: string, args: object) {
  return problemOf(await post(server, "/api/invoke", { command, args }));
}
const codeOf = async (server: RunningServer, command: string, args: object) =>
  (await problem(server, command, args)).code;

const connectionsOf = async (server: RunningServer, slug = "tracker") =>
  (await invoke<ServiceInfo>(server, "get_service", { slug })).connections;

/** A consent that the caller receives, given by its person and not yet completed. */
async function consented(server: RunningServer, args: object = caller) {
  const { connectId, authorizeUrl } = await start(server, args);
  const { code, state } = await consent(authorizeUrl);
  return { connectId, code, state };
}

async function expectFree(url: string): Promise<void> {
  const other = createServer();
  await new Promise<void>((resolve, reject) => {
    other.once("error", reject);
    other.listen({ host: "127.0.0.1", port: Number(new URL(url).port), exclusive: true }, resolve);
  });
  await new Promise((resolve) => other.close(resolve));
}

const NOWHERE = "http://127.0.0.1:1/token";
const TRACKER = { slug: "tracker", service: "tracker", scheme: "oauth2", store: "custom" };
const caller = { receiver: "caller", redirectUri: "http://127.0.0.1:9/callback" };

describe("services", () => {
  test("are listed by slug, with operations and without what is not connected", async () => {
    const { server } = await world();
    const page = await (await fetch(`${server.url}/api/services?limit=2`)).json();
    const none = { operations: ["list"], connections: [] };
    expect(page).toEqual({
      items: [
        { slug: "files", title: "The service files", scheme: "basic", ...none },
        { slug: "keys", title: "The service keys", scheme: "apiKey", ...none },
      ],
      nextCursor: expect.any(String),
    });
    const { nextCursor } = page as { nextCursor: string };
    const args = { cursor: nextCursor };
    const rest = await invoke<{ items: ServiceInfo[] }>(server, "list_services", args);
    expect(rest.items.map(({ slug }) => slug)).toEqual(["mail", "open", "tracker"]);
    expect(await (await fetch(`${server.url}/api/services/open`)).json()).toMatchObject({
      connections: [{ slug: "open", status: "connected", refreshable: false }],
    });
    expect(await problem(server, "get_service", { slug: "none" })).toMatchObject({
      code: "not_found",
      resource: "service",
    });
  });

  test("show a connection that was made elsewhere", async () => {
    const { server, store } = await world();
    await store.set(
      "service:tracker",
      stored({ expires_at: "2020-01-01T00:00:00Z", scope: "a b" }),
    );
    expect(await connectionsOf(server)).toEqual([
      {
        ...TRACKER,
        status: "reconnect_required",
        scopes: ["a", "b"],
        expires_at: "2020-01-01T00:00:00.000Z",
        refreshable: false,
      },
    ]);
  });

  test("show a store that fails as unavailable, not as nothing connected", async () => {
    const { server, store } = await world();
    store.failure = new Error("s3cret");
    const connections = await connectionsOf(server, "mail");
    expect(connections).toMatchObject([
      { status: "unavailable", lastError: { code: "oauth_credential" } },
    ]);
  });
});

describe("a consent that the server receives", () => {
  test("ends connected: the token is stored, no answer shows it, the port is free", async () => {
    const { server, store, auth } = await world({ more: { pkce: true } });
    const response = await post(server, "/api/connections/tracker/connect", {});
    expect(response.status).toBe(202);
    const started = (await response.json()) as ConnectStarted;
    expect(started.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(Date.parse(started.expiresAt) - Date.now()).toBeGreaterThan(290_000);
    const route = `${server.url}/api/connections/tracker/connect/${started.connectId}`;
    expect(await (await fetch(route)).json()).toEqual({ state: "waiting" });
    expect(await auth.visit(started.authorizeUrl)).toBe(200);
    expect(await endOf(server, started.connectId)).toEqual({ state: "connected" });

    const connections = await connectionsOf(server);
    expect(connections).toEqual([
      {
        ...TRACKER,
        status: "connected",
        scopes: ["read"],
        expires_at: expect.stringMatching(/Z$/),
        refreshable: true,
        connectedAt: expect.stringMatching(/Z$/),
      },
    ]);
    const entry = (await store.entries())["service:tracker"] ?? "";
    const { access_token, refresh_token } = JSON.parse(entry) as Record<string, string>;
    expect(auth.accepts(access_token ?? "")).toBe(true);
    const shown = JSON.stringify([started, connections, server.app]);
    for (const secret of [access_token, refresh_token, CLIENT.client_secret]) {
      expect(shown).not.toContain(secret);
    }
    await expectFree(started.redirectUri);
  });

  test("may be of a service of another name, with scopes, port and path of its own", async () => {
    const { server, auth } = await world({ more: { redirect: { path: "/back" } } });
    const { redirect } = await invoke<ServiceInfo>(server, "get_service", { slug: "tracker" });
    expect(redirect).toEqual({ path: "/back" });
    const spare = await start(server);
    const port = Number(new URL(spare.redirectUri).port);
    const args = { slug: "tracker-eu", service: "tracker", scopes: ["x", "y"] };
    expect(await problem(server, "connect_service", { ...args, port })).toMatchObject({
      code: "in_use",
      detail: `cannot bind 127.0.0.1:${port}: EADDRINUSE`,
    });
    await invoke(server, "cancel_connect", { connectId: spare.connectId });
    const started = await start(server, { ...args, port });
    expect(started.redirectUri).toBe(`http://127.0.0.1:${port}/back`);
    expect(await auth.visit(started.authorizeUrl)).toBe(200);
    await endOf(server, started.connectId);
    const connections = await connectionsOf(server);
    expect(connections).toMatchObject([
      { slug: "tracker-eu", scopes: ["x", "y"], status: "connected" },
    ]);
    // Connecting again asks for the same, of the same service.
    const again = await start(server, { slug: "tracker-eu" });
    expect(new URL(again.authorizeUrl).searchParams.get("scope")).toBe("x y");
  });

  test("fails when the user denies", async () => {
    const { server, auth } = await world({ deny: true });
    const { connectId, authorizeUrl, redirectUri } = await start(server);
    expect(await auth.visit(authorizeUrl)).toBe(400);
    expect(await endOf(server, connectId)).toEqual({
      state: "failed",
      error: { code: "oauth_token", reason: "denied" },
    });
    await expectFree(redirectUri);
  });

  test("fails on another state", async () => {
    const { server } = await world();
    const { connectId, redirectUri } = await start(server);
    expect((await fetch(`${redirectUri}?code=x&state=y`)).status).toBe(200);
    expect((await endOf(server, connectId)).error?.reason).toBe("state_mismatch");
  });

  test("fails when the client is refused, and the log says so without a secret", async () => {
    const log = keepLog();
    const { server, auth, store } = await world({ log });
    await store.set("client:tracker", JSON.stringify({ ...CLIENT, client_secret: "wr0ng" }));
    const { connectId, authorizeUrl } = await start(server);
    await auth.visit(authorizeUrl);
    expect((await endOf(server, connectId)).error).toEqual({
      code: "oauth_token",
      reason: "endpoint",
    });
    expect(log.lines).toContainEqual({
      level: "warn",
      message: "connect.failed",
      fields: { slug: "tracker", code: "oauth_token", reason: "endpoint" },
    });
    expect(JSON.stringify(log.lines)).not.toContain("wr0ng");
  });

  test("is superseded by the next one of its connection", async () => {
    const { server, auth } = await world();
    const first = await start(server, { port: 0 });
    const port = Number(new URL(first.redirectUri).port);
    const second = await start(server, { port });
    expect(await stateOf(server, first.connectId)).toEqual({ state: "superseded" });
    expect(new URL(second.redirectUri).port).toBe(String(port));
    await auth.visit(second.authorizeUrl);
    expect(await endOf(server, second.connectId)).toEqual({ state: "connected" });
  });

  test("of several that begin at once with one port the last one has it", async () => {
    const { server, auth } = await world();
    const spare = await start(server);
    const port = Number(new URL(spare.redirectUri).port);
    await invoke(server, "cancel_connect", { connectId: spare.connectId });
    const all = await Promise.allSettled([1, 2, 3].map(() => call(server, { port })));
    const last = (all.at(-1) as PromiseFulfilledResult<ConnectStarted>).value;
    const superseded = { code: "state_conflict", options: { members: { state: "superseded" } } };
    for (const { reason } of all.slice(0, -1) as PromiseRejectedResult[]) {
      expect(reason).toMatchObject(superseded);
    }
    await auth.visit(last.authorizeUrl);
    expect(await endOf(server, last.connectId)).toEqual({ state: "connected" });
  });

  test("is cancelled, and its port is free", async () => {
    const { server } = await world();
    const { connectId, redirectUri } = await start(server);
    const route = `${server.url}/api/connections/tracker/connect/${connectId}`;
    expect((await fetch(route, { method: "DELETE" })).status).toBe(204);
    await expectFree(redirectUri);
    expect(await stateOf(server, connectId)).toEqual({ state: "cancelled" });
    expect((await fetch(route, { method: "DELETE" })).status).toBe(204);
    const elsewhere = `${server.url}/api/connections/other/connect/${connectId}`;
    expect((await fetch(elsewhere, { method: "DELETE" })).status).toBe(404);
    expect(await problem(server, "get_connect_status", { connectId: "con_none" })).toMatchObject({
      code: "not_found",
    });
  });

  test("expires after five minutes, and its port is free", async () => {
    const { server } = await world();
    const call = (command: string, args: object) => server.app.invoke(command, args, ADMINISTRATOR);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const started = await call("connect_service", { slug: "tracker" });
    const { connectId, redirectUri } = started as ConnectStarted;
    vi.advanceTimersByTime(299_999);
    expect(await call("get_connect_status", { connectId })).toEqual({ state: "waiting" });
    vi.advanceTimersByTime(1);
    expect(await call("get_connect_status", { connectId })).toEqual({ state: "expired" });
    vi.useRealTimers();
    await vi.waitFor(() => expectFree(redirectUri), 30_000);
  });

  test("waits beside fifteen others at most", async () => {
    const { server } = await world();
    const all = Array.from({ length: 16 }, (_, i) => ({ slug: `c${i}`, service: "tracker" }));
    await Promise.all(all.map((args) => start(server, args)));
    const response = await post(server, "/api/connections/c16/connect", { service: "tracker" });
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("300");
    expect((await problemOf(response)).code).toBe("too_many_requests");
    // The place of its own connection is not another one.
    await start(server, all[3]);
  });

  test("ends with the server, and its port is free", async () => {
    const { server } = await world();
    const { redirectUri } = await start(server);
    await server.close({ graceMs: 0 });
    await expectFree(redirectUri);
  });

  test("does not begin when the server has closed meanwhile", async () => {
    const { server, store } = await world();
    const { get } = store;
    store.get = async (account) => {
      await server.close({ graceMs: 0 });
      return get(account);
    };
    await expect(call(server)).rejects.toMatchObject({ code: "draining" });
  });
});

describe("a consent that the caller receives", () => {
  test("is completed once, with code and state", async () => {
    const { server, auth } = await world({ more: { pkce: true } });
    const { connectId, authorizeUrl, redirectUri } = await start(server, caller);
    expect(redirectUri).toBe(caller.redirectUri);
    const { code, state } = await consent(authorizeUrl);
    const route = `/api/connections/tracker/connect/${connectId}`;
    const response = await post(server, route, { code, state });
    expect(response.status).toBe(200);
    expect((await response.json()) as ConnectionStatus).toMatchObject({
      slug: "tracker",
      status: "connected",
    });
    expect(await stateOf(server, connectId)).toEqual({ state: "connected" });
    const again = await post(server, route, { code, state });
    expect(await problemOf(again)).toMatchObject({ code: "state_conflict", state: "connected" });
    expect(auth.requests.filter(({ path }) => path === "/token")).toHaveLength(1);
  });

  test("ends at another state, without a request", async () => {
    const { server, auth } = await world();
    const { connectId, code } = await consented(server);
    const refused = await problem(server, "complete_connect", { connectId, code, state: "guess" });
    const detail = "OAuth state mismatch (possible CSRF)";
    expect(refused).toMatchObject({ code: "state_conflict", state: "failed", detail });
    expect((await stateOf(server, connectId)).error?.reason).toBe("state_mismatch");
    expect(auth.requests.filter(({ path }) => path === "/token")).toEqual([]);
  });

  test.each([
    ["a code that is none", {}, "reconnect_service"],
    ["a token endpoint that is not there", { tokenUrl: NOWHERE }, "upstream_failed"],
  ])("fails with %s", async (_what, more, code) => {
    const { server } = await world({ more });
    const { connectId, state } = await consented(server);
    const refused = await problem(server, "complete_connect", { connectId, code: "none", state });
    expect(refused.code).toBe(code);
    expect((await stateOf(server, connectId)).state).toBe("failed");
  });

  test("fails when the store does", async () => {
    const { server, store } = await world();
    const args = await consented(server);
    store.failure = new Error("s3cret");
    const refused = await problem(server, "complete_connect", args);
    expect(refused.code).toBe("credential_store_unavailable");
    expect(JSON.stringify(refused)).not.toContain("s3cret");
  });

  test("is not completed when the server is to receive it", async () => {
    const { server } = await world();
    const refused = await problem(server, "complete_connect", await consented(server, {}));
    expect(refused).toMatchObject({ code: "state_conflict", state: "waiting" });
  });
});

describe("connecting is refused", () => {
  test("to a service that is not there, asks nobody, or has no client", async () => {
    const { server, store } = await world();
    expect(await problem(server, "connect_service", { slug: "none" })).toMatchObject({
      code: "not_found",
      resource: "service",
    });
    expect(await codeOf(server, "connect_service", { slug: "mail" })).toBe("invalid_args");
    await store.delete("client:tracker");
    expect(await problem(server, "connect_service", { slug: "tracker" })).toMatchObject({
      code: "not_found",
      resource: "client",
    });
    store.failure = new Error("s3cret");
    expect(await codeOf(server, "connect_service", { slug: "tracker" })).toBe(
      "credential_store_unavailable",
    );
  });

  test("to who may only run flows", async () => {
    const { server } = await world({ tokens: [ADMIN, `runner:run:${RUNNER}`] });
    const as = (token: string, command: string, args: object) => {
      const headers = { authorization: `Bearer ${token}` };
      return post(server, "/api/invoke", { command, args }, { headers });
    };
    const started = await as(ADMIN, "connect_service", { slug: "tracker" });
    const { connectId } = (await started.json()) as ConnectStarted;
    for (const [command, args] of [
      ["connect_service", { slug: "tracker" }],
      ["complete_connect", { connectId, code: "x", state: "y" }],
      ["cancel_connect", { connectId }],
      ["set_service_secret", { slug: "mail", service: "mail", value: "x" }],
      ["disconnect_service", { slug: "mail" }],
    ] as const) {
      expect((await as(RUNNER, command, args)).status, command).toBe(403);
    }
    expect((await as(RUNNER, "get_connect_status", { connectId })).status).toBe(200);
    expect((await as(RUNNER, "list_services", {})).status).toBe(200);
  });

  test("a public client needs no secret", async () => {
    const { server, store } = await world({ more: { clientId: "client" } });
    await store.delete("client:tracker");
    const { authorizeUrl } = await start(server);
    expect(new URL(authorizeUrl).searchParams.get("client_id")).toBe("client");
  });
});

describe("set_service_secret", () => {
  test.each([
    ["mail", "t0ken"],
    ["keys", "k3y"],
    ["files", "user:päss word"],
  ])("stores the credential of %s as a token that never expires", async (slug, value) => {
    const { server, store } = await world();
    const response = await fetch(`${server.url}/api/connections/my-${slug}/secret`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ service: slug, value }),
    });
    expect(response.status).toBe(200);
    const text = await response.text();
    const made = { slug: `my-${slug}`, service: slug, status: "connected" };
    expect(JSON.parse(text)).toMatchObject(made);
    expect(text).not.toContain(value);
    expect((await store.entries())[`service:my-${slug}`]).toBe(
      JSON.stringify({ access_token: value, token_type: "", scope: "" }),
    );
    const connections = await connectionsOf(server, slug);
    expect(connections.map((connection) => connection.slug)).toEqual([`my-${slug}`]);
  });

  test("stores the OAuth client of a service, which connects nothing", async () => {
    const { server, store } = await world();
    const value = { client_id: "other", client_secret: "s" };
    const args = { slug: "tracker", service: "tracker", value };
    const status = await invoke<ConnectionStatus>(server, "set_service_secret", args);
    expect(status.status).toBe("not_connected");
    expect((await store.entries())["client:tracker"]).toBe(
      `{"client_id":"other","client_secret":"s"}`,
    );
    await invoke(server, "set_service_secret", { ...args, value: { client_id: "public" } });
    expect((await store.entries())["client:tracker"]).toBe(`{"client_id":"public"}`);
  });

  test.each([
    ["tracker", "a-token"],
    ["mail", { client_id: "x" }],
    ["mail", "two words"],
    ["keys", "line\nbreak"],
    ["files", "user-without-password"],
    ["open", "x"],
  ])("refuses for %s what its scheme does not take", async (slug, value) => {
    const { server, store } = await world();
    const before = await store.entries();
    const refused = await problem(server, "set_service_secret", { slug, service: slug, value });
    expect(refused).toMatchObject({ code: "invalid_args", errors: [{ pointer: "/value" }] });
    expect(await store.entries()).toEqual(before);
  });

  test("a client beside one in use replaces it when it is accepted, and is forgotten when it is not", async () => {
    const { server, store } = await world();
    const connectNow = async (args: object = {}) => {
      const { authorizeUrl, connectId } = await start(server, args);
      await fetch(authorizeUrl);
      return (await endOf(server, connectId)).state;
    };
    const clients = async () => {
      const { "client:tracker": used, "client-next:tracker": next } = await store.entries();
      return [used, next];
    };
    const set = (value: object) =>
      invoke(server, "set_service_secret", { slug: "tracker", service: "tracker", value });
    const good = JSON.stringify(CLIENT);
    expect(await connectNow()).toBe("connected");
    await set({ ...CLIENT, client_secret: "mistyped" });
    expect((await clients())[0], "what works stays in use").toBe(good);
    expect(await connectNow({ slug: "other", service: "tracker" })).toBe("failed");
    expect(await clients()).toEqual([good, undefined]);
    const wrong = { client: { ...CLIENT, client_secret: "mistyped" } };
    expect(await connectNow({ slug: "other", service: "tracker", ...wrong })).toBe("failed");
    expect(await clients()).toEqual([good, undefined]);
    await set(CLIENT);
    expect(await connectNow({ slug: "other", service: "tracker" })).toBe("connected");
    expect(await clients()).toEqual([good, undefined]);
  });

  test("refuses a service that is not there, and says when the store fails", async () => {
    const { server, store } = await world();
    const args = { slug: "mail", service: "none", value: "x" };
    expect(await codeOf(server, "set_service_secret", args)).toBe("not_found");
    store.failure = new Error("s3cret");
    const refused = await problem(server, "set_service_secret", { ...args, service: "mail" });
    expect(refused.code).toBe("credential_store_unavailable");
  });
});

describe("disconnect_service", () => {
  async function connected(
    options: Parameters<typeof world>[0] = {},
  ): Promise<World & { refresh: string }> {
    const made = await world(options);
    await invoke(made.server, "complete_connect", await consented(made.server));
    const entry = JSON.parse((await made.store.entries())["service:tracker"] ?? "{}");
    return { ...made, refresh: entry.refresh_token };
  }

  test("revokes and deletes what is being stored while it is asked for", async () => {
    const { server, store, auth } = await world();
    const args = await consented(server, { ...caller, slug: "eu", service: "tracker" });
    const { set } = store;
    let disconnected: Promise<unknown> | undefined;
    store.set = async (account, value) => {
      disconnected ??= invoke(server, "disconnect_service", { slug: "eu" });
      const isCancelled = async () =>
        expect((await stateOf(server, args.connectId)).state).toBe("cancelled");
      await vi.waitFor(isCancelled, 20_000);
      await set(account, value);
    };
    await post(server, "/api/invoke", { command: "complete_connect", args });
    await disconnected;
    expect(auth.requests.filter(({ path }) => path === "/revoke")).toHaveLength(1);
    expect(Object.keys(await store.entries())).toEqual(["client:tracker"]);
    const connections = await connectionsOf(server);
    expect(connections).toEqual([]);
  });

  test("revokes the refresh token, deletes the entry and the record", async () => {
    const { server, store, auth, refresh } = await connected();
    const response = await fetch(`${server.url}/api/connections/tracker`, { method: "DELETE" });
    expect(response.status).toBe(204);
    const revoked = auth.requests.filter(({ path }) => path === "/revoke");
    expect(revoked.map(({ body }) => new URLSearchParams(body).get("token"))).toEqual([refresh]);
    expect(Object.keys(await store.entries())).toEqual(["client:tracker"]);
    const connections = await connectionsOf(server);
    expect(connections).toEqual([]);
    expect(await codeOf(server, "disconnect_service", { slug: "tracker" })).toBe("not_found");
  });

  test("deletes although the revocation fails, and logs it", async () => {
    const log = keepLog();
    const more = { revocationUrl: "http://127.0.0.1:1/revoke" };
    const { server, store } = await connected({ more, log });
    await invoke(server, "disconnect_service", { slug: "tracker" });
    expect(Object.keys(await store.entries())).toEqual(["client:tracker"]);
    expect(log.lines).toContainEqual({
      level: "warn",
      message: "revoke.failed",
      fields: { slug: "tracker", code: "oauth_http" },
    });
  });

  test("deletes an entry that cannot be read, and ends a consent that waits", async () => {
    const { server, store } = await world();
    await store.set("service:tracker", "no token");
    const { connectId } = await start(server);
    await invoke(server, "disconnect_service", { slug: "tracker" });
    expect(Object.keys(await store.entries())).toEqual(["client:tracker"]);
    expect((await stateOf(server, connectId)).state).toBe("cancelled");
  });

  test("says when the store fails", async () => {
    const { server, store } = await world();
    store.failure = new Error("s3cret");
    expect(await codeOf(server, "disconnect_service", { slug: "tracker" })).toBe(
      "credential_store_unavailable",
    );
  });
});

test("import_service answers with a service, and saves nothing", async () => {
  const { server } = await world();
  const operation = { operationId: "list", responses: { 200: { description: "" } } };
  const document = {
    openapi: "3.1.0",
    info: { title: "Shop", version: "1" },
    servers: [{ url: "https://shop.example/v1" }],
    paths: { "/orders": { get: operation } },
  };
  const response = await post(server, "/api/services/import", { document, slug: "shop" });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    entry: { slug: "shop", serviceIntegration: { operations: [{ id: "list", path: "/orders" }] } },
  });
  expect(await codeOf(server, "get_service", { slug: "shop" })).toBe("not_found");
  expect(await invoke(server, "import_service", { document: {} })).toMatchObject({
    entry: null,
    diagnostics: [{ severity: "error" }],
  });
});

test("token requests obey the egress policy", async () => {
  const { server, auth } = await world({ egress: {} });
  const refused = await problem(server, "complete_connect", await consented(server));
  expect(refused).toMatchObject({ code: "upstream_failed" });
  expect(auth.requests.filter(({ path }) => path === "/token")).toEqual([]);
});

test("what is known of a connection besides its token outlives the server", async () => {
  const store = temporaryFolder();
  const first = await world({ store });
  const mail = { slug: "work-mail", service: "mail" };
  await invoke(first.server, "set_service_secret", { ...mail, value: "t0ken" });
  await first.server.close({ graceMs: 0 });
  const next = await world({ store });
  expect(await connectionsOf(next.server, "mail")).toMatchObject([mail]);
});
