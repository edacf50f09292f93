// Finds out why the tests of the real Secret Service are skipped. With MILLRACE_REQUIRE_SECRET_SERVICE=1 they fail.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileOf } from "@millrace/test-support/programs";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** Why there is no Secret Service to test with; "" when there is one. */
    missing: string;
  }
}

const PROGRAMS = ["dbus-daemon", "gnome-keyring-daemon", "gdbus"] as const;

export default function setup(project: TestProject): void {
  const missing = whatIsMissing();
  const reason = `no Secret Service: ${missing}; run scripts/with-secret-service.sh`;
  project.provide("missing", missing === "" ? "" : reason);
}

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
