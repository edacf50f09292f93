/** Consents over HTTP, that the server or the caller receives. */
import type { ConnectionStatus, ConnectStarted, ServiceInfo } from "@millrace/contracts";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { invoke, keepLog, post, problemOf } from "../support/server.ts";
import { consent } from "./support.ts";
import {
  ADMINISTRATOR,
  CLIENT,
  call,
  caller,
  connectionsOf,
  consented,
  endOf,
  expectFree,
  NOWHERE,
  problem,
  start,
  stateOf,
  TRACKER,
  world,
} from "./world.ts";

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
