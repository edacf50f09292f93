/** Serves a page of a test with parts of the studio on it, under the policy of the real one. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build, defaultClientConditions, type Rolldown } from "vite";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const HTML =
  '<!doctype html><html lang="en"><title>Part</title><link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/page.css"><header><h1>Part</h1></header><main></main><script src="/page.js"></script></html>';
const ICON = '<svg xmlns="http://www.w3.org/2000/svg"/>';

/** A page, on loopback, at `/studio`. */
export interface GuestServer extends AsyncDisposable {
  readonly url: string;
}

/** Builds the page with a script, whose exports are in its global `guest`, and serves it until it is disposed. */
export async function serveGuest(script: URL): Promise<GuestServer> {
  const files = new Map([
    ["/studio", { type: "text/html", body: HTML }],
    ["/icon.svg", { type: "image/svg+xml", body: ICON }],
    ...(await bundle(script)),
  ]);
  const server = createServer(({ url = "" }, response) => {
    const { type, body } = files.get(url) ?? {};
    response.writeHead(body === undefined ? 404 : 200, {
      "content-type": `${type}; charset=utf-8`,
      "content-security-policy": POLICY,
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bundle(script: URL) {
  const built = (await build({
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
  })) as Rolldown.RolldownOutput | Rolldown.RolldownOutput[];
  const { output } = Array.isArray(built) ? (built[0] as Rolldown.RolldownOutput) : built;
  return output.map((file) => {
    const isScript = file.type === "chunk";
    const body = isScript ? file.code : String(file.source);
    return [
      `/${file.fileName}`,
      { type: isScript ? "text/javascript" : "text/css", body },
    ] as const;
  });
}
