/** Draining, reloading, and what is left when a server has closed. */

import { once } from "node:events";
import { connect } from "node:net";
import { createApp, createServer } from "@millrace/server";
import { describeWith } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { describe, expect, onTestFinished, test } from "vitest";
import { ASK_PLAINLY, HELLO, SLEEP } from "./support/flows.ts";
import { invoke, keepLog, post, problemOf, sendRaw, serve } from "./support/server.ts";
import { expectLegal, kinds, readEvents, readUntil } from "./support/streams.ts";

const TOKEN = "0123456789abcdef";

describe("a server that drains", () => {
  test("reads, but takes no new work and no answers, and says so", async () => {
    const server = await serve();
    const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: SLEEP });
    const drained = server.app.drain({ graceMs: 50 });
    const ready = await fetch(`${server.url}/api/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ status: "draining" });
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
    const refused = await post(server, "/api/run", { dsl: HELLO });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect((await problemOf(refused)).code).toBe("draining");
    const byName = await post(server, "/api/invoke", {
      command: "start_run",
      args: { dsl: HELLO },
    });
    expect((await problemOf(byName)).code).toBe("draining");
    expect(await invoke(server, "get_run", { runId })).toMatchObject({ runId });
    await server.close({ graceMs: 0 });
    expect(await drained).toMatchObject({ cancelled: 1 });
  });

  test("ends what waits in the queue too, and every stream gets its summary", async () => {
    const server = await serve({ maxLiveRuns: 2 });
    const ask = () => post(server, "/api/run", { dsl: SLEEP });
    const streams = (await Promise.all(Array.from({ length: 8 }, ask))).map(readEvents);
    expect(await server.app.drain({ graceMs: 0 })).toMatchObject({ cancelled: 8, finished: 0 });
    for (const events of await Promise.all(streams)) {
      expect(events.at(-1)).toMatchObject({ kind: "summary", status: "cancelled" });
    }
  });

  test("keeps the credentials until its runs have ended", async () => {
    const { host, close } = await createServer({ store: "memory", log: keepLog() });
    const statuses: unknown[] = [];
    const services = {
      ...host.services,
      async close() {
        statuses.push((await host.executor.get(runId))?.status);
        await host.services.close();
      },
    };
    const app = createApp({ ...host, services });
    const admin = { tokenId: null, role: "admin", requestId: "r", remote: null } as const;
    const { runId } = (await app.invoke("start_run", { dsl: SLEEP }, admin)) as { runId: string };
    await app.drain({ graceMs: 0 });
    expect(statuses).toEqual(["cancelled"]);
    await close();
  });

  test("cancels what is still live after the grace, and every stream gets its summary", async () => {
    const server = await serve({ maxLiveRuns: 2 });
    const sleeping = await post(server, "/api/run", { dsl: SLEEP });
    const asking = await post(server, "/api/run", { dsl: ASK_PLAINLY });
    const [first, second] = [readEvents(sleeping), readEvents(asking)];
    await invoke(server, "start_run", { dsl: SLEEP });
    const queued = await post(server, "/api/run", { dsl: HELLO });
    const third = readEvents(queued);
    const report = await server.app.drain({ graceMs: 0 });
    expect(report).toMatchObject({ finished: 0, cancelled: 4, parked: 0 });
    for (const log of [await first, await second]) {
      expectLegal(log);
      expect(log.find(({ kind }) => kind === "run.cancelling")).toMatchObject({
        reason: "shutdown",
      });
      expect(log.at(-1)).toMatchObject({ status: "cancelled", exitCode: 143 });
    }
    expect(kinds(await third)).toEqual(["summary"]);
  });
});

test("a server over a folder parks what is live, and counts it", async () => {
  const server = await serve({ store: temporaryFolder(), maxLiveRuns: 1 });
  const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: ASK_PLAINLY });
  await readUntil(await fetch(`${server.url}/api/runs/${runId}/events`), "run.paused");
  await invoke(server, "start_run", { dsl: SLEEP });
  await invoke(server, "start_run", { dsl: HELLO });
  const report = await server.app.drain({ graceMs: 0 });
  expect(report).toMatchObject({ finished: 0, cancelled: 0, parked: 3 });
});

describeWith("postgres")("one of several servers", () => {
  test("counts the runs that it drove, and not those of the others", async () => {
    const { url } = await sharedPostgres();
    const schema = `lifecycle_${process.pid}`;
    const cluster = { url: `${url}?search_path=${schema}`, key: new Uint8Array(32).fill(3) };
    const common = { cluster, credentials: { store: "memory" } } as const;
    const log = keepLog();
    const one = await serve({ ...common, store: temporaryFolder(), log });
    const ids = Array.from({ length: 100 }, (_, at) => `n${at}`);
    const steps = ids.map((id) => `node ${id}: delay {\n  for = 1s\n}`); // at work all the time
    const dsl = `flow 1 slow\n\n${steps.join("\n\n")}\n\n${ids.join(" -> ")}\n`;
    await invoke(one, "start_run", { dsl });
    const claimed = () => log.lines.some(({ message }) => message === "run.claimed");
    await expect.poll(claimed, { timeout: 30_000 }).toBe(true);
    const other = await serve({ ...common, store: temporaryFolder() });
    const drained = [await other.app.drain({ graceMs: 0 }), await one.app.drain({ graceMs: 0 })];
    expect(drained).toMatchObject([
      { finished: 0, cancelled: 0, parked: 0 },
      { finished: 0, cancelled: 0, parked: 1 },
    ]);
  });
});

test("a closed server is gone: no socket accepts, and closing again does nothing", async () => {
  const server = await serve();
  await post(server, "/api/run", { dsl: HELLO }).then((response) => response.text());
  await server.close();
  await server.close();
  await expect(fetch(`${server.url}/api/health`)).rejects.toThrow();
});

describe("a reload", () => {
  test("ends the streams of removed tokens and leaves their runs alone", async () => {
    const server = await serve({ tokens: [`old:run:${TOKEN}-old`, `new:run:${TOKEN}-new`] });
    const as = (token: string) => ({ headers: { authorization: `Bearer ${TOKEN}-${token}` } });
    const response = await post(server, "/api/run", { dsl: ASK_PLAINLY }, as("old"));
    const runId = response.headers.get("millrace-run-id") ?? "";
    const watcher = await fetch(`${server.url}/api/runs/${runId}/events`, as("new"));
    await readUntil(await fetch(`${server.url}/api/runs/${runId}/events`, as("new")), "run.paused");
    server.app.reload({ tokens: [`new:run:${TOKEN}-new`] });
    expect(kinds(await readEvents(response)).at(-1)).toBe("run.paused");
    expect((await fetch(`${server.url}/api/meta`, as("old"))).status).toBe(401);
    const rest = readEvents(watcher);
    await post(server, `/api/runs/${runId}/confirmations/k1`, { decision: "approve" }, as("new"));
    expect((await rest).at(-1)).toMatchObject({ status: "succeeded" });
  });

  test("ends the streams of a token whose secret is replaced under the same id", async () => {
    const server = await serve({ tokens: [`ci:run:${TOKEN}-old`] });
    const headers = { authorization: `Bearer ${TOKEN}-old` };
    const body = { dsl: ASK_PLAINLY, options: { onDisconnect: "continue" } };
    const response = await post(server, "/api/run", body, { headers });
    server.app.reload({ tokens: [`ci:run:${TOKEN}-new`] });
    expect(kinds(await readEvents(response))).not.toContain("summary");
  });

  test("ends the stream of a token that was removed while its request was on the way", async () => {
    const tokens = [`old:run:${TOKEN}-old`, `new:run:${TOKEN}-new`];
    const server = await serve({ tokens });
    const body = JSON.stringify({ dsl: ASK_PLAINLY });
    const socket = connect(server.address.port, server.address.address);
    onTestFinished(() => void socket.destroy());
    const head = [
      "POST /api/run HTTP/1.1",
      "Host: localhost",
      "Content-Type: application/json",
      `Authorization: Bearer ${TOKEN}-old`,
      `Content-Length: ${body.length}`,
      "Expect: 100-continue",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    await once(socket, "data"); // it was let in, and its body is waited for
    server.app.reload({ tokens: tokens.slice(1) });
    socket.write(body);
    await once(socket.resume(), "close");
  });

  test("ends the streams of nobody when a token comes", async () => {
    const server = await serve();
    const response = await post(server, "/api/run", { dsl: ASK_PLAINLY });
    server.app.reload({ tokens: [TOKEN] });
    expect(kinds(await readEvents(response))).not.toContain("summary");
  });

  test("leaves alone what it does not name", async () => {
    const server = await serve({ tokens: [TOKEN], allowedHosts: ["flows.example"] });
    const ask = (host: string, ...more: string[]) =>
      sendRaw(
        server,
        `${["GET /api/meta HTTP/1.1", `Host: ${host}`, ...more].join("\r\n")}\r\n\r\n`,
      ).then(({ status }) => status);
    server.app.reload({ allowedOrigins: ["https://studio.example"] });
    expect(await ask("flows.example")).toBe(401);
    server.app.reload({ allowedHosts: [] });
    expect(await ask("flows.example")).toBe(403);
    expect(await ask("localhost")).toBe(401);
    expect(await ask("localhost", `Authorization: Bearer ${TOKEN}`)).toBe(200);
  });

  test("does not open an address that others can reach", async () => {
    const server = await serve({ host: "0.0.0.0", tokens: [TOKEN] });
    expect(() => server.app.reload({ tokens: [] })).toThrow(
      expect.objectContaining({ code: "open_bind_refused" }),
    );
    const url = `http://127.0.0.1:${server.address.port}/api/meta`;
    expect((await fetch(url)).status).toBe(401);
  });

  test("with a bad token changes nothing", async () => {
    const server = await serve({ tokens: [TOKEN] });
    expect(() => server.app.reload({ tokens: ["short"] })).toThrow();
    expect((await fetch(`${server.url}/api/meta`)).status).toBe(401);
  });
});

