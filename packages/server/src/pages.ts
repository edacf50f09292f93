/** What the server tells about itself on routes that are no commands: its document, the page of it, its metrics. */
import { COMMANDS } from "@millrace/contracts/commands";
import { PAGE_POLICY, renderDocs } from "./docs/index.ts";
import type { ServerHost } from "./host.ts";
import type { Reply } from "./http/index.ts";
import { type Metrics, standingOf } from "./metrics/index.ts";
import { buildOpenApi } from "./openapi/index.ts";
import { packageVersion } from "./version.ts";

/** Made when somebody asks for the first time: most servers are never asked, and it takes some fifty milliseconds. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Path to what a GET of it answers. */
export function createPages(
  host: ServerHost,
  metrics: Metrics,
  openStreams: () => number,
): ReadonlyMap<string, () => Reply | Promise<Reply>> {
  const document = once(() => buildOpenApi(COMMANDS, packageVersion()));
  const json = once(() => JSON.stringify(document()));
  const page = once(() => renderDocs(document()));
  return new Map<string, () => Reply | Promise<Reply>>([
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
