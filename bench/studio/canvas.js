// The canvas of the page alone, in Chromium: the test page of the studio, built as the page is.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { build, defaultClientConditions } from "vite";
import { addProbe } from "./probe.js";
import { launchBrowser } from "./studio.js";

const SCRIPT = fileURLToPath(
  new URL("../../packages/studio/test/browser/canvas/page.tsx", import.meta.url),
);
const HTML =
  '<!doctype html><html lang="en"><title>Canvas</title><link rel="stylesheet" href="/page.css"><main></main><script src="/page.js"></script></html>';

let built;

/** Builds the script of the page, once in this process; its exports are in the global `guest`. */
const buildScript = () =>
  (built ??= build({
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["@millrace/source", ...defaultClientConditions] },
    define: { PAGE_VERSION: '"0.0.0"', "process.env.NODE_ENV": '"production"' },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      write: false,
      target: "es2022",
      cssCodeSplit: false,
      lib: {
        entry: SCRIPT,
        formats: ["iife"],
        name: "guest",
        fileName: () => "page.js",
        cssFileName: "page",
      },
    },
  }));

/** Opens the page with `count` nodes; `close` ends the browser and the server. */
export async function openCanvas(count) {
  const [{ output }] = [await buildScript()].flat();
  const files = new Map([
    ["/", { type: "text/html", body: HTML }],
    ...output.map(({ fileName, code, source }) => [
      `/${fileName}`,
      { type: code === undefined ? "text/css" : "text/javascript", body: code ?? source },
    ]),
  ]);
  const server = createServer(({ url }, response) => {
    const { type, body } = files.get(url) ?? {};
    response.writeHead(body === undefined ? 404 : 200, type && { "content-type": type });
    response.end(body);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const browser = await launchBrowser();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(addProbe);
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
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
