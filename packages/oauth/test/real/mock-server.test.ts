import {
  ensureFreshToken,
  exchangeCode,
  loadToken,
  revokeToken,
  storeToken,
} from "@millrace/oauth";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { OAuth2Server } from "oauth2-mock-server";
import { expect, onTestFinished, test } from "vitest";

async function startServer() {
  const server = new OAuth2Server();
  await server.issuer.keys.generate("RS256");
  await server.start(0, "127.0.0.1");
  onTestFinished(() => server.stop());
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    service: server.service,
    endpoint: { tokenUrl: `${origin}/token`, clientId: "c", clientSecret: "s" },
    revocationUrl: `${origin}/revoke`,
  };
}

test("a 503 is an error that can be repeated; the entry waits for the 200", async () => {
  const { service, endpoint } = await startServer();
  const store = memoryCredentialStore();
  const first = await exchangeCode({
    ...endpoint,
    code: "any",
    redirectUri: "http://127.0.0.1:9/",
  });
  expect(first.refresh_token).toMatch(/./);
  const expired = { ...first, expires_at: "2020-01-01T00:00:00.000Z" };
  await storeToken(store, "s", expired);

  service.once("beforeResponse", (response: { statusCode: number; body: unknown }) => {
    response.statusCode = 503;
    response.body = { error: "temporarily_unavailable" };
  });
  const refused = await ensureFreshToken({ ...endpoint, store, slug: "s" }).catch(
    (error: unknown) => error,
  );
  expect(refused).toMatchObject({
    kind: "Token",
    status: 503,
    retryable: true,
    message: "token endpoint answered 503 (temporarily_unavailable)",
  });
  expect(await loadToken(store, "s")).toEqual(expired);

  const renewed = await ensureFreshToken({ ...endpoint, store, slug: "s" });
  expect(Date.parse(renewed?.expires_at ?? "")).toBeGreaterThan(Date.now());
  expect(await loadToken(store, "s")).toEqual(renewed);
});

test("a revocation that fails says how", async () => {
  const { service, endpoint, revocationUrl } = await startServer();
  service.once("beforeRevoke", (response: { statusCode: number }) => {
    response.statusCode = 500;
  });
  const { tokenUrl: _tokenUrl, ...client } = endpoint;
  await expect(revokeToken({ ...client, revocationUrl, token: "t" })).rejects.toMatchObject({
    kind: "Token",
    status: 500,
  });
  await revokeToken({ ...client, revocationUrl, token: "t" });
});
