/** A misspelt option is refused: passed over, it would be a lock that nobody holds, or a proof that is not asked for. */
import {
  buildAuthorizeUrl,
  ensureFreshToken,
  exchangeCode,
  refreshToken,
  revokeToken,
  startConsent,
} from "@millrace/oauth";
import { acceptOAuthCode, connectService } from "@millrace/oauth/loopback";
import { fileCredentialStore, fileLock } from "@millrace/oauth/store/file";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { describeCredentialBackends, osCredentialStore } from "@millrace/oauth/store/os";
import { expect, test } from "vitest";

const any = (options: object): never => options as never;
const key = { bytes: new Uint8Array(32) };

const cases: [name: string, call: () => unknown, unknown: string][] = [
  ["fileCredentialStore", () => fileCredentialStore(any({ path: "x", key, mode: 1 })), "mode"],
  ["fileLock", () => fileLock(any({ dir: ".", timeoutMs: 1 })), "timeoutMs"],
  ["osCredentialStore", () => osCredentialStore(any({ service: "x", timeout: 1 })), "timeout"],
  ["describeCredentialBackends", () => describeCredentialBackends(any({ from: "/" })), "from"],
];

test.each(cases)("%s", async (name, call, unknown) => {
  const error = await (async () => call())().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TypeError);
  expect(String(error)).toContain(`${name}: unknown option "${unknown}"; there are `);
});

const client = { clientId: "id", clientSecret: "s", tokenUrl: "https://a.example/token" };
const asked = { ...client, authorizeUrl: "https://a.example/", redirectUri: "", scopes: [] };
const entry = { store: memoryCredentialStore(), slug: "a" };

const spelt: [name: string, call: (more: object) => unknown, wrong: string, meant: string][] = [
  ["buildAuthorizeUrl", (o) => buildAuthorizeUrl(any({ ...asked, ...o })), "PKCE", "pkce"],
  ["startConsent", (o) => startConsent(any({ ...asked, ...o })), "usePKCE", "usePkce"],
  [
    "exchangeCode",
    (o) => exchangeCode(any({ ...client, code: "c", ...o })),
    "code_verifier",
    "codeVerifier",
  ],
  ["refreshToken", (o) => refreshToken(any({ ...client, ...o })), "extra-params", "extraParams"],
  ["revokeToken", (o) => revokeToken(any({ ...client, ...o })), "clientauth", "clientAuth"],
  ["ensureFreshToken", (o) => ensureFreshToken(any({ ...client, ...entry, ...o })), "Lock", "lock"],
  [
    "connectService",
    (o) => connectService(any({ ...asked, ...entry, timeoutMs: 1, ...o })),
    "usePKCE",
    "usePkce",
  ],
  [
    "acceptOAuthCode",
    (o) => acceptOAuthCode(any({}), any({ state: "", timeoutMs: 1, ...o })),
    "expected_issuer",
    "expectedIssuer",
  ],
];

test.each(spelt)("%s refuses another spelling of an option", async (_name, call, wrong, meant) => {
  const error = await (async () => call({ [wrong]: true }))().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TypeError);
  expect(String(error)).toContain(`unknown option "${wrong}"; did you mean "${meant}"?`);
});

test("members of a descriptor that are no options stay, and so does another spelling beside the option", async () => {
  const descriptor = { name: "A", scope: "s", docsUrl: "https://a.example/", use_pkce: false };
  const { verifier } = await startConsent(any({ ...descriptor, ...asked, usePkce: true }));
  expect(verifier).toHaveLength(43);
});
