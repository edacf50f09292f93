/** The page in a real browser. Every test fails on a console error, a page error, a broken policy or a request to another origin. */
import { type Browser, launchChromium } from "@millrace/test-support/chromium";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterEach, beforeAll, expect } from "vitest";

/** How a page is opened. */
export interface OpenOptions extends BrowserContextOptions {
  /** The place, such as `#/runs`. */
  readonly place?: string;
  /** Complaints that a test provokes; each must match one of them. */
  readonly expected?: readonly RegExp[];
}

/** What a browser itself says of a server that is gone. A file that a server does not have is a complaint of another kind, 404. */
const SERVER_GONE =
  /net::ERR_(INCOMPLETE_CHUNKED_ENCODING|CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE)|Failed to fetch dynamically imported module/;

/** How long a page may take for a state, as tests wait for others: a limit for what hangs, not for what is slow. */
export const STATE_MS = 60_000;

/** Opens pages for the tests of a file; they are closed after each test, and what they complained of fails it. */
export interface Studio {
  open(url: string, options?: OpenOptions): Promise<Page>;
  /** Another page of the same tab session: it shares cookies and channels with `page`. */
  sibling(page: Page, url: string, options?: OpenOptions): Promise<Page>;
}

let running: Promise<Browser> | undefined;

/** The browser of all test files of this process, with which it ends. Each page has a context of its own. */
export function sharedBrowser(): Promise<Browser> {
  running ??= launchChromium().then((browser) => {
    browser.once("disconnected", () => {
      running = undefined;
    });
    return browser;
  });
  return running;
}

/** Registers the browser of a test file. Call it inside of `describeWith("chromium")`. */
export function useStudio(): Studio {
  let browser: Browser;
  const complaints: string[] = [];
  const open: Page[] = [];

  beforeAll(async () => {
    browser = await sharedBrowser();
  });
  afterEach(async () => {
    for (const page of open.splice(0)) await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  function watch(page: Page, url: string, expected: readonly RegExp[]): void {
    const { origin } = new URL(url);
    const complain = (text: string): void => {
      if (![SERVER_GONE, ...expected].some((each) => each.test(text))) complaints.push(text);
    };
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complain(message.text());
    });
    page.on("pageerror", (error) => complain(error.message));
    page.on("dialog", (dialog) => {
      complain(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== origin) complain(`request: ${request.url()}`);
    });
    open.push(page);
  }

  return {
    async open(url, { place = "", expected = [], ...context } = {}) {
      const made = await browser.newContext(context);
      made.setDefaultTimeout(STATE_MS);
      const page = await made.newPage();
      watch(page, url, expected);
      await page.goto(`${url}/studio${place}`);
      return page;
    },
    async sibling(page, url, { place = "", expected = [] } = {}) {
      const other = await page.context().newPage();
      watch(other, url, expected);
      await other.goto(`${url}/studio${place}`);
      return other;
    },
  };
}
