import type { CredentialsPort, ServiceCredential } from "@millrace/contracts";
import { defineService } from "@millrace/contracts";
import { createRegistry } from "@millrace/engine";
import { servicesPack } from "@millrace/services";
import { runNode } from "@millrace/test-support/flows";
import { bodyOf, serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";

/** A server that answers with what it was sent. */
function mirror() {
  return serveHttp(async (request, response) => {
    const body = await bodyOf(request);
    const { method, url, headers } = request;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ method, url, headers, body }));
  });
}

const get = (url: string, fields = {}) => runNode("http.request", { url, ...fields });

test("reads JSON with status, headers in lower case, address and size", async () => {
  const { url } = await serveHttp((_request, response) => {
    response.writeHead(200, {
      "Content-Type": "application/json",
      "X-Some": "a",
      "set-cookie": "s=1",
    });
    response.end('{"rate":2}');
  });
  const { output } = await get(`${url}/rates`);
  expect(output).toMatchObject({
    status: 200,
    headers: { "content-type": "application/json", "x-some": "a" },
    body: { rate: 2 },
    url: `${url}/rates`,
    bytes: 10,
  });
  expect((output as { headers: object }).headers).not.toHaveProperty("set-cookie");
});

test("adds the query to what the address has, repeats lists, leaves null out, and changes nothing else", async () => {
  const { url } = await mirror();
  const query = { b: 1, list: ["x", "y z"], gone: null, yes: true };
  const { output } = await get(`${url}/p?a=%20b#part`, { query });
  expect(output).toMatchObject({ body: { url: "/p?a=%20b&b=1&list=x&list=y+z&yes=true" } });
});

test.each([
  ["an object as JSON", { body: { a: [1] } }, "application/json", '{"a":[1]}'],
  ["a list as JSON", { body: [1, 2] }, "application/json", "[1,2]"],
  ["a string as text", { body: "hello" }, "text/plain;charset=utf-8", "hello"],
  [
    "a form",
    { form: { a: "x y", b: [1, 2] } },
    "application/x-www-form-urlencoded",
    "a=x+y&b=1&b=2",
  ],
  [
    "its own content type",
    { body: "<a/>", headers: { "Content-Type": "text/xml" } },
    "text/xml",
    "<a/>",
  ],
])("sends %s", async (_name, fields, type, body) => {
  const { url } = await mirror();
  const { output } = await get(url, { method: "POST", ...fields });
  expect(output).toMatchObject({
    body: { method: "POST", body, headers: { "content-type": type } },
  });
});

test("a body beside a form is refused before the run", async () => {
  const fields = { url: "https://api.example/", method: "POST", body: "x", form: { a: 1 } };
  await expect(runNode("http.request", fields)).rejects.toThrow("FLOW3016");
});

test.each([
  ["application/json; charset=utf-8", '{"a":1}', "auto", { a: 1 }],
  ["application/problem+json", '{"a":1}', "auto", { a: 1 }],
  ["text/html", "<p>", "auto", "<p>"],
  ["", "plain", "auto", "plain"],
  ["image/png", "\u0001\u0002", "auto", "AQI="],
  ["text/plain", "[1]", "json", [1]],
  ["application/json", "[1]", "text", "[1]"],
  ["text/plain", "hi", "base64", "aGk="],
  ["application/json", "", "auto", null],
  ["text/plain", "", "json", null],
])("content type %j with %j, read as %s, is %j", async (type, sent, response, body) => {
  const { url } = await serveHttp((_request, answer) => {
    if (type !== "") answer.setHeader("content-type", type);
    answer.end(sent);
  });
  expect((await get(url, { response })).output).toMatchObject({ body });
});

test("text is decoded by the charset of its type", async () => {
  const { url } = await serveHttp((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain; charset=iso-8859-1" });
    response.end(Buffer.from([0x67, 0x72, 0xfc, 0xdf, 0x65]));
  });
  expect((await get(url)).output).toMatchObject({ body: "grüße" });
});

test.each([
  ["application/json", "no json"],
  ["text/plain; charset=klingon", "x"],
])("a body of type %s that cannot be read fails with decode_failed", async (type, sent) => {
  const { url } = await serveHttp((_request, response) => {
    response.writeHead(200, { "content-type": type }).end(sent);
  });
  const { error } = await get(url);
  expect(error).toMatchObject({ code: "decode_failed", retryable: false });
  expect(error?.message).not.toContain("no json");
});

test.each([
  [500, true],
  [503, true],
  [429, true],
  [408, true],
  [425, true],
  [404, false],
  [400, false],
  [304, false],
])("status %i fails with http_status, retryable %s", async (status, retryable) => {
  const { url } = await serveHttp((_request, response) => response.writeHead(status).end());
  const { error } = await get(url);
  expect(error).toEqual({
    code: "http_status",
    message: `${status} from 127.0.0.1`,
    retryable,
    status,
  });
});

test("ok says which statuses succeed", async () => {
  const { url } = await serveHttp((request, response) => {
    response.writeHead(Number(request.url?.slice(1))).end();
  });
  expect((await get(`${url}/404`, { ok: ["2xx", "404"] })).output).toMatchObject({ status: 404 });
  expect((await get(`${url}/404`, { ok: [404] })).output).toMatchObject({ status: 404 });
  expect((await get(`${url}/503`, { ok: ["5xx"] })).output).toMatchObject({ status: 503 });
  expect((await get(`${url}/200`, { ok: ["201"] })).error).toMatchObject({ status: 200 });
});

