// The canvas of the page alone, in Chromium: the test page of the studio, built as the page is.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { build, defaultClientConditions } from "vite";
import { addProbe } from "./probe.js";
import { launchBrowser } from "./studio.js";

const ROOT = fileURLToPath(new URL("../../packages/studio/test/browser/canvas/", import.meta.url));
const TYPES = { html: "text/html", js: "text/javascript", css: "text/css" };

let built;

/** Builds the page, once in this process. */
const buildPage = () =>
  (built ??= build({
    configFile: false,
    logLevel: "error",
    root: ROOT,
    base: "./",
    resolve: { conditions: ["@millrace/source", ...defaultClientConditions] },
    define: { PAGE_VERSION: '"0.0.0"' },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: { write: false, target: "es2022", modulePreload: false },
  }));

/** Opens the page with `count` nodes; `close` ends the browser and the server. */
export async function openCanvas(count) {
  const { output } = await buildPage();
  const files = new Map(output.map((file) => [`/${file.fileName}`, file.code ?? file.source]));
  const server = createServer(({ url }, response) => {
    const body = files.get(url);
    const type = TYPES[url.split(".").at(-1)];
    response.writeHead(body === undefined ? 404 : 200, type && { "content-type": type });
    response.end(body);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const browser = await launchBrowser();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(addProbe);
  await page.goto(`http://127.0.0.1:${server.address().port}/index.html`);
  await page.evaluate((nodes) => globalThis.guest.show(nodes), count);
  await page.waitForTimeout(1_000);
  return {
    page,
    async close() {
      await browser.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
