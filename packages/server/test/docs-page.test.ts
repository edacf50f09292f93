/** The page of the API: all of it in one file, which loads nothing and runs nothing. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { COMMANDS } from "@millrace/contracts/commands";
import { expect, test } from "vitest";
import { findChromium } from "../../engine/test/portability/chromium.ts";
import { problemOf, serve } from "./support/server.ts";

test("it names every route and command, holds no script, and points to no other origin", async () => {
  const server = await serve();
  const response = await fetch(`${server.url}/api/docs`);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const page = await response.text();
  for (const { name, http } of COMMANDS.values()) {
    expect(page).toContain(`<code>${http?.path.replace(/:(\w+)/g, "{$1}")}</code>`);
    expect(page).toMatch(new RegExp(`[Cc]ommand <code>${name}</code>`));
  }
  expect(page).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|\bsrc=|href="(?!#)/);
});

test("its policy allows its own style and nothing else", async () => {
  const server = await serve();
  const { headers } = await fetch(`${server.url}/api/docs`);
  expect(headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

test("the bare address says where things are, and every link of it answers", async () => {
  const server = await serve();
  const response = await fetch(`${server.url}/`);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const links = [...(await response.text()).matchAll(/href="([^"]+)"/g)].map(([, link]) => link);
  expect(links).toContain("api/docs");
  for (const link of links) expect((await fetch(`${server.url}/${link}`)).status, link).toBe(200);
});

test("who comes without a token is told which header to send, and how to read the page", async () => {
  const server = await serve({ tokens: ["0123456789abcdef"] });
  const { detail } = await problemOf(await fetch(`${server.url}/api/docs`));
  expect(detail).toContain('"Authorization: Bearer TOKEN"');
  expect(detail).toContain("/api/docs -o docs.html");
});

test("it needs a token where others do", async () => {
  const server = await serve({ tokens: ["0123456789abcdef"] });
  for (const path of ["/api/docs", "/api/openapi.json", "/api/metrics"]) {
    expect((await fetch(server.url + path)).status).toBe(401);
    const headers = { authorization: "Bearer 0123456789abcdef" };
    expect((await fetch(server.url + path, { headers })).status).toBe(200);
  }
});

test("a browser shows it without a complaint of its policy", async ({ skip }) => {
  const program = findChromium();
  if (program === null) {
    if (process.env["CI"] !== undefined) throw new Error("no Chromium: the gate must install one");
    skip("no Chromium on this machine");
  }
  const server = await serve();
  const { stdout, stderr } = await promisify(execFile)(
    program as string,
    [
      "--headless",
      "--disable-gpu",
      "--enable-logging=stderr", // what a page writes to its console, refusals of its policy too
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), // root has no sandbox
      "--dump-dom",
      `${server.url}/api/docs`,
    ],
    { maxBuffer: 16 * 1_024 * 1_024 },
  );
  expect(stdout).toContain('<details id="get_run">');
  expect(stderr).not.toContain("CONSOLE");
});
