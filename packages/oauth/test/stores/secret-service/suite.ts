import { existsSync } from "node:fs";
import { join } from "node:path";
import { osCredentialStore } from "@millrace/oauth/store/os";
import { describeUnless } from "@millrace/test-support";
import { fileOf } from "@millrace/test-support/programs";
import { beforeAll, onTestFinished, vi } from "vitest";

type Options = Partial<Parameters<typeof osCredentialStore>[0]>;

export const keytarFolder: string = process.env["MILLRACE_TEST_KEYTAR"] ?? "";

/** A group of tests that need a Secret Service: skipped without one, or failed where one is required. */
export function withSecretService(name: string, tests: () => void): void {
  const missing = whatIsMissing();
  const isRequired = process.env["MILLRACE_REQUIRE_SECRET_SERVICE"] === "1";
  describeUnless(
    missing === "" || isRequired
      ? undefined
      : `no Secret Service: ${missing}; run scripts/with-secret-service.sh`,
  )(name, () => {
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

const PROGRAMS = ["dbus-daemon", "gnome-keyring-daemon", "gdbus"] as const;

/** Why there is no Secret Service to test with; "" when there is one. */
function whatIsMissing(): string {
  const { MILLRACE_TEST_KEYTAR: keytar, DBUS_SESSION_BUS_ADDRESS: bus } = process.env;
  // Also the word that this session is made for tests, and holds nobody's passwords.
  if (!keytar) return "MILLRACE_TEST_KEYTAR names no folder";
  if (!existsSync(join(keytar, "node_modules/keytar/build/Release/keytar.node"))) {
    return `no keytar was built in ${keytar}`;
  }
  const program = PROGRAMS.find((name) => fileOf(name) === undefined);
  if (program) return `no ${program} is installed`;
  return bus ? "" : "there is no session bus";
}