test("a retry waits as long as Retry-After says, in seconds or as a date", async () => {
  let requests = 0;
  const { url } = await serveHttp((request, response) => {
    requests += 1;
    if (requests % 2 === 0) response.end("ok");
    else if (request.url === "/seconds") response.writeHead(503, { "retry-after": "0" }).end();
    else response.writeHead(429, { "retry-after": new Date(0).toUTCString() }).end();
  });
  for (const path of ["/seconds", "/date"]) {
    const { output, events } = await runNode(
      "http.request",
      { url: url + path },
      { policy: { retry: { max: 1, delayMs: 0, jitter: false } } },
    );
    expect(output).toMatchObject({ body: "ok" });
    expect(events.map(({ kind }) => kind)).toContain("node.retrying");
  }
  const asked = await serveHttp((_request, response) => {
    response.writeHead(503, { "retry-after": "700" }).end();
  });
  const { events } = await runNode(
    "http.request",
    { url: asked.url },
    { policy: { retry: { max: 1 } } },
  );
  expect(events.map(({ kind }) => kind)).not.toContain("node.retrying"); // above ten minutes there is no retry
});

test.each([
  ["an address that is no URL", { url: "rates" }, "field_invalid"],
  ["a private address", { url: "http://10.0.0.1/" }, "egress_denied"],
  ["a refused header", { url: "http://127.0.0.1:1/", headers: { Host: "x" } }, "egress_denied"],
  ["a closed port", { url: "http://127.0.0.1:1/" }, "network"],
  ["another scheme", { url: "ftp://127.0.0.1/" }, "egress_denied"],
])("%s fails the node with its code", async (_name, fields, code) => {
  expect((await runNode("http.request", fields)).error?.code).toBe(code);
});

test("redirects and maxBytes of the node hold", async () => {
  const { url } = await serveHttp((request, response) => {
    if (request.url === "/from") response.writeHead(302, { location: "/to" }).end();
    else response.end("0123456789");
  });
  expect((await get(`${url}/from`)).output).toMatchObject({ url: `${url}/to` });
  expect((await get(`${url}/from`, { redirects: 0 })).error?.code).toBe("egress_denied");
  expect((await get(`${url}/to`, { maxBytes: 9 })).error?.code).toBe("response_too_large");
});

test("the idempotency key is sent when the flow writes it, the same for every attempt", async () => {
  const keys: unknown[] = [];
  const { url } = await serveHttp((request, response) => {
    keys.push(request.headers["idempotency-key"]);
    response.writeHead(keys.length === 1 ? 503 : 200).end();
  });
  await runNode(
    "http.request",
    { url, method: "POST" },
    { policy: { idempotencyKey: "order-7", retry: { max: 1, delayMs: 0 } } },
  );
  await get(url, { method: "POST" });
  expect(keys).toEqual(["order-7", "order-7", undefined]);
});

test("a cancelled node closes its connection", async () => {
  const { url, server } = await serveHttp(() => {});
  const closed = new Promise<void>((resolve) => {
    server.once("connection", (socket) => socket.once("close", () => resolve()));
  });
  const { error } = await runNode("http.request", { url }, { policy: { timeoutMs: 50 } });
  expect(error?.code).toBe("timeout");
  await closed;
});

test("a connection adds its credential on its own origin, and a redirect elsewhere drops it", async () => {
  const far = await mirror();
  const near = await serveHttp((request, response) => {
    if (request.url === "/far") response.writeHead(302, { location: `${far.url}/end` }).end();
    else response.end(JSON.stringify({ authorization: request.headers.authorization }));
  });
  const credential: ServiceCredential = {
    scheme: "bearer",
    scopes: [],
    reveal: () => "token-of-the-service",
  };
  const credentials: CredentialsPort = {
    resolve: async () => credential,
    renew: async () => credential,
    secret: async () => undefined,
  };
  const service = defineService({
    slug: "near",
    title: "Near",
    summary: "A service of a test.",
    serviceIntegration: {
      baseUrl: near.url,
      auth: { scheme: "bearer" },
      operations: [{ id: "look", title: "Look", method: "GET", path: "/look" }],
    },
  });
  const services = { get: (slug: string) => (slug === "near" ? service : undefined) };
  const connections = ["near", "none"].map((name) => ({ name, auth: "bearer", service: name }));
  const call = (url: string) =>
    runNode("http.request", { url, connection: "near" }, { credentials, services, connections });
  const own = await call(`${near.url}/own`);
  expect(own.output).toMatchObject({ body: '{"authorization":"Bearer [redacted]"}' });
  expect((await call(`${far.url}/direct`)).error).toMatchObject({
    code: "egress_denied",
    message: expect.stringContaining("connection-origin"),
  });
  const moved = await call(`${near.url}/far`);
  expect(moved.output).toMatchObject({ url: `${far.url}/end` });
  expect(JSON.stringify(moved.output)).not.toContain("authorization");
  expect(JSON.stringify([own.events, moved.events])).not.toContain("token-of-the-service");
  const fields = { url: near.url, connection: "none" };
  const missing = await runNode("http.request", fields, { credentials, services, connections });
  expect(missing.error?.code).toBe("credentials_missing");
});

test("a host without network refuses, and the catalog says what the type is", async () => {
  const { createPortableHost } = await import("@millrace/engine");
  const { error } = await runNode(
    "http.request",
    { url: "http://127.0.0.1/" },
    { host: createPortableHost() },
  );
  expect(error?.code).toBe("host_unsupported");
  const entry = createRegistry([servicesPack()])
    .entries()
    .find(({ type }) => type === "http.request");
  expect(entry).toMatchObject({
    kind: "action",
    effect: "write",
    ports: [{ name: "out" }],
    requires: { connection: "connection" },
    defaults: { policy: { timeoutMs: 30_000 } },
    source: { package: "core" },
  });
});
