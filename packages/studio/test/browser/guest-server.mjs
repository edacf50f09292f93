// Serves a page of a test with parts of the studio on it, under the policy of the real one. Plain JavaScript: the bench reads it, too,
// on a Node that takes no TypeScript.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { build, defaultClientConditions } from "vite";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const HTML =
  '<!doctype html><html lang="en"><title>Part</title><link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/page.css"><header><h1>Part</h1></header><main></main><script src="/page.js"></script></html>';
const ICON = '<svg xmlns="http://www.w3.org/2000/svg"/>';

/**
 * A page, on loopback, at `/studio`.
 * @typedef {AsyncDisposable & { readonly url: string }} GuestServer
 */

/**
 * Builds the page with a script, whose exports are in its global `guest`, and serves it until it is disposed.
 * @param {URL} script
 * @returns {Promise<GuestServer>}
 */
export async function serveGuest(script) {
  const files = new Map([
    ["/studio", { type: "text/html", body: HTML }],
    ["/icon.svg", { type: "image/svg+xml", body: ICON }],
    ...(await bundle(script)),
  ]);
  const server = createServer(({ url }, response) => {
    const { type, body } = files.get(url) ?? {};
    response.writeHead(body === undefined ? 404 : 200, {
      "content-type": `${type}; charset=utf-8`,
      "content-security-policy": POLICY,
    });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bundle(script) {
  const built = await build({
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["@millrace/source", ...defaultClientConditions] },
    define: { PAGE_VERSION: '"0.0.0"', "process.env.NODE_ENV": '"production"' },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      write: false,
      minify: false,
      cssCodeSplit: false,
      lib: {
        entry: fileURLToPath(script),
        formats: ["iife"],
        name: "guest",
        fileName: () => "page.js",
        cssFileName: "page",
      },
    },
  });
  return [built]
    .flat()[0]
    .output.map(({ fileName, code, source }) => [
      `/${fileName}`,
      { type: code === undefined ? "text/css" : "text/javascript", body: code ?? String(source) },
    ]);
}
