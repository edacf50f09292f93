import { once } from "node:events";
import { createServer } from "node:net";
import { client } from "@millrace/test-support/flows";
import { bodyOf, serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";

test("a request carries method, headers and body, and the answer status, headers and text", async () => {
  const { url } = await serveHttp(async (request, response) => {
    response.writeHead(201, {
      "x-seen": request.headers["x-mine"] ?? "",
      "content-type": "text/plain",
    });
    response.end(`${request.method} ${request.url} ${await bodyOf(request)}`);
  });
  const answer = await client()(`${url}/a?b=c`, {
    method: "POST",
    headers: { "X-Mine": "yes" },
    body: "grüße",
  });
  expect([answer.status, answer.ok, answer.url]).toEqual([201, true, `${url}/a?b=c`]);
  expect(answer.headers.get("X-Seen")).toBe("yes");
  expect(await answer.text()).toBe("POST /a?b=c grüße");
});

test("one connection serves one request after the other", async () => {
  const { url, connections } = await serveHttp((_request, response) => response.end("{}"));
  const fetch = client();
  for (let i = 0; i < 5; i += 1) await (await fetch(url)).json();
  expect(connections()).toBe(1);
});

test("no more connections are open to one host than the policy says", async () => {
  let open = 0;
  let most = 0;
  const { url } = await serveHttp((_request, response) => {
    open += 1;
    most = Math.max(most, open);
    setImmediate(() => {
      open -= 1;
      response.end("ok");
    });
  });
  const fetch = client({ perHost: 3 });
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => (await fetch(url)).text()),
  );
  expect(answers).toHaveLength(20);
  expect(most).toBeLessThanOrEqual(3);
});

test("a kept connection that the server has closed is replaced without an error", async () => {
  const { url, server, connections } = await serveHttp((_request, response) => response.end("ok"));
  server.keepAliveTimeout = 60_000;
  const fetch = client();
  expect(await (await fetch(url)).text()).toBe("ok");
  server.closeIdleConnections();
  expect(await (await fetch(url)).text()).toBe("ok");
  expect(connections()).toBe(2);
});

test.each([301, 302, 303])("a %i turns a POST into a GET without its body", async (status) => {
  const { url } = await serveHttp(async (request, response) => {
    if (request.url === "/from") response.writeHead(status, { location: "/to" }).end();
    else
      response.end(`${request.method} ${request.headers["content-type"]} ${await bodyOf(request)}`);
  });
  const answer = await client()(`${url}/from`, {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: "x",
  });
  expect(await answer.text()).toBe("GET undefined ");
  expect(answer.url).toBe(`${url}/to`);
});

test.each([307, 308])("a %i keeps method and body", async (status) => {
  const { url } = await serveHttp(async (request, response) => {
    if (request.url === "/from") response.writeHead(status, { location: "/to" }).end();
    else response.end(`${request.method} ${await bodyOf(request)}`);
  });
  const answer = await client()(`${url}/from`, { method: "PUT", body: "x" });
  expect(await answer.text()).toBe("PUT x");
});

test("a HEAD stays a HEAD and has no body", async () => {
  const seen: (string | undefined)[] = [];
  const { url } = await serveHttp((request, response) => {
    seen.push(request.method);
    if (request.url === "/from") response.writeHead(302, { location: "/to" }).end();
    else response.writeHead(200, { "content-length": "9" }).end();
  });
  const answer = await client()(`${url}/from`, { method: "HEAD" });
  expect([answer.body, await answer.text(), seen]).toEqual([null, "", ["HEAD", "HEAD"]]);
});

test("a redirect to another origin drops credentials and the headers that belong to the first", async () => {
  const reflect = await serveHttp((request, response) =>
    response.end(JSON.stringify(request.headers)),
  );
  const { url } = await serveHttp((request, response) => {
    const to = request.url === "/far" ? `${reflect.url}/` : "/near";
    if (request.url === "/near") response.end(JSON.stringify(request.headers));
    else response.writeHead(302, { location: to }).end();
  });
  const init = {
    headers: { Authorization: "Bearer s", cookie: "c=1", "X-Api-Key": "k", "x-plain": "p" },
    originHeaders: ["x-api-key"],
  };
  const near = await (await client()(`${url}/start`, init)).json();
  expect(near).toMatchObject({ authorization: "Bearer s", cookie: "c=1", "x-api-key": "k" });
  const far = await (await client()(`${url}/far`, init)).json();
  expect(far).toMatchObject({ "x-plain": "p" });
  for (const name of ["authorization", "cookie", "x-api-key"]) expect(far).not.toHaveProperty(name);
  await expect(client()(`${url}/far`, { ...init, sameOrigin: true })).rejects.toMatchObject({
    code: "egress_denied",
    message: expect.stringContaining("connection-origin"),
    sent: true,
  });
});

