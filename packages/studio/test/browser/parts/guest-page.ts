/** Serves the page with one part on it, under the policy of the real one, and opens it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { build, type Rolldown } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { STATE_MS, sharedBrowser } from "../studio.ts";
import type * as guestModule from "./guest.tsx";

/** What the script of the page offers to `page.evaluate`, as `guest`. */
export type Guest = typeof guestModule;

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const HTML =
  '<!doctype html><html lang="en"><title>Part</title><link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/page.css"><header><h1>Part</h1></header><main></main><script src="/page.js"></script></html>';

/** The page of a test file. */
export interface GuestPage {
  /** The open page; another one for each test. */
  readonly page: Page;
}

/** Registers the page of a test file. It fails on a message of the console, a dialog, and a request that no person asked for. */
export function useGuest(): GuestPage {
  const open: { page?: Page } = {};
  const complaints: string[] = [];
  let browser: Browser;
  let context: BrowserContext;
  let address: string;
  let close: () => void;

  beforeAll(async () => {
    const files = await bundle();
    const server = createServer(({ url = "" }, response) => {
      const type = { "/": "text/html", "/page.js": "text/javascript", "/page.css": "text/css" }[
        url
      ];
      response.writeHead(200, {
        "content-type": `${type ?? "image/svg+xml"}; charset=utf-8`,
        "content-security-policy": POLICY,
      });
      response.end(
        url === "/" ? HTML : (files.get(url) ?? '<svg xmlns="http://www.w3.org/2000/svg"/>'),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    close = () => server.close();
    browser = await sharedBrowser();
  });
  afterAll(() => close?.());
  beforeEach(async () => {
    context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    context.setDefaultTimeout(STATE_MS);
    const page = await context.newPage();
    await page.goto(address, { waitUntil: "load" });
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => {
      if (!request.url().endsWith("/icon.svg")) complaints.push(`request: ${request.url()}`);
    });
    page.on("popup", (popup) => complaints.push(`window: ${popup.url()}`));
    page.on("dialog", (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    open.page = page;
  });
  afterEach(async () => {
    await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  return {
    get page() {
      return open.page as Page;
    },
  };
}

async function bundle(): Promise<Map<string, string>> {
  const built = (await build({
    configFile: false,
    logLevel: "error",
    define: { PAGE_VERSION: '"0.0.0"', "process.env.NODE_ENV": '"production"' },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      write: false,
      minify: false,
      cssCodeSplit: false,
      lib: {
        entry: fileURLToPath(new URL("guest.tsx", import.meta.url)),
        formats: ["iife"],
        name: "guest",
        fileName: () => "page.js",
        cssFileName: "page",
      },
    },
  })) as Rolldown.RolldownOutput | Rolldown.RolldownOutput[];
  const { output } = Array.isArray(built) ? (built[0] as Rolldown.RolldownOutput) : built;
  return new Map(
    output.map((file) => [
      `/${file.fileName}`,
      file.type === "chunk" ? file.code : String(file.source),
    ]),
  );
}
