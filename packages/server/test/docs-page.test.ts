/** The page of the API: all of it in one file, which loads nothing and runs nothing. */
import { COMMANDS } from "@millrace/contracts/commands";
import { testWith } from "@millrace/test-support";
import { launchChromium } from "@millrace/test-support/chromium";
import { expect, onTestFinished, test } from "vitest";
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
  expect(links).toContain("/api/docs");
  for (const link of links) expect((await fetch(`${server.url}${link}`)).status, link).toBe(200);
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

testWith("chromium")("a browser shows it without a complaint of its policy", async () => {
  const server = await serve();
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(`${server.url}/api/docs`);
  expect(await page.content()).toContain('<details id="get_run">');
  expect(complaints).toEqual([]);
});