test("more redirects than allowed fail, of the policy or of the request, whichever is less", async () => {
  let hops = 0;
  const { url } = await serveHttp((_request, response) => {
    hops += 1;
    response.writeHead(302, { location: `/${hops}` }).end();
  });
  const denied = { code: "egress_denied", message: expect.stringContaining("redirects: ") };
  await expect(client({ maxRedirects: 3 })(url)).rejects.toMatchObject(denied);
  expect(hops).toBe(4);
  await expect(client({ maxRedirects: 3 })(url, { maxRedirects: 0 })).rejects.toMatchObject(denied);
  expect(hops).toBe(5);
  const answer = await client({ maxRedirects: 3 })(url, { redirect: "manual" });
  expect([answer.status, answer.headers.get("location"), hops]).toEqual([302, "/6", 6]);
});

test.each([
  ["http://10.0.0.1/", "private-address"],
  ["http://[::ffff:a00:1]/", "private-address"],
  ["http://169.254.169.254/latest", "metadata-address"],
  ["http://localhost:1/", "local-name"],
  ["file:///etc/passwd", "scheme"],
  ["http://u:p@127.0.0.1/", "userinfo"],
  ["http://[", "url"],
])("a redirect to %s is refused like a first request", async (location, rule) => {
  const { url } = await serveHttp((_request, response) =>
    response.writeHead(302, { location }).end(),
  );
  await expect(client()(url)).rejects.toMatchObject({
    code: "egress_denied",
    message: expect.stringMatching(`^${rule}: `),
    sent: true,
  });
});

test.each([
  ["host", "x"],
  ["Content-Length", "1"],
  ["transfer-encoding", "chunked"],
  ["connection", "close"],
  ["upgrade", "h2c"],
  ["expect", "100-continue"],
  ["te", "trailers"],
  ["trailer", "x"],
  ["keep-alive", "1"],
  ["proxy-authorization", "x"],
  ["Sec-Fetch-Site", "none"],
  ["bad name", "x"],
  ["", "x"],
  ["x-split", "a\r\nx-injected: b"],
  ["x-nul", "a\0b"],
  ["x-wide", "日本"],
])("the header %j with %j is refused and its value is not shown", async (name, value) => {
  const { url, connections } = await serveHttp((_request, response) => response.end());
  const error = await client()(url, { headers: { [name]: value } }).catch((error) => error);
  expect(error).toMatchObject({ code: "egress_denied", sent: false });
  expect(error.message).toMatch(/^header: /);
  expect(connections()).toBe(0);
});

test("too many and too large headers are refused", async () => {
  const { url } = await serveHttp((_request, response) => response.end());
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`x-${i}`, "v"]));
  const denied = { code: "egress_denied", message: expect.stringContaining("header: ") };
  await expect(client()(url, { headers: many })).rejects.toMatchObject(denied);
  await expect(client()(url, { headers: { x: "v".repeat(16_384) } })).rejects.toMatchObject(denied);
});

test.each(["CONNECT", "TRACE", "GET / HTTP/1.1"])("the method %s is refused", async (method) => {
  const { url } = await serveHttp((_request, response) => response.end());
  await expect(client()(url, { method })).rejects.toMatchObject({ code: "egress_denied" });
});

test("a request body over the limit is not sent", async () => {
  const { url, connections } = await serveHttp((_request, response) => response.end());
  const post = client({ maxRequestBytes: 10 })(url, { method: "POST", body: "x".repeat(11) });
  await expect(post).rejects.toMatchObject({
    code: "limit_exceeded",
    message: expect.stringContaining("maxRequestBytes"),
  });
  expect(connections()).toBe(0);
});

test("a closed port fails with network and says that nothing was sent", async () => {
  const { url, server } = await serveHttp(() => {});
  server.close();
  await once(server, "close");
  await expect(client()(url)).rejects.toMatchObject({
    code: "network",
    retryable: true,
    sent: false,
    message: expect.stringContaining("ECONNREFUSED"),
  });
});

