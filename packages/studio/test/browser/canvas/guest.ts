/** The test page of the canvas, built and served under the policy of the studio. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { build, defaultClientConditions } from "vite";
import type { Guest } from "./page.tsx";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
};

/** The page, on loopback, at `/studio`. */
export interface GuestServer extends AsyncDisposable {
  readonly url: string;
}

/** Builds the page and serves it until it is disposed. */
export async function serveGuest(): Promise<GuestServer> {
  const folder = await mkdtemp(join(tmpdir(), "canvas-"));
  await build({
    configFile: false,
    logLevel: "warn",
    root: fileURLToPath(new URL(".", import.meta.url)),
    base: "./",
    resolve: { conditions: ["@millrace/source", ...defaultClientConditions] },
    define: { PAGE_VERSION: '"0.0.0"' },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: "es2022",
      modulePreload: false,
      minify: false,
    },
  });
  const server = createServer(async ({ url = "/" }, response) => {
    const path = url === "/studio" ? "/index.html" : url;
    try {
      const body = await readFile(resolve(folder, `.${path}`));
      response.writeHead(200, {
        "content-type": TYPES[extname(path)] ?? "application/octet-stream",
        "content-security-policy": POLICY,
      });
      response.end(body);
    } catch {
      response.writeHead(path === "/favicon.ico" ? 204 : 404).end();
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Calls a function of the page. */
export function ask<Name extends keyof Guest>(
  page: Page,
  name: Name,
  ...args: Parameters<Guest[Name]>
): Promise<ReturnType<Guest[Name]>> {
  return page.evaluate(
    ([called, given]) => {
      const { guest } = globalThis as unknown as {
        readonly guest: Record<string, (...args: readonly unknown[]) => unknown>;
      };
      return guest[called as string]?.(...(given as readonly unknown[]));
    },
    [name, args],
  ) as Promise<ReturnType<Guest[Name]>>;
}
