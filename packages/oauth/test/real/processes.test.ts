import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { loadToken, type OAuthToken, storeToken } from "@millrace/oauth";
import { connectService } from "@millrace/oauth/loopback";
import { fileCredentialStore } from "@millrace/oauth/store/file";
import { temporaryFolder } from "@millrace/test-support/folder";
import { endWithTest } from "@millrace/test-support/processes";
import { expect, test } from "vitest";
import { startBrowser, startProvider } from "./provider.ts";

const SCRIPT = fileURLToPath(new URL("./children/refresh-together.mjs", import.meta.url));

/** A child that has loaded the package and waits for its task. */
async function startChild(): Promise<ChildProcessWithoutNullStreams> {
  const child = spawn(process.execPath, [SCRIPT]);
  void endWithTest(child);
  await once(child.stdout, "data");
  return child;
}

test("4 processes with one store and one lock use a rotated refresh token once, and the grant lives", async () => {
  const provider = await startProvider();
  const dir = temporaryFolder();
  const path = join(dir, "credentials.json");
  const key = randomBytes(32);
  const store = fileCredentialStore({ path, key: { bytes: key } });
  const first = await connectService({
    ...provider,
    ...startBrowser(),
    store,
    slug: "s",
    timeoutMs: 30_000,
  });
  await storeToken(store, "s", { ...first, expires_at: "2020-01-01T00:00:00Z" });

  const { tokenUrl, clientId, clientSecret } = provider;
  const task = JSON.stringify({
    endpoint: { tokenUrl, clientId, clientSecret },
    path,
    dir: join(dir, "locks"),
    key: key.toString("base64"),
  });
  const children = await Promise.all(Array.from({ length: 4 }, startChild));
  const tokens = await Promise.all(
    children.map(async (child) => {
      child.stdin.end(task);
      const [answer, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
      expect(complaint).toBe("");
      return JSON.parse(answer) as OAuthToken;
    }),
  );

  expect(new Set(tokens.map((token) => token.access_token)).size).toBe(1);
  expect(provider.grants()).toBe(2);
  expect(provider.revoked()).toBe(0);
  expect(await provider.userinfo(tokens[0]?.access_token)).toBe(200);
  expect(await loadToken(store, "s")).toEqual(tokens[0]);
});
