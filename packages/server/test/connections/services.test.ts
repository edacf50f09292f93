/** Services and their connections over HTTP: list, connect, secrets, disconnect. */
import type { ConnectionStatus, ConnectStarted, ServiceInfo } from "@millrace/contracts";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, test, vi } from "vitest";
import { invoke, keepLog, post } from "../support/server.ts";
import { stored } from "./support.ts";
import {
  ADMIN,
  CLIENT,
  caller,
  codeOf,
  connectionsOf,
  consented,
  endOf,
  problem,
  RUNNER,
  start,
  stateOf,
  TRACKER,
  type World,
  world,
} from "./world.ts";

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
