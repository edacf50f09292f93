/** What a run request may hold, and everything that is refused before the first byte of a stream. */
import { parseFlow } from "@millrace/dsl";
import type { ServerHost } from "@millrace/server";
import { createApp, createServer } from "@millrace/server";
import { describe, expect, onTestFinished, test } from "vitest";
import { HELLO, SLEEP } from "./support/flows.ts";
import { invoke, keepLog, post, problemOf, serve } from "./support/server.ts";
import { expectLegal, kinds, readEvents } from "./support/streams.ts";

const graph = parseFlow(HELLO).graph;
const ROUTES = ["/api/run", "/api/runs", "/api/runs?waitMs=1000"];

describe.each(ROUTES)("POST %s", (route) => {
  test.each([
    [
      "two of them",
      { dsl: HELLO, graph },
      [{ pointer: "/dsl", code: "conflict", message: "graph is also present" }],
    ],
    [
      "all of them",
      { dsl: HELLO, graph, template: "hello" },
      [
        { pointer: "/template", code: "conflict", message: "graph is also present" },
        { pointer: "/dsl", code: "conflict", message: "graph is also present" },
      ],
    ],
    [
      "one of them and null",
      { dsl: HELLO, template: null },
      [{ pointer: "/dsl", code: "conflict", message: "template is also present" }],
    ],
    ["none", { inputs: {} }, [{ pointer: "", code: "missing" }]],
  ])("takes exactly one of graph, template and dsl: %s is refused", async (_name, body, errors) => {
    const server = await serve();
    const response = await post(server, route, body);
    expect(response.status).toBe(422);
    expect(await problemOf(response)).toMatchObject({
      code: "run_input_conflict",
      title: "Give exactly one of graph, template, dsl",
      errors,
    });
  });

  test.each([
    ["a member that is not known", { dsl: HELLO, file: "/etc/passwd" }, 422, "invalid_args"],
    ["an option that is not known", { dsl: HELLO, options: { dir: "/" } }, 422, "invalid_args"],
    [
      "a filter for a kind that is not known",
      { dsl: HELLO, options: { events: ["node.exploded"] } },
      422,
      "invalid_args",
    ],
    ["a run id that is none", { dsl: HELLO, options: { runId: "a b" } }, 422, "invalid_args"],
    [
      "too many tags",
      {
        dsl: HELLO,
        options: { tags: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`t${i}`, ""])) },
      },
      422,
      "invalid_args",
    ],
    ["a graph that is none", { graph: { nodes: 1 } }, 422, "invalid_args"],
    ["a text that does not parse", { dsl: "flow 1 x\nnode a: {" }, 422, "flow_invalid"],
    [
      "a flow with an unknown node type",
      { dsl: "flow 1 x\n\nnode a: no.such {\n}\n" },
      422,
      "flow_invalid",
    ],
    ["an input that does not fit", { dsl: HELLO, inputs: { name: 5 } }, 422, "input_invalid"],
    [
      "an input that the flow does not have",
      { dsl: HELLO, inputs: { other: 5 } },
      422,
      "input_invalid",
    ],
    ["a template on a server without templates", { template: "hello" }, 404, "not_found"],
  ])("refuses %s", async (_name, body, status, code) => {
    const server = await serve();
    const response = await post(server, route, body);
    expect(response.status).toBe(status);
    expect((await problemOf(response)).code).toBe(code);
    expect(await invoke(server, "list_runs", {})).toEqual({ items: [], nextCursor: null });
  });
});

test("a problem of a flow that came as text names the line", async () => {
  const server = await serve();
  const response = await post(server, "/api/run", { dsl: "flow 1 x\n\nnode a: no.such {\n}\n" });
  const { errors } = await problemOf(response);
  expect(errors?.[0]).toMatchObject({
    line: 3,
    column: expect.any(Number),
    code: expect.stringMatching(/^FLOW\d{4}$/),
  });
});

test("a text over maxDslBytes is refused as a flow", async () => {
  const server = await serve({ maxDslBytes: 10 });
  const response = await post(server, "/api/run", { dsl: HELLO });
  expect(response.status).toBe(422);
  expect((await problemOf(response)).code).toBe("flow_invalid");
});

test("a body of 20 MB is refused, and the client gets to read why", async () => {
  const server = await serve();
  const response = await post(server, "/api/run", { dsl: "x".repeat(20_000_000) });
  expect(response.status).toBe(413);
  expect(response.headers.get("connection")).toBe("close");
  expect((await problemOf(response)).code).toBe("body_too_large");
});

