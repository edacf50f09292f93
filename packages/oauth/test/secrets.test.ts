import { inspect } from "node:util";
import {
  type CredentialStore,
  ensureFreshToken,
  exchangeCode,
  loadToken,
  OAuthError,
  refreshToken,
  revokeToken,
  storeToken,
  type TokenEndpoint,
  tokenFromResponse,
} from "@millrace/oauth";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import {
  type HostileStep,
  startHostileTokenEndpoint,
} from "@millrace/test-support/hostile-token-endpoint";
import { expect, onTestFinished, test } from "vitest";

/** In every secret that the failing calls below are given, send or receive. */
const PLANTED = /PLANTED/;

const STEPS: HostileStep[] = [
  { fault: "echo" },
  { fault: "hang-up" },
  { fault: "hang-up-in-body" },
  { fault: "silence" },
  { status: 302, headers: { location: "http://127.0.0.1:9/?t=PLANTED" }, body: "PLANTED" },
  { status: 500, body: '{"error":"PLANTED","error_description":"PLANTED"}' },
  { status: 400, body: { error: "invalid_grant", error_description: "PLANTED" } },
  { body: "PLANTED is not JSON" },
  { body: '"PLANTED"' },
  { body: { error: "PLANTED" } },
  { body: { access_token: "PLANTED", expires_in: "PLANTED" } },
  { body: { access_token: ["PLANTED"] } },
  { body: { access_token: "PLANTED", scope: { PLANTED: 1 } } },
  { body: Buffer.from("\xffPLANTED", "latin1") },
];

const failing = (): never => {
  throw Object.assign(new Error("PLANTED"), { code: "not a code: PLANTED", stderr: "PLANTED" });
};
const failingStore: CredentialStore = { get: failing, set: failing, delete: failing };
const token = { access_token: "PLANTED", refresh_token: "PLANTED", token_type: "", scope: "" };

/** Every error that a call here can end with. */
async function collectErrors(): Promise<OAuthError[]> {
  const errors: OAuthError[] = [];
  const collect = async (call: () => unknown): Promise<void> => {
    try {
      await call();
    } catch (error) {
      if (!OAuthError.isInstance(error)) throw error;
      errors.push(error);
      return;
    }
    throw new Error(`it did not fail: ${call}`);
  };
  const calls = (endpoint: TokenEndpoint): (() => unknown)[] => {
    const store = memoryCredentialStore({
      "service:s": JSON.stringify({ ...token, expires_at: "2020-01-01T00:00:00Z" }),
    });
    return [
      () =>
        exchangeCode({ ...endpoint, code: "PLANTED", redirectUri: "x", codeVerifier: "PLANTED" }),
      () => refreshToken({ ...endpoint, refreshToken: "PLANTED" }),
      () => ensureFreshToken({ ...endpoint, store, slug: "s" }),
    ];
  };

  for (const step of STEPS) {
    const server = await startHostileTokenEndpoint({ script: [step] });
    const endpoint: TokenEndpoint = {
      tokenUrl: `${server.tokenUrl}?key=PLANTED`,
      clientId: "c",
      clientSecret: "PLANTED",
      timeoutMs: 60,
    };
    // A slow machine may time out where another error was meant: that one must not leak either.
    for (const call of calls(endpoint)) await collect(call);
    if ("status" in step) {
      await collect(() =>
        revokeToken({ ...endpoint, revocationUrl: endpoint.tokenUrl, token: "PLANTED" }),
      );
    }
    await server.close();
  }
  for (const tokenUrl of [
    "PLANTED",
    "ftp://x/PLANTED",
    "https://u:PLANTED@x/",
    "http://127.0.0.1:1/?PLANTED",
  ]) {
    for (const call of calls({ tokenUrl, clientId: "c", clientSecret: "PLANTED" }))
      await collect(call);
  }
  for (const call of calls({
    tokenUrl: "https://x/",
    clientId: "c",
    clientSecret: "s",
    fetch: failing,
  })) {
    await collect(call);
  }
  for (const entry of [
    "PLANTED",
    '"PLANTED"',
    '{"access_token":["PLANTED"]}',
    '{"access_token":"a","expires_at":"PLANTED"}',
  ]) {
    await collect(() => loadToken(memoryCredentialStore({ "service:s": entry }), "s"));
    await collect(() => tokenFromResponse(entry.replace("expires_at", "expires_in")));
  }
  await collect(() => storeToken(failingStore, "s", token));
  await collect(() => loadToken(failingStore, "s"));
  return errors;
}

/** Everything a program may print of an error, and everything it may walk into. */
function everythingShown(error: OAuthError): string[] {
  return [
    error.message,
    String(error.stack),
    String(error),
    JSON.stringify(error),
    JSON.stringify({ error }),
    JSON.stringify(Object.entries(error)),
    JSON.stringify({ ...error }),
    inspect(error),
    inspect(error, { customInspect: false, showHidden: true }),
    inspect({ deep: { error } }, { depth: 20, showHidden: true }),
    inspect(new AggregateError([error], "several", { cause: error }), { depth: 20 }),
  ];
}

test("no error shows a secret in its message, stack, JSON, fields or inspection", async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));

  const errors = await collectErrors();
  for (const error of errors) {
    for (const text of everythingShown(error)) expect(text).not.toMatch(PLANTED);
  }
  expect(new Set(errors.map((error) => error.kind))).toEqual(
    new Set(["Http", "Token", "Decode", "Credential"]),
  );
  expect(rejections).toEqual([]);
});
