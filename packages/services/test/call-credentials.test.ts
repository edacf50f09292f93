import { exitCodeFor, NodeError } from "@millrace/contracts";
import { planOf, runNode } from "@millrace/test-support/flows";
import { graphWith } from "@millrace/test-support/graph";
import { describe, expect, test } from "vitest";
import { CALL, call, engineOf, json, portOf, RECONNECT, startService } from "./support.ts";

describe("a 401", () => {
  test("costs one renewal, then the call goes on, in one attempt", async () => {
    const shop = await startService((seen, response) => {
      json(response, {}, seen.headers.authorization === "Bearer fresh-token" ? 200 : 401);
    });
    const { port, calls } = portOf(["stale-token", "fresh-token"]);
    const { output, events } = await call(shop, {}, { port });
    expect(output).toMatchObject({ status: 200 });
    expect(calls).toEqual({ resolve: 1, renew: ["stale-token"], refused: [] });
    expect(events.filter(({ kind }) => kind === "node.retrying")).toEqual([]);
  });

  test("after a 401 fails with credentials_expired, exit code 5, and rests the connection", async () => {
    const shop = await startService((_seen, response) => json(response, {}, 401));
    const { port, calls } = portOf(["stale-token", "fresh-token"]);
    const { error, events } = await call(shop, {}, { port });
    expect(error).toMatchObject({ code: "credentials_expired", retryable: false });
    expect(error?.message.endsWith(RECONNECT)).toBe(true);
    expect(shop.seen).toHaveLength(2);
    expect(calls).toEqual({ resolve: 1, renew: ["stale-token"], refused: ["shop-eu"] });
    expect(events.at(-1)).toMatchObject({ kind: "summary", exitCode: 5 });
  });

  test("of a key that cannot be renewed fails at once", async () => {
    const shop = await startService((_seen, response) => json(response, {}, 401), [{}], {
      auth: { scheme: "bearer" },
    });
    const { port, calls } = portOf(["some-api-key"]);
    const { error } = await call(shop, {}, { port });
    expect(error?.code).toBe("credentials_expired");
    expect([shop.seen.length, calls.renew]).toEqual([1, []]);
  });

  test("of ten calls at once costs one renewal, and a refused one is not tried again for a minute", async () => {
    let accepted = "second-token";
    const shop = await startService((seen, response) => {
      json(response, {}, seen.headers.authorization === `Bearer ${accepted}` ? 200 : 401);
    });
    const { port, calls } = portOf(["first-token", "second-token", "third-token"]);
    const engine = engineOf(shop, port);
    const plan = await planOf(
      graphWith({
        nodes: Array.from({ length: 10 }, (_, at) => ({ ...CALL, id: `n${at}` })),
        connections: [{ name: "shop", auth: "oauth" }],
      }),
    );
    expect(plan.needs).toEqual(["credentials", "net"]);
    expect((await engine.run(plan).result).counts.succeeded).toBe(10);
    expect(calls.renew).toEqual(["first-token"]);
    accepted = "none";
    for (let again = 0; again < 2; again += 1) {
      expect((await engine.run(plan, {}, { onFailure: "finish" }).result).counts.failed).toBe(10);
    }
    expect(calls.renew).toEqual(["first-token", "second-token"]);
    await engine.close();
  });
});

