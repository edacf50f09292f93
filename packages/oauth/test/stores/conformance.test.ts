import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCredentialStore } from "@millrace/oauth/store/file";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { credentialStoreCases } from "@millrace/oauth/testing";
import { afterAll, describe, test } from "vitest";

describe("the store in memory", () => {
  for (const { name, run } of credentialStoreCases(() => memoryCredentialStore())) test(name, run);
});

describe("the store in a file", () => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-stores-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "credentials.json");
  const key = { bytes: randomBytes(32) };
  const open = () => fileCredentialStore({ path, key });
  for (const { name, run } of credentialStoreCases(open)) test(name, run);
});
