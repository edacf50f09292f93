import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileCredentialStore } from "@millrace/oauth/store/file";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { credentialStoreCases } from "@millrace/oauth/testing";
import { sharedFolder } from "@millrace/test-support/folder";
import { describe, test } from "vitest";

describe("the store in memory", () => {
  for (const { name, run } of credentialStoreCases(() => memoryCredentialStore())) test(name, run);
});

describe("the store in a file", () => {
  const path = join(sharedFolder(), "credentials.json");
  const key = { bytes: randomBytes(32) };
  const open = () => fileCredentialStore({ path, key });
  for (const { name, run } of credentialStoreCases(open)) test(name, run);
});
