import {
  buildAuthorizeUrl,
  ensureFreshToken,
  exchangeCode,
  generatePkce,
  refreshToken,
  revokeToken,
} from "@millrace/oauth";
import { connectService } from "@millrace/oauth/loopback";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import {
  type FakeAuthorizationServerOptions,
  startFakeAuthorizationServer,
} from "@millrace/oauth/testing";
import { expect, onTestFinished, test } from "vitest";

async function start(options?: FakeAuthorizationServerOptions) {
  const server = await startFakeAuthorizationServer(options);
  onTestFinished(() => server.close());
  const { authorizeUrl, tokenUrl, revocationUrl, clientId, clientSecret } = server;
  return { server, client: { authorizeUrl, tokenUrl, revocationUrl, clientId, clientSecret } };
}

const redirectUri = "http://127.0.0.1:9/callback";

/** The redirect that the server answers an authorize URL with. */
async function ask(client: Awaited<ReturnType<typeof start>>["client"], challenge?: string) {
  const url = buildAuthorizeUrl({
    ...client,
    redirectUri,
    scopes: ["read"],
    state: "s",
    ...(challenge !== undefined && { pkce: { challenge } }),
  });
  const answer = await fetch(url, { redirect: "manual" });
  return new URL(answer.headers.get("location") ?? "about:blank").searchParams;
}

async function connect(options?: FakeAuthorizationServerOptions) {
  const { server, client } = await start(options);
  const store = memoryCredentialStore();
  let page: Promise<number> | undefined;
  const token = connectService({
    ...client,
    store,
    slug: "s",
    scopes: ["read", "write"],
    usePkce: true,
    timeoutMs: 30_000,
    openBrowser: (url) => {
      page = server.visit(url);
    },
  });
  return { server, client, store, token, page: () => page };
}

test("a connection takes one visit, and its token is accepted", async () => {
  const { server, token, page } = await connect();
  expect(await token).toMatchObject({ token_type: "Bearer", scope: "read write" });
  expect(await page()).toBe(200);
  expect(server.accepts((await token).access_token)).toBe(true);
  expect(server.accepts("another")).toBe(false);
  expect(server.requests.map(({ method, path }) => `${method} ${path.split("?")[0]}`)).toEqual([
    "GET /authorize",
    "POST /token",
  ]);
});

test("a user who denies", async () => {
  const { token, page } = await connect({ deny: true });
  await expect(token).rejects.toMatchObject({ kind: "Token", reason: "denied" });
  expect(await page()).toBe(400);
});

test("a token that lives for seconds is renewed, and refresh tokens rotate", async () => {
  const { server, client, store, token } = await connect({ expiresIn: 30 });
  const first = await token;
  const second = await ensureFreshToken({ ...client, store, slug: "s" });
  expect(second?.access_token).not.toBe(first.access_token);
  expect(second?.refresh_token).not.toBe(first.refresh_token);
  expect(server.accepts(second?.access_token ?? "")).toBe(true);
});

test("a refresh token that is used twice ends the grant", async () => {
  const { server, client, token } = await connect();
  const sent = { ...client, refreshToken: (await token).refresh_token ?? "" };
  const second = await refreshToken(sent);
  await expect(refreshToken(sent)).rejects.toMatchObject({ oauthError: "invalid_grant" });
  expect(server.accepts(second.access_token)).toBe(false);
  await expect(
    refreshToken({ ...client, refreshToken: second.refresh_token ?? "" }),
  ).rejects.toMatchObject({ oauthError: "invalid_grant" });
});

test("a code works once, with its redirect URI and its verifier", async () => {
  const { client } = await start();
  const { challenge, verifier } = await generatePkce();
  const good = { ...client, redirectUri, codeVerifier: verifier };
  const fresh = async () => (await ask(client, challenge)).get("code") ?? "";
  const refused = { oauthError: "invalid_grant" };
  const code = await fresh();
  expect((await exchangeCode({ ...good, code })).scope).toBe("read");
  await expect(exchangeCode({ ...good, code })).rejects.toMatchObject(refused);
  await expect(
    exchangeCode({ ...good, code: await fresh(), codeVerifier: "v" }),
  ).rejects.toMatchObject(refused);
  await expect(
    exchangeCode({ ...good, code: await fresh(), redirectUri: "x:y" }),
  ).rejects.toMatchObject(refused);
  await expect(exchangeCode({ ...client, redirectUri, code: await fresh() })).rejects.toMatchObject(
    refused,
  );
});

test("clients are known by the form, by the header, and without a secret where there is none", async () => {
  const { client } = await start({ clientSecret: "a b&é" });
  const refused = { status: 400, oauthError: "invalid_grant" };
  await expect(refreshToken({ ...client, refreshToken: "r" })).rejects.toMatchObject(refused);
  await expect(
    refreshToken({ ...client, clientAuth: "basic", refreshToken: "r" }),
  ).rejects.toMatchObject(refused);
  for (const clientAuth of ["post", "basic"] as const) {
    await expect(
      refreshToken({ ...client, clientSecret: "wrong", clientAuth, refreshToken: "r" }),
    ).rejects.toMatchObject({ status: 401, oauthError: "invalid_client" });
  }
  const open = await start({ clientSecret: "" });
  await expect(
    refreshToken({ ...open.client, clientAuth: "none", refreshToken: "r" }),
  ).rejects.toMatchObject(refused);
});

test("a revoked token ends its grant", async () => {
  const { server, client, token } = await connect();
  const { access_token, refresh_token = "" } = await token;
  await revokeToken({ ...client, token: refresh_token });
  expect(server.accepts(access_token)).toBe(false);
  await revokeToken({ ...client, token: "unknown" });
});

test("what it does not know it refuses", async () => {
  const { server, client } = await start();
  const form = new URLSearchParams({
    client_id: client.clientId,
    client_secret: client.clientSecret,
  });
  const answer = await fetch(client.tokenUrl, { method: "POST", body: form });
  expect(await answer.json()).toEqual({ error: "unsupported_grant_type" });
  expect((await fetch(`${server.origin}/other`)).status).toBe(404);
  expect((await fetch(`${client.authorizeUrl}?client_id=x`)).status).toBe(400);
});

test("a closed server answers nobody, and can be closed again", async () => {
  const { server, client } = await start();
  await server[Symbol.asyncDispose]();
  await expect(refreshToken({ ...client, refreshToken: "r" })).rejects.toMatchObject({
    kind: "Http",
  });
  await server.close();
});

test("a path that is no path of its own is 404", async () => {
  const { server } = await start();
  for (const path of ["//", "/elsewhere"]) {
    expect((await fetch(`${server.origin}${path}`)).status).toBe(404);
  }
});
