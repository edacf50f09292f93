/** A server of the protocol over Streamable HTTP, with the protocol's own server package. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { McpSource } from "@millrace/providers/mcp";
import { bodyOf, serveHttp } from "@millrace/test-support/loopback";
import { McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { afterEach, expect, test } from "vitest";
import { contextOf, sourceOf } from "./support.ts";

let source: McpSource | undefined;
afterEach(async () => {
  await source?.close();
});

const TOKEN = "token-of-the-crm";

interface Served {
  readonly url: string;
  readonly close: () => Promise<void>;
  /** Method and status of each request. */
  readonly seen: string[];
}

/** One session, one tool; a request without the token is answered with 401. */
async function serve(): Promise<Served> {
  const seen: string[] = [];
  const server = new McpServer({ name: "crm", version: "1" });
  server.registerTool("find", { description: "finds" }, async () => ({
    content: [{ type: "text", text: `found with ${TOKEN}` }],
  }));
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => "session-1",
  });
  await server.connect(transport);
  const http = await serveHttp((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (request.url === "/away") {
      response.writeHead(307, { location: "http://127.0.0.1:9/mcp" }).end();
      return;
    }
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      response.writeHead(401).end();
      seen.push(`${request.method} 401`);
      return;
    }
    const answer = await transport.handleRequest(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? "GET",
        headers: request.headers as { [name: string]: string },
        ...(body !== "" && { body }),
      }),
    );
    seen.push(`${request.method} ${answer.status}`);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    const reader = answer.body?.getReader();
    response.on("close", () => void reader?.cancel());
    for (;;) {
      const { done = true, value } = (await reader?.read()) ?? {};
      if (done) break;
      response.write(value);
    }
    response.end();
  }
  return { url: `${http.url}/mcp`, close: http.close, seen };
}

function sourceAt(url: string, token: string): McpSource {
  source = sourceOf(
    { crm: { url, credential: "service:crm", tools: ["find"] } },
    { references: { resolve: async () => ({ accessToken: token }) } },
  );
  return source;
}

test("tools are listed and called with the credential, which never comes back", async () => {
  const { url, seen } = await serve();
  const crm = sourceAt(url, TOKEN);
  expect((await crm.list("crm", contextOf())).map(({ name }) => name)).toEqual(["find"]);
  expect(await crm.call("crm", { tool: "find", args: {} }, contextOf())).toBe(
    "found with [redacted]",
  );
  await crm.endRun("r1");
  expect(seen.filter((line) => line.startsWith("DELETE"))).toEqual(["DELETE 200"]);
});

test("the credential may be a variable of this process; one that is not set is missing", async () => {
  const { url } = await serve();
  const crm = { url, credential: "env:CRM_KEY", tools: ["find"] };
  const given = (env: { readonly [name: string]: string }): McpSource => {
    source = sourceOf({ crm }, { env });
    return source;
  };
  expect(await given({ CRM_KEY: TOKEN }).list("crm", contextOf())).toHaveLength(1);
  await source?.close();
  const listing = given({}).list("crm", contextOf());
  await expect(listing).rejects.toMatchObject({
    code: "credentials_missing",
    message: expect.stringContaining("CRM_KEY"),
  });
});

test("a refused credential is told as such", async () => {
  const { url } = await serve();
  const listing = sourceAt(url, "another").list("crm", contextOf());
  await expect(listing).rejects.toMatchObject({ code: "auth" });
});

test("a redirect to another origin is not followed", async () => {
  const { url } = await serve();
  const listing = sourceAt(url.replace("/mcp", "/away"), TOKEN).list("crm", contextOf());
  await expect(listing).rejects.toMatchObject({ code: "egress_denied" });
});

test("an address that nobody listens at is an error of the network", async () => {
  const { url, close } = await serve();
  await close();
  const listing = sourceAt(url, TOKEN).list("crm", contextOf());
  await expect(listing).rejects.toMatchObject({ code: "network" });
});
