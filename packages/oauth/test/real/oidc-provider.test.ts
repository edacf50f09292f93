import {
  buildAuthorizeUrl,
  ensureFreshToken,
  exchangeCode,
  generatePkce,
  loadToken,
  OAuthError,
  type OAuthToken,
  refreshToken,
  revokeToken,
  storeToken,
} from "@millrace/oauth";
import { connectService } from "@millrace/oauth/loopback";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { expect, test } from "vitest";
import { answerConsent, startBrowser, startProvider } from "./provider.ts";

type Provider = Awaited<ReturnType<typeof startProvider>>;

const redirectUri = "http://127.0.0.1:9/callback";

async function askForCode(provider: Provider, challenge?: string): Promise<URLSearchParams> {
  const url = buildAuthorizeUrl({
    ...provider,
    redirectUri,
    state: "s &+",
    ...(challenge !== undefined && { pkce: { challenge } }),
  });
  return new URL(await answerConsent(url)).searchParams;
}

async function firstToken(provider: Provider): Promise<OAuthToken> {
  const code = (await askForCode(provider)).get("code") ?? "";
  return exchangeCode({ ...provider, code, redirectUri });
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => "no error",
    (error: unknown) =>
      OAuthError.isInstance(error, "Token") ? `${error.status} ${error.oauthError}` : error,
  );

test("a code comes back with its state, and gives a token that works and can be renewed", async () => {
  const provider = await startProvider();
  const redirect = await askForCode(provider);
  expect(redirect.get("state")).toBe("s &+");
  const before = Date.now();
  const token = await exchangeCode({ ...provider, code: redirect.get("code") ?? "", redirectUri });
  expect(token).toMatchObject({ token_type: "Bearer", scope: "openid offline_access" });
  expect(token.refresh_token).toMatch(/./);
  expect(Date.parse(token.expires_at ?? "")).toBeGreaterThan(before);
  expect(await provider.userinfo(token.access_token)).toBe(200);

  const renewed = await refreshToken({ ...provider, refreshToken: token.refresh_token ?? "" });
  expect(renewed.access_token).not.toBe(token.access_token);
  expect(renewed.refresh_token).not.toBe(token.refresh_token);
  expect(await provider.userinfo(renewed.access_token)).toBe(200);
});

test("8 callers at once use a rotated refresh token once, and the grant lives", async () => {
  const provider = await startProvider();
  const store = memoryCredentialStore();
  await storeToken(store, "s", {
    ...(await firstToken(provider)),
    expires_at: "2020-01-01T00:00:00Z",
  });
  const tokens = await Promise.all(
    Array.from({ length: 8 }, () => ensureFreshToken({ ...provider, store, slug: "s" })),
  );
  expect(new Set(tokens.map((token) => token?.access_token)).size).toBe(1);
  expect(provider.grants()).toBe(2);
  expect(provider.revoked()).toBe(0);
  expect(await provider.userinfo(tokens[0]?.access_token)).toBe(200);

  const rejected = tokens[0]?.access_token ?? "";
  const again = await ensureFreshToken({ ...provider, store, slug: "s", rejected });
  expect(await provider.userinfo(again?.access_token)).toBe(200);
  expect(await loadToken(store, "s")).toEqual(again);
});

test("a refresh token that is used twice ends the grant: this is what the single flight is for", async () => {
  const provider = await startProvider();
  const first = await firstToken(provider);
  const sent = { ...provider, refreshToken: first.refresh_token ?? "" };
  const second = await refreshToken(sent);
  expect(await refusal(refreshToken(sent))).toBe("400 invalid_grant");
  expect(provider.revoked()).toBe(1);
  expect(await provider.userinfo(second.access_token)).toBe(401);
  expect(
    await refusal(refreshToken({ ...provider, refreshToken: second.refresh_token ?? "" })),
  ).toBe("400 invalid_grant");
});

test("a code that is used twice is refused", async () => {
  const provider = await startProvider();
  const code = (await askForCode(provider)).get("code") ?? "";
  await exchangeCode({ ...provider, code, redirectUri });
  expect(await refusal(exchangeCode({ ...provider, code, redirectUri }))).toBe("400 invalid_grant");
});

test("a wrong secret is invalid_client, and is in no message", async () => {
  const provider = await startProvider();
  const wrong = { ...provider, clientSecret: "PLANTED-wrong", refreshToken: "r" };
  const error = await refreshToken(wrong).catch((reason: OAuthError) => reason);
  expect(error).toMatchObject({ kind: "Token", status: 401, oauthError: "invalid_client" });
  expect(JSON.stringify(error)).not.toContain("PLANTED");
});

test("a client with a secret of any characters is known by the form and by the header", async () => {
  const provider = await startProvider();
  for (const clientAuth of ["post", "basic"] as const) {
    const asked = refreshToken({ ...provider, clientAuth, refreshToken: "r" });
    expect(await refusal(asked)).toBe("400 invalid_grant");
  }
});

test("where PKCE is required, a challenge and its verifier pass", async () => {
  const provider = await startProvider({ pkceRequired: true });
  expect((await askForCode(provider)).get("error")).toBe("invalid_request");
  const { challenge, verifier } = await generatePkce();
  const code = (await askForCode(provider, challenge)).get("code") ?? "";
  expect(
    await refusal(exchangeCode({ ...provider, code, redirectUri, codeVerifier: "x".repeat(43) })),
  ).toBe("400 invalid_grant");
  const other = (await askForCode(provider, challenge)).get("code") ?? "";
  const token = await exchangeCode({
    ...provider,
    code: other,
    redirectUri,
    codeVerifier: verifier,
  });
  expect(await provider.userinfo(token.access_token)).toBe(200);
});

test("a revoked refresh token ends the grant", async () => {
  const provider = await startProvider();
  const token = await firstToken(provider);
  const refresh = token.refresh_token ?? "";
  await revokeToken({ ...provider, token: refresh, hint: "refresh_token" });
  expect(await refusal(refreshToken({ ...provider, refreshToken: refresh }))).toBe(
    "400 invalid_grant",
  );
  expect(await provider.userinfo(token.access_token)).toBe(401);
});

test.each([false, true])(
  "a service is connected through the loopback (PKCE %s)",
  async (usePkce) => {
    const provider = await startProvider({ pkceRequired: usePkce });
    const store = memoryCredentialStore();
    const browser = startBrowser();
    const token = await connectService({
      ...provider,
      store,
      slug: "tracker",
      usePkce,
      timeoutMs: 30_000,
      ...browser,
    });
    expect(await browser.page()).toBe(200);
    expect(await loadToken(store, "tracker")).toEqual(token);
    expect(await provider.userinfo(token.access_token)).toBe(200);
  },
);

test("a person who refuses: Token 400, denied, and nothing is stored", async () => {
  const provider = await startProvider();
  const store = memoryCredentialStore();
  const browser = startBrowser("deny");
  const refused = await connectService({
    ...provider,
    store,
    slug: "tracker",
    timeoutMs: 30_000,
    ...browser,
  }).catch((error: unknown) => error);
  expect(await browser.page()).toBe(400);
  expect(refused).toMatchObject({ kind: "Token", status: 400, reason: "denied" });
  expect((refused as OAuthError).body).toBe("authorization denied: access_denied");
  expect(await store.list?.()).toEqual([]);
});