test("a proxy that adds ports to addresses names the same client", async () => {
  const log = keepLog();
  const server = await serve({ log, trustProxy: ["127.0.0.1", "fd00::/8"] });
  const clients = ["203.0.113.9:4711", "[2001:db8::9]:4711", "[2001:db8::9]", "2001:db8::9"];
  const chains = [...clients, "203.0.113.9:4711, [fd00::7]:80"];
  for (const chain of chains) {
    await fetch(`${server.url}/api/health`, { headers: { "x-forwarded-for": chain } });
  }
  const named = log.lines
    .filter(({ message }) => message === "request")
    .map(({ fields }) => (fields as { readonly client: string }).client);
  const version6 = "2001:db8::9";
  expect(named).toEqual(["203.0.113.9", version6, version6, version6, "203.0.113.9"]);
});

test("checks that succeed are logged for who debugs, those that fail for everybody", async () => {
  const log = keepLog();
  const server = await serve({ log });
  for (const path of ["health", "ready", "metrics", "meta"]) {
    await (await fetch(`${server.url}/api/${path}`)).text();
  }
  const drained = server.app.drain({ graceMs: 0 });
  await (await fetch(`${server.url}/api/ready`)).text();
  await drained;
  const levels = log.lines
    .filter(({ message }) => message === "request")
    .map(({ level, fields }) => [level, (fields as { readonly path: string }).path]);
  expect(levels).toEqual([
    ["debug", "/api/health"],
    ["debug", "/api/ready"],
    ["debug", "/api/metrics"],
    ["info", "/api/meta"],
    ["info", "/api/ready"],
  ]);
});