test("a body of 200,000 levels is refused before it is parsed", async () => {
  const server = await serve({ maxBodyBytes: 1_000_000 });
  const response = await fetch(`${server.url}/api/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "[".repeat(200_000) + "]".repeat(200_000),
  });
  expect(response.status).toBe(400);
  expect((await problemOf(response)).code).toBe("json_too_deep");
});

test("the same flow as graph and as text yields the same kinds of events", async () => {
  const server = await serve();
  const asText = await readEvents(
    await post(server, "/api/run", { dsl: HELLO, inputs: { name: "Ada" } }),
  );
  const asGraph = await readEvents(
    await post(server, "/api/run", { graph, inputs: { name: "Ada" } }),
  );
  expect(kinds(asText)).toEqual(kinds(asGraph));
  for (const events of [asText, asGraph]) {
    expectLegal(events, graph);
    expect(events.at(-1)).toMatchObject({ status: "succeeded", outputs: { text: "Hello, Ada!" } });
  }
});

test("a template is run in its newest version, or in the one that is named", async () => {
  const { host, close } = await createServer({ log: keepLog() });
  onTestFinished(() => close({ graceMs: 0 }));
  const templates: ServerHost["templates"] = {
    get: async (slug, version = 2) =>
      slug === "hello" && version <= 2 ? { slug, version, graph } : null,
  };
  const app = createApp({ ...host, templates });
  const caller = { tokenId: null, role: "admin", requestId: "r", remote: null } as const;
  const { runId } = (await app.invoke("start_run", { template: "hello" }, caller)) as {
    runId: string;
  };
  expect(await app.invoke("get_run", { runId }, caller)).toMatchObject({
    template: { slug: "hello", version: 2 },
  });
  const older = (await app.invoke("start_run", { template: "hello", version: 1 }, caller)) as {
    runId: string;
  };
  expect(await app.invoke("get_run", { runId: older.runId }, caller)).toMatchObject({
    template: { version: 1 },
  });
  await expect(
    app.invoke("start_run", { template: "hello", version: 3 }, caller),
  ).rejects.toMatchObject({ code: "not_found" });
});

test("a run id of the caller is used once", async () => {
  const server = await serve();
  const body = { dsl: HELLO, options: { runId: "mine-1", tags: { team: "fx" } } };
  const events = await readEvents(await post(server, "/api/run", body));
  expect(events[0]).toMatchObject({ runId: "mine-1", tags: { team: "fx" }, trigger: "api" });
  const again = await post(server, "/api/run", body);
  expect(again.status).toBe(409);
  expect((await problemOf(again)).code).toBe("already_exists");
});

test("what finds no place waits in order, and what finds no queue is refused", async () => {
  const server = await serve({ maxLiveRuns: 1, maxQueuedRuns: 1 });
  const first = await invoke<{ runId: string }>(server, "start_run", { dsl: SLEEP });
  const second = await invoke<{ runId: string }>(server, "start_run", { dsl: HELLO });
  expect(await invoke(server, "get_run", { runId: second.runId })).toMatchObject({
    status: "pending",
    lastSeq: 0,
    startedAt: null,
  });
  const third = await post(server, "/api/runs", { dsl: HELLO });
  expect(third.status).toBe(429);
  expect(third.headers.get("retry-after")).toMatch(/^\d+$/);
  expect((await problemOf(third)).code).toBe("too_many_runs");
  const waiting = await fetch(`${server.url}/api/runs/${second.runId}/events`);
  await invoke(server, "cancel_run", { runId: first.runId });
  expect((await readEvents(waiting)).at(-1)).toMatchObject({
    kind: "summary",
    status: "succeeded",
  });
});

test("a run that is cancelled while it waits ends with one event", async () => {
  const server = await serve({ maxLiveRuns: 1 });
  await invoke(server, "start_run", { dsl: SLEEP });
  const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: HELLO });
  const run = await invoke(server, "cancel_run", { runId });
  expect(run).toMatchObject({
    status: "cancelled",
    lastSeq: 1,
    summary: { status: "cancelled", exitCode: 130 },
  });
  const events = await readEvents(await fetch(`${server.url}/api/runs/${runId}/events`));
  expect(kinds(events)).toEqual(["summary"]);
  expectLegal(events);
});
