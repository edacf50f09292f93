/** Opens the page with one part on it. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { type GuestServer, serveGuest } from "../guest-server.mjs";
import { STATE_MS, sharedBrowser } from "../studio.ts";
import type * as guestModule from "./guest.tsx";

/** What the script of the page offers to `page.evaluate`, as `guest`. */
export type Guest = typeof guestModule;

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
  let server: GuestServer;

  beforeAll(async () => {
    server = await serveGuest(new URL("guest.tsx", import.meta.url));
    browser = await sharedBrowser();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    context.setDefaultTimeout(STATE_MS);
    const page = await context.newPage();
    await page.goto(`${server.url}/studio`, { waitUntil: "load" });
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