test("each request is one line of the log: path, pattern, client, id of the token, no query", async () => {
  const log = keepLog();
  const tokens = [`anna:run:${TOKEN}-anna`];
  const server = await serve({ tokens, log, trustProxy: ["127.0.0.0/8", "fd00::/8"] });
  const headers = { authorization: `Bearer ${TOKEN}-anna` };
  await fetch(`${server.url}/api/runs/some-run?none=secret`, { headers });
  const through = { "x-forwarded-for": "1.2.3.4, ::ffff:203.0.113.9, fd00::7" };
  await fetch(`${server.url}/api/none`, { headers: through });
  server.app.reload({ trustProxy: [] });
  await fetch(`${server.url}/api/health`, { headers: through });
  const lines = log.lines
    .filter(({ message }) => message === "request")
    .map(({ fields }) => fields);
  expect(lines).toEqual([
    expect.objectContaining({
      method: "GET",
      path: "/api/runs/some-run",
      route: "/api/runs/:runId",
      client: "127.0.0.1",
      status: 422,
      tokenId: "anna",
    }),
    expect.objectContaining({
      ...{ method: "GET", path: "/api/none", route: null, status: 401, tokenId: null },
      client: "203.0.113.9",
    }),
    expect.objectContaining({ path: "/api/health", client: "127.0.0.1" }),
  ]);
  expect(log.lines.filter(({ message }) => message === "token.rejected")).toEqual([
    expect.objectContaining({
      level: "warn",
      fields: expect.objectContaining({ client: "203.0.113.9", reason: "missing" }),
    }),
  ]);
  expect(JSON.stringify(log.lines)).not.toContain("secret");
});
