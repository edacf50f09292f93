import { exchangeCode, refreshToken, revokeToken, type TokenEndpoint } from "@millrace/oauth";
import type { HostileStep } from "@millrace/test-support/hostile-token-endpoint";
import { describe, expect, test } from "vitest";
import { errorOf, startEndpoint } from "./token-endpoint.ts";

const GOOD: HostileStep = { body: { access_token: "a", expires_in: 60 } };
const now = () => new Date("2026-01-01T00:00:00.000Z");

const start = (step = GOOD) => startEndpoint([step]);

const client = { clientId: "my client", clientSecret: "s&cret+é", now };
const code = { code: "c/1", redirectUri: "http://127.0.0.1:1/callback" };
const CLIENT = "client_id=my+client&client_secret=s%26cret%2B%C3%A9";

describe("exchanging a code", () => {
  test("is one POST with the five fields in the order of the specification", async () => {
    const { tokenUrl, requests } = await start();
    expect(await exchangeCode({ ...client, ...code, tokenUrl })).toEqual({
      access_token: "a",
      expires_at: "2026-01-01T00:01:00.000Z",
      token_type: "",
      scope: "",
    });
    expect(requests).toMatchObject([
      {
        method: "POST",
        path: "/token",
        body: `grant_type=authorization_code&code=c%2F1&${CLIENT}&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback`,
      },
    ]);
    expect(requests[0]?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(requests[0]?.headers["accept"]).toBe("application/json");
    expect(requests[0]?.headers["authorization"]).toBeUndefined();
  });

  test("opt-ins follow the five fields", async () => {
    const { tokenUrl, requests } = await start();
    await exchangeCode({
      ...client,
      ...code,
      tokenUrl,
      extraParams: { audience: "x y" },
      resource: ["https://r.example"],
      codeVerifier: "v",
    });
    expect(requests[0]?.body).toMatch(
      /callback&code_verifier=v&resource=https%3A%2F%2Fr.example&audience=x\+y$/,
    );
  });

  test("the query of the token URL stays", async () => {
    const { tokenUrl, requests } = await start();
    await exchangeCode({ ...client, ...code, tokenUrl: `${tokenUrl}?tenant=1` });
    expect(requests[0]?.path).toBe("/token?tenant=1");
  });
});

describe("refreshing", () => {
  test("is one POST with the four fields in the order of the specification", async () => {
    const { tokenUrl, requests } = await start();
    await refreshToken({ ...client, tokenUrl, refreshToken: "r 1" });
    expect(requests.map((request) => request.body)).toEqual([
      `grant_type=refresh_token&refresh_token=r+1&${CLIENT}`,
    ]);
  });

  test("opt-ins follow the four fields", async () => {
    const { tokenUrl, requests } = await start();
    await refreshToken({
      ...client,
      tokenUrl,
      refreshToken: "r",
      scopes: ["a", "b"],
      resource: ["u:1", "u:2"],
      extraParams: { x: "1" },
    });
    expect(requests[0]?.body).toMatch(/é?&scope=a\+b&resource=u%3A1&resource=u%3A2&x=1$/);
  });

  test("an answer without a refresh token keeps the one that was sent", async () => {
    const { tokenUrl } = await start();
    const token = await refreshToken({ ...client, tokenUrl, refreshToken: "r 1" });
    expect(token.refresh_token).toBe("r 1");
  });

  test("an answer with a refresh token brings that one", async () => {
    const { tokenUrl } = await start({ body: { access_token: "a", refresh_token: "r2" } });
    const token = await refreshToken({ ...client, tokenUrl, refreshToken: "r1" });
    expect(token.refresh_token).toBe("r2");
  });
});

describe("the client", () => {
  test("basic: both halves form-encoded in Authorization, and out of the body", async () => {
    const { tokenUrl, requests } = await start();
    await refreshToken({ ...client, clientAuth: "basic", tokenUrl, refreshToken: "r" });
    expect(requests[0]?.body).toBe("grant_type=refresh_token&refresh_token=r");
    expect(requests[0]?.headers["authorization"]).toBe(
      `Basic ${Buffer.from("my+client:s%26cret%2B%C3%A9").toString("base64")}`,
    );
  });

  test("none: client_id alone, even when there is a secret", async () => {
    const { tokenUrl, requests } = await start();
    await refreshToken({ ...client, clientAuth: "none", tokenUrl, refreshToken: "r" });
    expect(requests[0]?.body).toBe("grant_type=refresh_token&refresh_token=r&client_id=my+client");
  });
});

describe("revoking", () => {
  test("sends the token, its hint and the client", async () => {
    const { tokenUrl, requests } = await start({ status: 200 });
    await revokeToken({ ...client, revocationUrl: tokenUrl, token: "t", hint: "refresh_token" });
    await revokeToken({ ...client, revocationUrl: tokenUrl, token: "t" });
    expect(requests.map((request) => request.body)).toEqual([
      `token=t&token_type_hint=refresh_token&${CLIENT}`,
      `token=t&${CLIENT}`,
    ]);
  });

  test.each([204, 400, 503])("status %d is Token", async (status) => {
    const { tokenUrl } = await start({ status });
    const error = await errorOf(revokeToken({ ...client, revocationUrl: tokenUrl, token: "t" }));
    expect(error).toMatchObject({ kind: "Token", status, reason: "endpoint" });
    expect(error.message).toBe(`revocation endpoint answered ${status}`);
  });
});

describe("a programming error sends nothing", () => {
  const cases: [string, object, typeof TypeError | typeof RangeError][] = [
    ["post without a secret", { clientSecret: undefined }, TypeError],
    ["basic without a secret", { clientSecret: undefined, clientAuth: "basic" }, TypeError],
    ["a secret that is no string", { clientSecret: null }, TypeError],
    ["a way of clientAuth that there is not", { clientAuth: "Basic" }, TypeError],
    ["timeoutMs NaN", { timeoutMs: Number.NaN }, RangeError],
    ["timeoutMs negative", { timeoutMs: -1 }, RangeError],
    ...[
      ...["grant_type", "code", "client_id", "client_secret", "redirect_uri"],
      ...["refresh_token", "code_verifier", "scope", "resource"],
    ].map((name): [string, object, typeof TypeError] => [
      `extraParams.${name}`,
      { extraParams: { [name]: "x" } },
      TypeError,
    ]),
  ];

  test.each(cases)("%s", async (_name, wrong, kind) => {
    let sent = 0;
    const endpoint = {
      ...client,
      tokenUrl: "https://as.example/token",
      fetch: async () => {
        sent++;
        return new Response("{}");
      },
      ...wrong,
    } as TokenEndpoint;
    await expect(exchangeCode({ ...endpoint, ...code })).rejects.toThrow(kind);
    await expect(refreshToken({ ...endpoint, refreshToken: "r" })).rejects.toThrow(kind);
    await expect(
      revokeToken({ ...endpoint, revocationUrl: endpoint.tokenUrl, token: "t" }),
    ).rejects.toThrow(kind);
    expect(sent).toBe(0);
  });
});

describe("a URL that cannot be asked is Http, and nothing is sent", () => {
  test.each([
    [
      "ftp://as.example/token?k=SECRET",
      "token request to as.example failed: the URL must begin with https: or http:",
    ],
    [
      "https://user:SECRET@as.example/token",
      "token request to as.example failed: the URL must not hold credentials",
    ],
    ["SECRET", "token request failed: the URL cannot be read"],
    ["data:,SECRET", "token request failed: the URL must begin with https: or http:"],
  ])("%s", async (tokenUrl, message) => {
    const error = await errorOf(refreshToken({ ...client, tokenUrl, refreshToken: "r" }));
    expect(error).toMatchObject({ kind: "Http", retryable: false });
    expect(error.message).toBe(message);
  });
});

test("the caller's fetch is used, and gets a string, no redirects and a signal", async () => {
  const seen: [unknown, RequestInit | undefined][] = [];
  await refreshToken({
    ...client,
    tokenUrl: "https://as.example/token",
    refreshToken: "r",
    fetch: async (input, init) => {
      seen.push([input, init]);
      return new Response('{"access_token":"a"}');
    },
  });
  expect(seen).toHaveLength(1);
  const [input, init] = seen[0] ?? [];
  expect(input).toBe("https://as.example/token");
  expect(init).toMatchObject({ method: "POST", redirect: "manual" });
  expect(typeof init?.body).toBe("string");
  expect(init?.signal).toBeInstanceOf(AbortSignal);
});
