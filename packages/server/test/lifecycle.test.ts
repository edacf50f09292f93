/** Draining, reloading, and what is left when a server has closed. */
import { describe, expect, test } from "vitest";
import { ASK_PLAINLY, HELLO, SLEEP } from "./support/flows.ts";
import { invoke, keepLog, post, problemOf, serve } from "./support/server.ts";
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

  test("with a bad token changes nothing", async () => {
    const server = await serve({ tokens: [TOKEN] });
    expect(() => server.app.reload({ tokens: ["short"] })).toThrow();
    expect((await fetch(`${server.url}/api/meta`)).status).toBe(401);
  });
});

test("each request is one line of the log: pattern instead of path, id of the token, no query", async () => {
  const log = keepLog();
  const server = await serve({ tokens: [`anna:run:${TOKEN}-anna`], log });
  const headers = { authorization: `Bearer ${TOKEN}-anna` };
  await fetch(`${server.url}/api/runs/secret-id?none=secret`, { headers });
  await fetch(`${server.url}/api/none`);
  const lines = log.lines
    .filter(({ message }) => message === "request")
    .map(({ fields }) => fields);
  expect(lines).toEqual([
    expect.objectContaining({
      method: "GET",
      route: "/api/runs/:runId",
      status: 422,
      tokenId: "anna",
    }),
    expect.objectContaining({ method: "GET", route: null, status: 401, tokenId: null }),
  ]);
  expect(JSON.stringify(log.lines)).not.toContain("secret");
});
