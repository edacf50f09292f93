/** A misspelt option is refused: passed over, it would be a lock that nobody holds, or a proof that is not asked for. */
import { fileCredentialStore, fileLock } from "@millrace/oauth/store/file";
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
