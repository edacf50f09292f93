import { osCredentialStore } from "@millrace/oauth/store/os";
import { describeUnless } from "@millrace/test-support";
import { beforeAll, inject, onTestFinished, vi } from "vitest";

type Options = Partial<Parameters<typeof osCredentialStore>[0]>;

export const keytarFolder: string = process.env["MILLRACE_TEST_KEYTAR"] ?? "";

/** A group of tests that need a Secret Service: skipped without one, or failed where one is required. */
export function withSecretService(name: string, tests: () => void): void {
  const missing = inject("missing");
  const isRequired = process.env["MILLRACE_REQUIRE_SECRET_SERVICE"] === "1";
  describeUnless(missing === "" || isRequired ? undefined : missing)(name, () => {
    beforeAll(() => {
      if (missing !== "") throw new Error(missing);
    });
    tests();
  });
}

/** A store of a service of the tests, which finds the keytar that was built for them. */
export function openStore(options: Options = {}) {
  const store = osCredentialStore({
    service: "millrace-tests",
    resolveFrom: keytarFolder,
    // A machine that builds beside the tests is slow, and slow is not what they are about.
    timeoutMs: 30_000,
    ...options,
  });
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

/** Makes this test's stores use another session. */
export function useSession(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}
