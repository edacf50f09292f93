/** A call of every operation, over the real engine, to a server on loopback that looks at it as the service would. */
import type { ServiceSpec } from "@millrace/contracts";
import { buildServiceRequest } from "@millrace/services";
import { bodyOf, serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { movedTo, runCalls, sampleArgs, TOKEN, VARIANTS } from "./support.ts";

test("a call of every operation goes to the host, path and method of its service, with the credential in its place", async () => {
  const seen = new Map<string, { path: string; query: string; headers: object; body: string }[]>();
  const server = await serveHttp(async (request, response) => {
    const { method = "", url = "", headers } = request;
    // A credential in the path stands before everything.
    const [, slug = ""] = /^(?:\/bot[^/]+)?\/([^/]+)/.exec(url) ?? [];
    const [path = "", query = ""] = url.split("?");
    const key = `${slug} ${method}`;
    const one = { path, query, headers, body: await bodyOf(request) };
    seen.set(key, [...(seen.get(key) ?? []), one]);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  const services = new Map(
    VARIANTS.map(([name, service]) => [name, movedTo(server.url, name, service)] as const),
  );
  const calls = VARIANTS.flatMap(([slug, service]) =>
    operationsOf(slug, service).map((operation) => ({
      ...{ slug, operation: operation.id, args: sampleArgs(operation) },
    })),
  );
  expect(new Set(await runCalls(services, calls))).toEqual(new Set(["ok"]));
  for (const [slug, service] of VARIANTS) {
    const { serviceIntegration } = service;
    const { auth, baseUrl } = serviceIntegration;
    const base = new URL(baseUrl);
    for (const operation of operationsOf(slug, service)) {
      const built = buildServiceRequest(serviceIntegration, {
        operation: operation.id,
        args: sampleArgs(operation),
      });
      const name = `${slug} ${operation.id}`;
      expect([new URL(built.url).origin, built.method], name).toEqual([
        base.origin,
        operation.method,
      ]);
      const secret =
        auth.scheme === "apiKey" && auth.in === "path" ? `/${auth.prefix}${TOKEN}` : "";
      const args = sampleArgs(operation);
      const filled = operation.path.replace(/\{(\w+)\}/g, (_, hole: string) =>
        encodeURIComponent(String(args[hole])),
      );
      const path = `${secret}/${slug}${base.pathname.replace(/\/$/, "")}${filled}`;
      const found = seen.get(`${slug} ${operation.method}`)?.find((each) => each.path === path);
      if (found === undefined) throw new Error(`${name}: nothing came to ${path}`);
      const where = JSON.stringify([found.path, found.query, found.headers]);
      expect(where, name).toContain(placeOf(auth));
      const type = (found.headers as { "content-type"?: string })["content-type"];
      expect(type, name).toBe(
        operation.body === undefined ? undefined : operation.body.contentType,
      );
    }
  }
});

/** All operations; of a service with another credential than its usual one the first, as the others are the same. */
function operationsOf(slug: string, { slug: own, serviceIntegration }: ServiceSpec) {
  return serviceIntegration.operations.slice(0, slug === own ? undefined : 1);
}

/** The credential as the server sees it, with what stands before it. */
function placeOf(auth: ServiceSpec["serviceIntegration"]["auth"]): string {
  if (auth.scheme === "basic") return `"authorization":"Basic ${btoa(TOKEN)}"`;
  if (auth.scheme === "oauth2" && auth.tokenHeader !== undefined) {
    return `"${auth.tokenHeader.toLowerCase()}":"${TOKEN}"`;
  }
  if (auth.scheme !== "apiKey") return `"authorization":"Bearer ${TOKEN}"`;
  const text = `${auth.prefix ?? ""}${TOKEN}`;
  if (auth.in === "header") return `"${auth.name.toLowerCase()}":"${text}"`;
  return auth.in === "query" ? `${auth.name}=${encodeURIComponent(TOKEN)}` : `/${text}/`;
}

test("a redirect to another host gets nothing, wherever the credential is", async () => {
  const strangers: string[] = [];
  const stranger = await serveHttp((request, response) => {
    strangers.push(request.url ?? "");
    response.end("{}");
  });
  const server = await serveHttp((_request, response) => {
    response
      .writeHead(302, { location: `${stranger.url.replace("127.0.0.1", "localhost")}/steal` })
      .end();
  });
  const names = ["github", "telegram", "openweather", "shopify-oauth", "twilio"];
  const services = new Map(
    VARIANTS.filter(([name]) => names.includes(name)).map(
      ([name, service]) => [name, movedTo(server.url, name, service)] as const,
    ),
  );
  for (const [slug, { serviceIntegration }] of services) {
    const operation = serviceIntegration.operations.find(({ method }) => method === "GET");
    if (operation === undefined) throw new Error(`${slug} reads nothing`);
    const call = { slug, operation: operation.id, args: sampleArgs(operation) };
    expect(await runCalls(services, [call])).toEqual([
      expect.stringContaining("connection-origin"),
    ]);
  }
  expect(strangers).toEqual([]);
});
