/** What a run request may hold, and everything that is refused before the first byte of a stream. */

import { parseFlow } from "@millrace/dsl";
import type { ServerHost } from "@millrace/server";
import { createApp, createServer } from "@millrace/server";
import { casesOf } from "@millrace/test-support";
import { describe, expect, onTestFinished, test } from "vitest";
import { HELLO, SLEEP } from "./support/flows.ts";
import { invoke, keepLog, post, problemOf, sendRaw, serve } from "./support/server.ts";
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

test("a body in chunks of one byte is read like one in one piece", async () => {
  const server = await serve();
  const text = JSON.stringify({ dsl: HELLO }).padEnd(casesOf(1_000_000));
  const answer = await sendRaw(
    server,
    `POST /api/flows/format HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${text.replace(/./gs, "1\r\n$&\r\n")}0\r\n\r\n`,
  );
  expect(answer.status).toBe(200);
});

test("a body that breaks off over fetch is its client's loss, not a fault", async () => {
  const log = keepLog();
  const server = await serve({ log });
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from('{"dsl":'));
      controller.error(new Error("gone"));
    },
  });
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  const response = await server.app.fetch(new Request("http://localhost/api/run", init));
  expect(response.status).toBe(499);
  const said = log.lines.filter(({ message }) => message !== "server.listening");
  expect(said.map(({ level, message }) => [level, message])).toEqual([["info", "request"]]);
});

describe("a list of many elements", () => {
  const node = { id: "say", type: "log", fields: { message: "hi" } };
  const withNodes = (nodes: readonly object[]) => ({
    graph: { version: 1, id: "many", nodes, edges: [] },
  });

  test("is taken when each of them fits", async () => {
    const server = await serve();
    const nodes = Array.from({ length: 1_000 }, (_, i) => ({ ...node, id: `n${i}` }));
    expect(await invoke(server, "validate_flow", withNodes(nodes))).toMatchObject({ valid: true });
  });

  test("is refused for the only one that does not, with its place", async () => {
    const server = await serve();
    const nodes: object[] = Array.from({ length: 1_000 }, (_, i) => ({ ...node, id: `n${i}` }));
    nodes[777] = { ...node, id: 5 };
    const response = await post(server, "/api/flows/validate", withNodes(nodes));
    expect((await problemOf(response)).errors).toMatchObject([{ pointer: "/graph/nodes/777/id" }]);
  });

  test("is refused for the first hundred of those found, each with its place", async () => {
    const server = await serve();
    const nodes = Array.from({ length: 200_000 }, (_, i) => (i % 2 === 0 ? {} : node));
    const body = JSON.stringify(withNodes(nodes.map((each) => (each === node ? 0 : each))));
    const response = await post(server, "/api/run", undefined, { body });
    expect(response.status).toBe(422);
    const { errors = [] } = await problemOf(response);
    expect(errors).toHaveLength(100);
    for (const { pointer, message } of errors) {
      const place = Number(/^\/graph\/nodes\/(\d+)/.exec(pointer)?.[1]);
      expect(message).toContain(place % 2 === 0 ? "received undefined" : "received number");
    }
  });
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
  const { host, close } = await createServer({ store: "memory", log: keepLog() });
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
