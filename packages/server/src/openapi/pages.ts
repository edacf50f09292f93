/** Pages about the server itself, on routes that are no commands: its OpenAPI document, the page of it, its metrics. */
import { COMMANDS } from "@millrace/contracts/commands";
import type { Exchange, HeaderRecord, Reply } from "../http/index.ts";
import type { Metrics, ServerHost } from "../ports.ts";
import { standingOf } from "../server/metrics.ts";
import { type StudioAssets, wantsPage } from "../studio/assets.ts";
import { studioPages, toStudio } from "../studio/pages.ts";
import { packageVersion } from "../version.ts";
import { PAGE_POLICY, renderDocs } from "./docs-page.ts";
import { buildOpenApi } from "./document.ts";

const HTML = "text/html; charset=utf-8";

/** Makes a value at its first use: most servers never show their document, which takes fifty milliseconds to make. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Page of the bare address: links to the others. It loads nothing and runs nothing. */
const homePage = (basePath: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Millrace</title>
<h1>Millrace</h1>
<p>This server runs flows over HTTP.</p>
<ul>
<li><a href="${basePath}/api/docs">api/docs</a>: every route, to read</li>
<li><a href="${basePath}/api/openapi.json">api/openapi.json</a>: the same as OpenAPI 3.1</li>
<li><a href="${basePath}/api/health">api/health</a> and <a href="${basePath}/api/ready">api/ready</a>: whether it answers, and takes work</li>
<li><a href="${basePath}/api/metrics">api/metrics</a>: metrics for Prometheus</li>
</ul>
</html>
`;

/** Path to what a GET of it answers. */
export function createPages(
  host: ServerHost,
  metrics: Metrics,
  openStreams: () => number,
  { basePath, studio }: { readonly basePath: string; readonly studio?: StudioAssets | undefined },
): ReadonlyMap<string, (exchange: Exchange) => Reply | Promise<Reply>> {
  const document = once(() => buildOpenApi(COMMANDS, packageVersion(), basePath));
  const json = once(() => JSON.stringify(document()));
  const page = once(() => renderDocs(document()));
  const reply = (type: string, body: string, more: HeaderRecord = {}): Reply => ({
    status: 200,
    headers: { "Content-Type": type, ...more },
    body,
  });
  const home = (exchange: Exchange): Reply =>
    studio !== undefined && wantsPage(exchange.header("accept"))
      ? toStudio()
      : reply(HTML, homePage(basePath));
  return new Map<string, (exchange: Exchange) => Reply | Promise<Reply>>([
    ["/", home],
    ...(studio === undefined ? [] : studioPages(studio)),
    ["/api/openapi.json", () => reply("application/json", json())],
    ["/api/docs", () => reply(HTML, page(), { "Content-Security-Policy": PAGE_POLICY })],
    [
      "/api/metrics",
      async () =>
        reply(metrics.contentType, await metrics.text(await standingOf(host, openStreams()))),
    ],
  ]);
}
