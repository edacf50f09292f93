/** What the server tells about itself on routes that are no commands: its document, the page of it, its metrics. */
import { COMMANDS } from "@millrace/contracts/commands";
import { packageVersion } from "../app/meta.ts";
import type { Reply } from "../http/index.ts";
import type { Metrics, ServerHost } from "../ports.ts";
import { standingOf } from "../server/metrics.ts";
import { PAGE_POLICY, renderDocs } from "./docs-page.ts";
import { buildOpenApi } from "./document.ts";

/** Makes a value at its first use: most servers never show their document, which takes fifty milliseconds to make. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** What a browser shows of the bare address: where things are. It loads nothing and runs nothing. `to`: where links begin. */
const homePage = (to: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Millrace</title>
<h1>Millrace</h1>
<p>This server runs flows over HTTP.</p>
<ul>
<li><a href="${to}api/docs">api/docs</a>: every route, to read</li>
<li><a href="${to}api/openapi.json">api/openapi.json</a>: the same as OpenAPI 3.1</li>
<li><a href="${to}api/health">api/health</a> and <a href="${to}api/ready">api/ready</a>: whether it answers, and takes work</li>
<li><a href="${to}api/metrics">api/metrics</a>: metrics for Prometheus</li>
</ul>
</html>
`;

/** Path to what a GET of it answers. */
export function createPages(
  host: ServerHost,
  metrics: Metrics,
  openStreams: () => number,
  basePath: string,
): ReadonlyMap<string, () => Reply | Promise<Reply>> {
  const document = once(() => buildOpenApi(COMMANDS, packageVersion(), basePath));
  // Links are relative to the folder of the address, which is one level above a base path.
  const home = homePage(basePath.replace(/.*\/(.+)/, "$1/"));
  const json = once(() => JSON.stringify(document()));
  const page = once(() => renderDocs(document()));
  return new Map<string, () => Reply | Promise<Reply>>([
    [
      "/",
      () => ({ status: 200, headers: { "Content-Type": "text/html; charset=utf-8" }, body: home }),
    ],
    [
      "/api/openapi.json",
      () => ({ status: 200, headers: { "Content-Type": "application/json" }, body: json() }),
    ],
    [
      "/api/docs",
      () => ({
        status: 200,
        headers: {
          "Content-Type": "text/html; charset=utf-8",
          "Content-Security-Policy": PAGE_POLICY,
        },
        body: page(),
      }),
    ],
    [
      "/api/metrics",
      async () => ({
        status: 200,
        headers: { "Content-Type": metrics.contentType },
        body: await metrics.text(await standingOf(host, openStreams())),
      }),
    ],
  ]);
}
