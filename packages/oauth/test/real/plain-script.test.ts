import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { endWithTest } from "@millrace/test-support/processes";
import { expect, test } from "vitest";
import { startBrowser, startProvider } from "./provider.ts";

const SCRIPT = fileURLToPath(new URL("./children/connect.mjs", import.meta.url));

test("a script of 15 lines, run by plain node, connects to a real provider and renews its token", async () => {
  const provider = await startProvider({ pkceRequired: true });
  const { authorizeUrl, tokenUrl, clientId, clientSecret, scopes } = provider;
  const child = spawn(process.execPath, [SCRIPT], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = endWithTest(child);
  child.stdin.end(JSON.stringify({ authorizeUrl, tokenUrl, clientId, clientSecret, scopes }));
  const browser = startBrowser();
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    if (lines.length === 0) browser.openBrowser(line);
    lines.push(line);
  }
  expect(lines.slice(1)).toEqual(["Bearer openid offline_access true"]);
  expect(await browser.page()).toBe(200);
  expect(await ended).toBe(0);
  expect(provider.grants()).toBe(2);
});
