/** Looking at runs and steering them. */
import type { Page, Run, RunSummary } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { describe, expect, test } from "vitest";
import { ASK_PLAINLY, HELLO, SLEEP } from "./support/flows.ts";
import { approve, invoke, post, problemOf, serve } from "./support/server.ts";
import { kinds, readEvents, readUntil } from "./support/streams.ts";

test("a run is shown with its flow, its nodes and its end", async () => {
  const server = await serve();
  const log = await readEvents(
    await post(server, "/api/run", { dsl: HELLO, options: { tags: { team: "fx" } } }),
  );
  const {
    kind: _kind,
    v: _v,
    runId,
    seq,
    ts: _ts,
    ...summary
  } = log.at(-1) as unknown as Record<string, unknown>;
  const run = (await (await fetch(`${server.url}/api/runs/${runId}`)).json()) as Run;
  expect(run).toMatchObject({
    runId,
    status: "succeeded",
    flow: { id: "hello", title: "Hello", hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
    template: null,
    trigger: "api",
    tags: { team: "fx" },
    lastSeq: seq,
    retryOf: null,
    confirmations: [],
    nodes: {
      greeting: { state: "succeeded", attempt: 1 },
      say: { state: "succeeded", attempt: 1 },
    },
    summary,
  });
  for (const time of [run.createdAt, run.startedAt, run.endedAt]) {
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
  expect(run.flow.hash).toBe((log[0] as { flow?: { hash: string } }).flow?.hash);
});

test("the graph of a run is the one that it executes", async () => {
  const server = await serve();
  const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: HELLO });
  const response = await fetch(`${server.url}/api/runs/${runId}/graph`);
  expect(await response.json()).toEqual(parseFlow(HELLO).graph);
});

test("runs are listed newest first, filtered, and page by page", async () => {
  const server = await serve();
  const ids: string[] = [];
  for (const team of ["a", "b", "a", "a"]) {
    const events = await readEvents(
      await post(server, "/api/run", { dsl: HELLO, options: { tags: { team } } }),
    );
    ids.unshift(events[0]?.runId ?? "");
  }
  const live = await invoke<{ runId: string }>(server, "start_run", { dsl: SLEEP });
  const list = async (query: string) =>
    (await (await fetch(`${server.url}/api/runs?${query}`)).json()) as Page<RunSummary>;
  const idsOf = (page: Page<RunSummary>) => page.items.map(({ runId }) => runId);
  expect(idsOf(await list(""))).toEqual([live.runId, ...ids]);
  expect(idsOf(await list("status=succeeded&tag.team=b"))).toEqual([ids[2]]);
  expect(idsOf(await list("status=running&status=pending&status=paused"))).toEqual([live.runId]);
  expect(idsOf(await list("trigger=cli"))).toEqual([]);
  const first = await list("tag.team=a&limit=2");
  expect(idsOf(first)).toEqual([ids[0], ids[1]]);
  const second = await list(`tag.team=a&limit=2&cursor=${first.nextCursor}`);
  expect(idsOf(second)).toEqual([ids[3]]);
  expect(second.nextCursor).toBe(null);
});

test.each([
  ["of another filter", (cursor: string) => `limit=1&tag.team=x&cursor=${cursor}`],
  ["that was changed", (cursor: string) => `limit=1&cursor=${cursor.replace(/^.{4}/, "AAAA")}`],
  ["that was made up", () => "limit=1&cursor=abc"],
])("a cursor %s is refused", async (_name, query) => {
  const server = await serve();
  for (let i = 0; i < 2; i += 1) await invoke(server, "start_run", { dsl: HELLO });
  const page = (await (await fetch(`${server.url}/api/runs?limit=1`)).json()) as Page<RunSummary>;
  const response = await fetch(`${server.url}/api/runs?${query(page.nextCursor ?? "")}`);
  expect(response.status).toBe(400);
  expect((await problemOf(response)).code).toBe("bad_cursor");
});

test.each([
  "limit=0",
  "limit=201",
  "limit=ten",
  "limit=1&limit=2",
  "none=1",
  "status=exploded",
  "since=yesterday",
])("the query %s is refused with the place", async (query) => {
  const server = await serve();
  const response = await fetch(`${server.url}/api/runs?${query}`);
  expect(response.status).toBe(422);
  const { code, errors } = await problemOf(response);
  expect(code).toBe("invalid_args");
  expect(errors?.[0]?.pointer).toMatch(new RegExp(`^/${query.split("=")[0]}`));
});

test("an argument of the path cannot be given again by body or query", async () => {
  const server = await serve();
  const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: SLEEP });
  const byBody = await post(server, `/api/runs/${runId}/cancel`, { runId: "other" });
  expect((await problemOf(byBody)).errors).toMatchObject([
    { pointer: "/runId", code: "duplicate" },
  ]);
  const byQuery = await post(server, `/api/runs/${runId}/cancel?runId=other`, {});
  expect((await problemOf(byQuery)).errors).toMatchObject([
    { pointer: "/runId", code: "duplicate" },
  ]);
});

test("an argument of the path is decoded once", async () => {
  const server = await serve();
  const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: HELLO });
  const escaped = `%${runId.charCodeAt(0).toString(16)}${runId.slice(1)}`;
  expect(await (await fetch(`${server.url}/api/runs/${escaped}`)).json()).toMatchObject({ runId });
  const twice = await fetch(`${server.url}/api/runs/${escaped.replace("%", "%25")}`);
  expect(twice.status).toBe(422);
});

