/** The server inside another app, under a path of its own, and without a port. */
import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type CreateServerOptions, createServer } from "@millrace/server";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { HELLO } from "./support/flows.ts";
import { keepLog } from "./support/server.ts";
import { expectLegal, readEvents } from "./support/streams.ts";

async function mounted(options: CreateServerOptions = { basePath: "/tools/flows" }) {
  const server = await createServer({ log: keepLog(), store: "memory", ...options });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return server;
}

type Send = (path: string, init?: RequestInit) => Response | Promise<Response>;

/** As Express, Connect and Fastify's middleware call it: what the mount has matched is gone from `url`. */
async function overNode(listener: RequestListener): Promise<Send> {
  const http = createHttpServer(listener).listen(0, "127.0.0.1");
  onTestFinished(() => void http.close());
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  return (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init);
}

const PLACES: { readonly [name: string]: () => Promise<Send> } = {
  "Hono, which takes the path away": async () => {
    const { app } = await mounted();
    const outer = new Hono().mount("/tools/flows", (request) => app.fetch(request));
    return (path, init) => outer.request(`http://127.0.0.1${path}`, init);
  },
  "middleware of Node, which takes the path away": async () => {
    const { app } = await mounted();
    return overNode((incoming, outgoing) => {
      incoming.url = incoming.url?.slice("/tools/flows".length) || "/";
      app.handle(incoming, outgoing);
    });
  },
  "Express, which says in `baseUrl` what it takes away": async () => {
    const { app } = await mounted();
    return overNode((incoming, outgoing) => {
      const { url = "" } = incoming;
      const baseUrl = url.startsWith("/tools/flows") ? "/tools/flows" : "";
      Object.assign(incoming, { baseUrl, originalUrl: url, url: url.slice(baseUrl.length) || "/" });
      app.handle(incoming, outgoing);
    });
  },
  "Connect, which keeps the path as `originalUrl`": async () => {
    const { app } = await mounted();
    return overNode((incoming, outgoing) => {
      const { url = "" } = incoming;
      Object.assign(incoming, { originalUrl: url, url: url.slice("/tools/flows".length) || "/" });
      app.handle(incoming, outgoing);
    });
  },
  "Hono, which leaves the path as it is": async () => {
    const { app } = await mounted();
    const outer = new Hono().mount("/tools/flows", (request) => app.fetch(request), {
      replaceRequest: false,
    });
    return (path, init) => outer.request(`http://127.0.0.1${path}`, init);
  },
  "a listener of Node, which leaves the path as it is": async () =>
    overNode((await mounted()).app.handle),
  "nothing but the program": async () => (await mounted()).request,
};

const json = (body: object): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

test.each(Object.entries(PLACES))("under %s it answers, streams and links", async (_name, open) => {
  const send = await open();
  const health = await send("/tools/flows/api/health");
  expect(await health.json()).toEqual({ status: "ok" });

  const streamed = await send("/tools/flows/api/run", json({ dsl: HELLO }));
  const runId = streamed.headers.get("millrace-run-id");
  expect(streamed.headers.get("content-location")).toBe(`/tools/flows/api/runs/${runId}`);
  expect(streamed.headers.get("link")).toBe(
    `</tools/flows/api/runs/${runId}/events>; rel="monitor"`,
  );
  expectLegal(await readEvents(streamed));

  const started = await send("/tools/flows/api/runs", json({ dsl: HELLO }));
  const location = started.headers.get("location") ?? "";
  expect(location).toMatch(/^\/tools\/flows\/api\/runs\/run_/);
  expect((await send(location)).status).toBe(200);

  const document = (await (await send("/tools/flows/api/openapi.json")).json()) as object;
  expect(document).toMatchObject({ servers: [{ url: "/tools/flows" }] });
  expect(await (await send("/tools/flows")).text()).toContain('href="/tools/flows/api/docs"');
  expect((await send("/tools/flows/api/none")).status).toBe(404);
});

test.each([
  "Express, which says in `baseUrl` what it takes away",
  "Connect, which keeps the path as `originalUrl`",
  "Hono, which leaves the path as it is",
  "a listener of Node, which leaves the path as it is",
])("under %s a path with the prefix twice is unknown", async (name) => {
  const send = await (PLACES[name] as () => Promise<Send>)();
  expect((await send("/tools/flows/api/health")).status).toBe(200);
  expect((await send("/tools/flows/tools/flows/api/health")).status).toBe(404);
});

test("at the root links are as they are without a base path", async () => {
  const { request } = await mounted({});
  const started = await request("/api/runs", json({ dsl: HELLO }));
  expect(started.headers.get("location")).toMatch(/^\/api\/runs\/run_/);
  expect(await (await request("/")).text()).toContain('href="/api/docs"');
});

test.each(["/tools/flows", ""])(
  "links have the path of the public URL behind a proxy that passes %j of it on",
  async (kept) => {
    const { request } = await mounted({ publicUrl: "https://millrace.example/tools/flows/" });
    const started = await request(`${kept}/api/runs`, json({ dsl: HELLO }));
    expect(started.headers.get("location")).toMatch(/^\/tools\/flows\/api\/runs\/run_/);
    const document = await (await request(`${kept}/api/openapi.json`)).json();
    expect(document).toMatchObject({ servers: [{ url: "/tools/flows" }] });
    expect(await (await request(kept || "/")).text()).toContain('href="/tools/flows/api/docs"');
  },
);

test("a base path of its own counts, whatever the path of the public URL is", async () => {
  const { request } = await mounted({
    basePath: "/flows",
    publicUrl: "https://millrace.example/studio",
  });
  const started = await request("/flows/api/runs", json({ dsl: HELLO }));
  expect(started.headers.get("location")).toMatch(/^\/flows\/api\/runs\/run_/);
});

test.each(["/api", "/api/x", "/hooks", "flows", "/flows/", "/a//b", "/..", "/a b", 1])(
  "the base path %j is refused",
  async (basePath) => {
    const options = { basePath: basePath as string, store: "memory" };
    await expect(createServer(options)).rejects.toMatchObject({ code: "option_invalid" });
  },
);

test("a body that another parser has read is an error that says so, not a wait", async () => {
  const log = keepLog();
  const { app } = await mounted({ log });
  const send = await overNode((incoming, outgoing) => {
    incoming.resume().once("end", () => app.handle(incoming, outgoing));
  });
  expect((await send("/api/run", json({ dsl: HELLO }))).status).toBe(500);
  expect(JSON.stringify(log.lines)).toContain("request.failed");
});

test("what a program writes after a stream was refused under its own head still arrives", async () => {
  const log = keepLog();
  const { app } = await mounted({ log });
  const send = await overNode(async (incoming, outgoing) => {
    outgoing.flushHeaders();
    app.handle(incoming, outgoing);
    await expect.poll(() => JSON.stringify(log.lines)).toContain("request.failed");
    outgoing.write("mine");
  });
  const signal = AbortSignal.timeout(5_000);
  const { body } = await send("/api/run", { ...json({ dsl: HELLO }), signal });
  const reader = body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("mine");
  await reader?.cancel();
});

test("`await using` closes a server", async () => {
  const { host, request, [Symbol.asyncDispose]: dispose } = await mounted({});
  await dispose();
  expect((await request("/api/runs", json({ dsl: HELLO }))).status).toBe(503);
  expect(host.executor.kind).toBe("memory");
});
