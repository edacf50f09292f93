/** A service on loopback, a connection to it, and one `service.call` over the real engine. */
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type CredentialsPort,
  defineService,
  type FlowConnection,
  type Json,
  type Policy,
  type ServiceAuth,
  type ServiceCredential,
  type ServiceIntegration,
  type ServiceOperation,
} from "@millrace/contracts";
import { createEngine, type EngineOptions } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { type NodeEnd, runNode } from "@millrace/test-support/flows";
import { bodyOf, serveHttp } from "@millrace/test-support/loopback";

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

const OAUTH: ServiceAuth = {
  scheme: "oauth2",
  authorizeUrl: "https://auth.example/authorize",
  tokenUrl: "https://auth.example/token",
  scopes: ["read", "write"],
};

const credentialOf = (value: string, scopes: readonly string[] = []): ServiceCredential => ({
  scheme: "oauth2",
  scopes,
  reveal: () => value,
});

/** A port that gives `values` one after another: the first as stored, the others on renewal. */
export function portOf(values: readonly string[], scopes: readonly string[] = []) {
  const calls = { resolve: 0, renew: [] as string[], refused: [] as string[] };
  let at = 0;
  const port: CredentialsPort = {
    resolve: async () => {
      calls.resolve += 1;
      return credentialOf(values[at] as string, scopes);
    },
    renew: async (_slug, rejected) => {
      calls.renew.push(rejected.reveal());
      await new Promise((later) => setImmediate(later));
      at = Math.min(at + 1, values.length - 1);
      return credentialOf(values[at] as string, scopes);
    },
    refused: (slug) => void calls.refused.push(slug),
    secret: async () => undefined,
  };
  return { port, calls };
}

export type Handler = (seen: Seen, response: ServerResponse) => void;

/** Starts a service whose answers come from `handle`. */
export async function startService(
  handle: Handler,
  operations: readonly Partial<ServiceOperation>[] = [{}],
  {
    auth = OAUTH,
    base = "/v1",
    ...more
  }: { auth?: ServiceAuth; base?: string } & Pick<ServiceIntegration, "failure" | "rateLimit"> = {},
) {
  const seen: Seen[] = [];
  const server = await serveHttp(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const one = { method, url, headers, body: await bodyOf(request) };
    seen.push(one);
    handle(one, response);
  });
  const service = defineService({
    slug: "shop",
    title: "Shop",
    summary: "A service of a test.",
    serviceIntegration: {
      ...more,
      baseUrl: server.url + base,
      auth,
      operations: operations.map((operation) => ({
        id: "op",
        method: "GET",
        path: "/things",
        ...operation,
      })),
    },
  });
  return { ...server, service, seen };
}

/** One call by the connection `shop`, whose slug is `shop-eu`. */
export function call(
  { service }: { readonly service: ReturnType<typeof defineService> },
  fields: { readonly [name: string]: Json } = {},
  options: {
    readonly port?: CredentialsPort;
    readonly policy?: Policy;
    readonly connection?: Partial<FlowConnection>;
  } = {},
): Promise<NodeEnd> {
  const { port = portOf(["token-of-the-shop"]).port, policy, connection } = options;
  return runNode(
    "service.call",
    { connection: "shop", operation: "op", ...fields },
    {
      services: { get: (slug) => (slug === "shop" ? service : undefined) },
      credentials: port,
      connections: [
        { name: "shop", auth: "oauth", service: "shop", slug: "shop-eu", ...connection },
      ],
      ...(policy !== undefined && { policy }),
    },
  );
}

export function json(response: ServerResponse, value: Json, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

/** A node that calls the operation `op` of the connection `shop`. */
export const CALL = {
  id: "n",
  type: "service.call",
  fields: { connection: "shop", operation: "op" },
};
export type Shop = Awaited<ReturnType<typeof startService>>;

/** An engine that reaches the service on loopback. */
export const engineOf = (shop: Shop, credentials: EngineOptions["credentials"]) =>
  createEngine({
    host: createNodeHost(),
    egress: { allow: [{ cidr: "127.0.0.1/32" }] },
    services: { get: () => shop.service },
    ...(credentials && { credentials }),
  });

export const RECONNECT = "Reconnect the service: millrace connect shop-eu";