test("a connection that breaks after the request fails with network and says that it was sent", async () => {
  const { url } = await serveHttp((request) => request.socket.destroy());
  await expect(client()(url, { method: "POST", body: "x" })).rejects.toMatchObject({
    code: "network",
    sent: true,
  });
});

test("TLS with something that does not speak it fails with tls, which is not repeated", async () => {
  const { port } = await serveHttp((_request, response) => response.end());
  await expect(client()(`https://127.0.0.1:${port}/`)).rejects.toMatchObject({
    code: "tls",
    retryable: false,
    sent: false,
  });
});

test("what the environment says about proxies is ignored", async () => {
  const { url } = await serveHttp((_request, response) => response.end("direct"));
  const before = process.env["http_proxy"];
  process.env["http_proxy"] = "http://127.0.0.1:1";
  try {
    expect(await (await client()(url)).text()).toBe("direct");
  } finally {
    if (before === undefined) delete process.env["http_proxy"];
    else process.env["http_proxy"] = before;
  }
});

test("an aborted signal ends a request that waits, with the signal's reason, and closes its connection", async () => {
  const stop = new AbortController();
  const { url, server } = await serveHttp(() => stop.abort("enough"));
  const closed = new Promise<void>((resolve) => {
    server.once("connection", (socket) => socket.once("close", () => resolve()));
  });
  await expect(client()(url, { signal: stop.signal })).rejects.toBe("enough");
  await closed;
});

test("an aborted signal ends a body that is being read", async () => {
  const stop = new AbortController();
  const { url } = await serveHttp((_request, response) => response.write("first"));
  const answer = await client()(url, { signal: stop.signal });
  const read = async () => {
    for await (const _part of answer.body ?? []) stop.abort(new Error("enough"));
  };
  await expect(read()).rejects.toThrow("enough");
});

test("a request that is aborted before it starts opens no connection", async () => {
  const { url, connections } = await serveHttp((_request, response) => response.end());
  await expect(client()(url, { signal: AbortSignal.abort("no") })).rejects.toBe("no");
  expect(connections()).toBe(0);
});

test("the silence of a server ends with timeout, before the head and within the body", async () => {
  const { url } = await serveHttp((request, response) => {
    if (request.url === "/body") response.write("first");
  });
  const fetch = client({ idleMs: 300 }); // the head of a busy server takes a while
  const late = { code: "timeout", reason: "timeout", retryable: true, sent: true };
  await expect(fetch(`${url}/head`)).rejects.toMatchObject(late);
  const answer = await fetch(`${url}/body`);
  await expect(answer.text()).rejects.toMatchObject(late);
});

test("a body without an end that always sends something ends with the total time", async () => {
  const { url } = await serveHttp((_request, response) => {
    const drip = setInterval(() => response.write("."), 10);
    response.on("close", () => clearInterval(drip));
  });
  const answer = await client({ idleMs: 5_000, totalMs: 600 })(url);
  await expect(answer.text()).rejects.toMatchObject({
    code: "timeout",
    message: expect.stringContaining("600 ms"),
  });
});

test("a server that takes the connection and never speaks TLS ends with the time to connect", async () => {
  const silent = createServer(() => {});
  await new Promise<void>((ready) => silent.listen(0, "127.0.0.1", ready));
  const { port } = silent.address() as { port: number };
  const request = client({ connectMs: 50 })(`https://127.0.0.1:${port}/`);
  await expect(request).rejects.toMatchObject({ code: "timeout", sent: false });
  silent.close();
});

test("leaving a body early closes its connection", async () => {
  const { url, server } = await serveHttp((_request, response) => {
    const pour = () => {
      while (response.write("x".repeat(65_536)));
    };
    response.on("drain", pour);
    pour();
  });
  const closed = new Promise<void>((resolve) => {
    server.once("connection", (socket) => socket.once("close", () => resolve()));
  });
  const answer = await client()(url);
  for await (const part of answer.body ?? []) {
    expect(part.length).toBeGreaterThan(0);
    break;
  }
  await closed;
});

test("a body is read once", async () => {
  const { url } = await serveHttp((_request, response) => response.end("once"));
  const answer = await client()(url);
  expect(await answer.text()).toBe("once");
  await expect(answer.text()).rejects.toThrow("has been read");
});
