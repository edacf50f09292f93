/** A misspelt option is refused: passed over, it would be a lock that nobody holds, or a proof that is not asked for. */
import { connectService } from "@millrace/oauth/loopback";
import { fileCredentialStore, fileLock } from "@millrace/oauth/store/file";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { describeCredentialBackends, osCredentialStore } from "@millrace/oauth/store/os";
import { expect, test } from "vitest";

const any = (options: object): never => options as never;
const key = { bytes: new Uint8Array(32) };
const consent = {
  ...{ authorizeUrl: "http://127.0.0.1:1/a", tokenUrl: "http://127.0.0.1:1/t", clientId: "c" },
  ...{ clientAuth: "none", scopes: [], store: memoryCredentialStore(), slug: "s", timeoutMs: 0 },
  openBrowser: () => {},
};

const cases: [name: string, call: () => unknown, unknown: string][] = [
  ["fileCredentialStore", () => fileCredentialStore(any({ path: "x", key, mode: 1 })), "mode"],
  ["fileLock", () => fileLock(any({ dir: ".", timeoutMs: 1 })), "timeoutMs"],
  ["osCredentialStore", () => osCredentialStore(any({ service: "x", timeout: 1 })), "timeout"],
  ["describeCredentialBackends", () => describeCredentialBackends(any({ from: "/" })), "from"],
  ["connectService", () => connectService(any({ ...consent, usePKCE: true })), "usePKCE"],
];

test.each(cases)("%s", async (name, call, unknown) => {
  const error = await (async () => call())().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TypeError);
  expect(String(error)).toContain(`${name}: unknown option "${unknown}"; there are `);
});