describe("credentials that are not there", () => {
  const shop = () => startService((_seen, response) => json(response, {}));
  const failing = (error: unknown) => ({
    ...portOf(["x"]).port,
    resolve: () => Promise.reject(error),
  });
  const unread = "stored token: access_token must be text";
  const locked = "credential store: locked. Unlock it";
  const noEntry = "nothing. Connect it: millrace connect shop-eu";
  const oauthError = (code: string, more: object = {}) =>
    Object.assign(new Error(`message of ${code}`), { code, retryable: false, ...more });

  test.each<[string, unknown, string, string, number]>([
    ["no refresh token", oauthError("oauth_no_refresh_token"), "no_refresh_token", RECONNECT, 5],
    [
      "a refused grant",
      oauthError("oauth_token", { status: 400, oauthError: "invalid_grant" }),
      "credentials_expired",
      RECONNECT,
      5,
    ],
    [
      "an entry that cannot be read",
      oauthError("oauth_decode", { message: unread }),
      "credentials_expired",
      RECONNECT,
      5,
    ],
    [
      "a locked store",
      oauthError("oauth_credential", { message: locked, retryable: true }),
      "unavailable",
      "Unlock it",
      6,
    ],
    [
      "a dead token endpoint",
      oauthError("oauth_http", { retryable: true }),
      "network",
      "auth.example",
      1,
    ],
    ["a slow one", oauthError("oauth_http", { reason: "timeout" }), "timeout", "auth.example", 1],
    ["another answer", oauthError("oauth_token", { status: 503 }), "http_status", "503", 1],
    ["a token answer that is none", oauthError("oauth_decode"), "decode_failed", "oauth_decode", 1],
    [
      "an error of the port's own",
      new NodeError("credentials_missing", noEntry, { reason: "auth" }),
      "credentials_missing",
      "Connect it: millrace connect shop-eu",
      5,
    ],
    ["a broken port", new Error("secret-text"), "internal", "shop-eu could not be read", 70],
  ])("%s", async (_name, thrown, code, end, exitCode) => {
    const { error, events } = await call(await shop(), {}, { port: failing(thrown) });
    expect(error?.code).toBe(code);
    expect(error?.message.endsWith(end), error?.message).toBe(true);
    expect(exitCodeFor({ status: "failed", error: { code } })).toBe(exitCode);
    expect(JSON.stringify(events)).not.toContain("secret-text");
  });

  test("no port and no entry say how to connect, and a service without auth needs neither", async () => {
    const service = await shop();
    const none = { ...portOf(["x"]).port, resolve: async () => undefined as never };
    const { error } = await call(service, {}, { port: none });
    expect(error).toMatchObject({
      code: "credentials_missing",
      message: expect.stringMatching(/Connect it: millrace connect shop-eu --service shop$/),
    });
    const open = await startService((_s, response) => json(response, {}), [{}], {
      auth: { scheme: "none" },
    });
    const fields = { connection: "shop", operation: "op" };
    const connections = [{ name: "shop", auth: "none", service: "shop" }];
    const withPort = (one: typeof open) =>
      runNode("service.call", fields, { services: { get: () => one.service }, connections });
    expect((await withPort(open)).output).toMatchObject({ status: 200 });
    expect((await withPort(service)).error?.message).toMatch(/Connect it: millrace connect shop$/);
  });

  test("a credential that no header can carry is expired before anything is sent", async () => {
    const service = await shop();
    const { error } = await call(service, {}, { port: portOf(["two\nlines"]).port });
    expect(error?.code).toBe("credentials_expired");
    expect(service.seen).toEqual([]);
  });

  test("scopes that were not granted are named, and nothing is sent", async () => {
    const service = await startService(
      (_s, response) => json(response, {}),
      [{ scopes: ["write"] }],
    );
    const { port } = portOf(["token-of-the-shop"], ["read"]);
    const { error } = await call(service, {}, { port, connection: { scopes: ["admin", "read"] } });
    expect(error?.code).toBe("credentials_missing");
    expect(error?.message).toBe(`missing scopes: admin write. ${RECONNECT}`);
    expect(service.seen).toEqual([]);
    expect((await call(service)).output).toMatchObject({ status: 200 }); // nothing is known of its scopes
  });

  test.each([
    [
      "the challenge",
      { "www-authenticate": 'Bearer error="insufficient_scope", scope="admin"' },
      "",
      "admin",
    ],
    ["the body", {}, '{"error":"insufficient_scope"}', "write"],
    ["the body of an operation without scopes", {}, '{"error":"insufficient_scope"}', ""],
  ])("403 for a scope, said in %s, is credentials_missing", async (_name, headers, body, scope) => {
    const service = await startService(
      (_seen, response) => response.writeHead(403, headers).end(body),
      [{ scopes: scope === "" ? [] : ["write"] }],
    );
    const { error } = await call(service);
    expect(error).toMatchObject({
      code: "credentials_missing",
      message: `missing scopes: ${scope || "the service does not say which"}. ${RECONNECT}`,
    });
  });
});