describe("a cancel", () => {
  test("answers with the cancelling run, and says who and why in the log", async () => {
    const server = await serve();
    const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: SLEEP });
    const events = readEvents(await fetch(`${server.url}/api/runs/${runId}/events`));
    const response = await post(server, `/api/runs/${runId}/cancel`, { reason: "wrong flow" });
    expect(response.status).toBe(202);
    expect(["cancelling", "cancelled"]).toContain(((await response.json()) as Run).status);
    const log = await events;
    expect(log.find(({ kind }) => kind === "run.cancelling")).toMatchObject({
      reason: "user",
      by: "api",
      note: "wrong flow",
    });
    expect(log.at(-1)).toMatchObject({ status: "cancelled", exitCode: 130 });
  });

  test("needs no body", async () => {
    const server = await serve();
    const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: SLEEP });
    expect((await fetch(`${server.url}/api/runs/${runId}/cancel`, { method: "POST" })).status).toBe(
      202,
    );
  });

  test("of an ended run conflicts with its state, of an unknown one is not found", async () => {
    const server = await serve();
    const [first] = await readEvents(await post(server, "/api/run", { dsl: HELLO }));
    const response = await post(server, `/api/runs/${first?.runId}/cancel`, {});
    expect(response.status).toBe(409);
    expect(await problemOf(response)).toMatchObject({ code: "state_conflict", state: "succeeded" });
    expect((await post(server, "/api/runs/none/cancel", {})).status).toBe(404);
  });
});

describe("a pause", () => {
  test("lets nothing new start until the run is resumed", async () => {
    const server = await serve();
    const dsl = ASK_PLAINLY;
    const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl });
    await readUntil(await fetch(`${server.url}/api/runs/${runId}/events`), "run.paused");
    await approve(server, runId);
    const sleeper = await invoke<{ runId: string }>(server, "start_run", { dsl: SLEEP });
    await readUntil(await fetch(`${server.url}/api/runs/${sleeper.runId}/events`), "node.waiting");
    const paused = await post(server, `/api/runs/${sleeper.runId}/pause`, {});
    expect(paused.status).toBe(202);
    expect(await paused.json()).toMatchObject({ status: "paused" });
    const resumed = await post(server, `/api/runs/${sleeper.runId}/resume`, {});
    expect(await resumed.json()).toMatchObject({ status: "running" });
    await invoke(server, "cancel_run", { runId: sleeper.runId });
    const log = await readEvents(
      await fetch(
        `${server.url}/api/runs/${sleeper.runId}/events?kinds=run.paused&kinds=run.resumed`,
      ),
    );
    expect(kinds(log)).toEqual([
      "run.started",
      "run.paused",
      "run.resumed",
      "run.cancelling",
      "summary",
    ]);
  });

  test("of a run that has ended conflicts, and so does resuming one that is not paused", async () => {
    const server = await serve();
    const [first] = await readEvents(await post(server, "/api/run", { dsl: HELLO }));
    expect((await post(server, `/api/runs/${first?.runId}/pause`, {})).status).toBe(409);
    const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: SLEEP });
    const response = await post(server, `/api/runs/${runId}/resume`, {});
    expect(response.status).toBe(409);
    expect(await problemOf(response)).toMatchObject({ code: "state_conflict", state: "running" });
  });

  test("makes room for a run that waits", async () => {
    const server = await serve({ maxLiveRuns: 1 });
    const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: ASK_PLAINLY });
    await readUntil(await fetch(`${server.url}/api/runs/${runId}/events`), "run.paused");
    const log = await readEvents(await post(server, "/api/run", { dsl: HELLO }));
    expect(log.at(-1)).toMatchObject({ status: "succeeded" });
  });
});

describe("waiting for a run", () => {
  test("gives its summary when it ends in time", async () => {
    const server = await serve();
    const response = await post(server, "/api/runs?waitMs=60000", { dsl: HELLO });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: "succeeded",
      summary: { outputs: { text: "Hello, world!" } },
    });
  });

  test("gives a reference as soon as it pauses, or when the time is over; the run goes on", async () => {
    const server = await serve();
    const paused = await post(server, "/api/runs?waitMs=60000", { dsl: ASK_PLAINLY });
    expect(paused.status).toBe(202);
    expect(await paused.json()).toEqual({ runId: expect.any(String), status: "paused" });
    const late = await post(server, "/api/runs?waitMs=1", { dsl: SLEEP });
    expect(late.status).toBe(202);
    const { runId } = (await late.json()) as { runId: string };
    expect(late.headers.get("location")).toBe(`/api/runs/${runId}`);
    expect(["pending", "running"]).toContain(
      (await invoke<Run>(server, "get_run", { runId })).status,
    );
  });

  test.each(["0", "60001", "x"])("for %s milliseconds is refused", async (waitMs) => {
    const server = await serve();
    expect((await post(server, `/api/runs?waitMs=${waitMs}`, { dsl: HELLO })).status).toBe(422);
  });
});

test("a value that is too large for its event is read by its digest", async () => {
  const server = await serve();
  const log = await readEvents(
    await post(server, "/api/run", { dsl: HELLO, inputs: { name: "x".repeat(100_000) } }),
  );
  const large = log.find((event) => event.kind === "node.succeeded" && "outputRef" in event);
  const { ref } = (large as unknown as { outputRef: { ref: string } }).outputRef;
  const path = `/api/runs/${large?.runId}/blobs/${ref}`;
  const response = await fetch(server.url + path);
  expect(response.headers.get("content-type")).toBe("application/octet-stream");
  expect(response.headers.get("content-disposition")).toBe("attachment");
  expect(JSON.stringify(await response.json())).toContain("x".repeat(100_000));
  const none = await fetch(`${server.url}/api/runs/${large?.runId}/blobs/sha256:${"0".repeat(64)}`);
  expect(none.status).toBe(404);
  expect(await problemOf(none)).toMatchObject({ resource: "value" });
});
