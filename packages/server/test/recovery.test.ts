/** Real servers that are killed in the middle of their work, and what the next one makes of it. */

import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { AnyEvent, FlowGraph, Page, Run, RunRef, RunSummary } from "@millrace/contracts";
import { digest, parseFlow } from "@millrace/dsl";
import { createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { createLocalExecutor, createServer } from "@millrace/server";
import { createStandardRegistry } from "@millrace/server/registry";
import { openStore } from "@millrace/store";
import { casesOf } from "@millrace/test-support";
import { scriptedNode } from "@millrace/test-support/flows";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ServerProcess, spawnServer } from "./support/child.ts";
import { ASK, ASK_PLAINLY, HELLO, SLEEP } from "./support/flows.ts";
import { invoke, keepLog, post, problemOf } from "./support/server.ts";
import { expectLegal, frames, readEvents, readUntil } from "./support/streams.ts";

/** Twelve steps of some milliseconds each, one after the other, and a map of short ones beside them. */
const STEPS = `flow 1 steps

${Array.from({ length: 12 }, (_, i) => `node s${i}: delay {\n  for = 40ms\n}\n`).join("\n")}
node each: map {
  items = [1, 2, 3, 4, 5, 6]
  body {
    node nap: delay {
      for = 60ms
    }
  }
}

${Array.from({ length: 11 }, (_, i) => `s${i} -> s${i + 1}`).join("\n")}
`;

type Server = Pick<ServerProcess, "url">;
const as = (server: Server) => server as never;

const startRun = (server: Server, args: object) =>
  invoke<RunRef>(as(server), "start_run", args).then(({ runId }) => runId);
const getRun = (server: Server, runId: string) => invoke<Run>(as(server), "get_run", { runId });
const eventsFrom = (server: Server, runId: string, after = 0) =>
  fetch(`${server.url}/api/runs/${runId}/events?after=${after}`);

/** Reads on until the socket breaks; what came is in `events`. */
async function readInto(response: Response, events: AnyEvent[]): Promise<void> {
  try {
    for await (const { event } of frames(response)) events.push(event);
  } catch {
    // the server is gone
  }
}

describe("a server that is killed", () => {
  test("loses no run and no finished node, and a reader that comes back has every event once", async () => {
    const dir = temporaryFolder();
    let server = await spawnServer(dir);
    const runIds = await Promise.all(
      Array.from({ length: 12 }, () => startRun(server, { dsl: STEPS })),
    );
    const seen = new Map(runIds.map((runId) => [runId, [] as AnyEvent[]]));
    const kills = casesOf(3);
    for (let kill = 0; kill < kills; kill += 1) {
      const readers = runIds.map(async (runId) => {
        const events = seen.get(runId) ?? [];
        const response = await eventsFrom(server, runId, events.length);
        if (response.status === 200) await readInto(response, events);
      });
      // Somewhere in the middle: after some more events of one of the runs.
      const watched = runIds[kill] ?? "";
      const from = seen.get(watched)?.length ?? 0;
      let count = 0;
      for await (const _frame of frames(await eventsFrom(server, watched, from))) {
        count += 1;
        if (count === 5 + 3 * kill) break;
      }
      await server.kill();
      await Promise.all(readers);
      server = await spawnServer(dir);
    }
    for (const runId of runIds) {
      const before = seen.get(runId) ?? [];
      const rest = await readEvents(await eventsFrom(server, runId, before.length));
      const log = [...before, ...rest];
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1));
      expect(await readEvents(await eventsFrom(server, runId))).toEqual(log);
      expectLegal(log, parseFlow(STEPS).graph);
      expect(log.at(-1)).toMatchObject({ kind: "summary", status: "succeeded" });
      const ended = log.filter(({ kind }) => kind === "node.succeeded");
      expect(new Set(ended.map((event) => (event as { node?: string }).node)).size).toBe(
        ended.length,
      );
    }
  });

  test("has its questions and deadlines again, and keyed starts once; its folder is its own", async () => {
    const dir = temporaryFolder();
    const key = { headers: { "idempotency-key": "job-7" } };
    const badKey = { headers: { "idempotency-key": "bad" } };
    const first = await spawnServer(dir);
    const runId = await startRun(first, { dsl: ASK });
    const before = await readUntil(await eventsFrom(first, runId), "run.paused");
    const started = await post(as(first), "/api/runs", { dsl: HELLO }, key);
    const keyed = (await started.json()) as RunRef;
    const refused = await post(as(first), "/api/runs", { dsl: "flow 1" }, badKey);
    expect(refused.status).toBe(422);
    const dsl = ASK_PLAINLY.replace('prompt = "Go on?"', 'prompt = "Go on?"\n  @timeout = 1500ms');
    const late = await startRun(first, { dsl });
    await readUntil(await eventsFrom(first, late), "run.paused");
    await first.kill();

    const second = await spawnServer(dir);
    // A deadline that passed meanwhile is kept at once.
    const lateLog = await readEvents(await eventsFrom(second, late));
    expectLegal(lateLog);
    expect(lateLog.find(({ kind }) => kind === "confirm.resolved")).toMatchObject({
      outcome: "expired",
    });
    const run = await getRun(second, runId);
    expect(run).toMatchObject({ status: "paused", lastSeq: before.length });
    expect(run.confirmations).toMatchObject([{ id: "k1", status: "requested" }]);
    const inbox = await invoke<Page<unknown>>(as(second), "list_confirmations", {});
    expect(inbox.items).toMatchObject([{ runId, id: "k1" }]);
    const path = `/api/runs/${runId}/confirmations/k1`;
    const answer = { decision: "approve", value: { reason: "because" } };
    const rest = readEvents(await eventsFrom(second, runId, before.length));
    expect((await post(as(second), path, answer)).status).toBe(200);
    const log = [...before, ...(await rest)];
    expectLegal(log, parseFlow(ASK).graph);
    expect(log.at(-1)).toMatchObject({ outputs: { reason: "because" } });

    const again = await post(as(second), "/api/runs", { dsl: HELLO }, key);
    expect(again.status).toBe(202);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.json()).toEqual({ runId: keyed.runId, status: "pending" });
    const other = await post(as(second), "/api/runs", { dsl: SLEEP }, key);
    expect(await problemOf(other)).toMatchObject({ code: "idempotency_mismatch" });
    const replayed = await post(as(second), "/api/runs", { dsl: "flow 1" }, badKey);
    expect(replayed.headers.get("idempotent-replayed")).toBe("true");
    expect(await replayed.json()).toMatchObject({ code: "flow_invalid" });
    const page = await invoke<Page<RunSummary>>(as(second), "list_runs", {});
    expect(page.items.map((each) => each.runId)).toEqual([late, keyed.runId, runId]);
    await expect(spawnServer(dir)).rejects.toThrow(`process ${second.child.pid}`);
    await second.kill();

    const third = await spawnServer(dir);
    const twice = await post(as(third), path, { decision: "reject" });
    expect(await problemOf(twice)).toMatchObject({ code: "already_resolved", outcome: "approved" });
  });

  test("has its queue again, in the order of the starts", async () => {
    const dir = temporaryFolder();
    const first = await spawnServer(dir, { maxLiveRuns: 1 });
    const live = await startRun(first, { dsl: SLEEP });
    await readUntil(await eventsFrom(first, live), "node.waiting");
    const queued: string[] = [];
    for (let i = 0; i < 4; i += 1) queued.push(await startRun(first, { dsl: HELLO }));
    await first.kill();
    const second = await spawnServer(dir, { maxLiveRuns: 1 });
    for (const runId of queued) {
      expect(await getRun(second, runId)).toMatchObject({ status: "pending", lastSeq: 0 });
    }
    const logs = queued.map(async (runId) => readEvents(await eventsFrom(second, runId)));
    await invoke(as(second), "cancel_run", { runId: live });
    const starts = (await Promise.all(logs)).map(([event]) => event?.ts ?? 0);
    expect(starts).toEqual([...starts].sort((a, b) => a - b));
    const page = await invoke<Page<RunSummary>>(as(second), "list_runs", {});
    expect(page.items.map(({ runId }) => runId)).toEqual([live, ...queued].reverse());
    const ended = await Promise.all(queued.map((runId) => getRun(second, runId)));
    const times = ended.map(({ startedAt }) => startedAt ?? "");
    expect(times).toEqual([...times].sort());
    expect(ended.every(({ status }) => status === "succeeded")).toBe(true);
  });
});

test("a server that is told to stop leaves its runs for the next, and says so on their streams", async () => {
  const dir = temporaryFolder();
  const first = await spawnServer(dir, { drainMs: 0 });
  const body = { dsl: SLEEP };
  const owner = await post(as(first), "/api/run", body);
  const runId = owner.headers.get("millrace-run-id") ?? "";
  const watcher = await eventsFrom(first, runId);
  const parked = await startRun(first, { dsl: ASK_PLAINLY });
  await readUntil(await eventsFrom(first, parked), "run.paused");
  await readUntil(await eventsFrom(first, runId), "node.waiting");
  const texts = Promise.all([owner.text(), watcher.text()]);
  first.child.kill("SIGTERM");
  for (const text of await texts) {
    expect(text.endsWith(": draining\n\n")).toBe(true);
    expect(text).not.toContain("summary");
  }
  expect(await first.ended).toEqual([0, null]);
  const second = await spawnServer(dir);
  expect(await getRun(second, runId)).toMatchObject({ status: "running", endedAt: null });
  expect(await getRun(second, parked)).toMatchObject({ status: "paused" });
  await invoke(as(second), "cancel_run", { runId });
  expectLegal(await readEvents(await eventsFrom(second, runId)));
});

test("a server whose writer dies ends with 70, and the next one has the runs", async () => {
  const dir = temporaryFolder();
  const first = await spawnServer(dir);
  const runId = await startRun(first, { dsl: SLEEP });
  await readUntil(await eventsFrom(first, runId), "node.waiting");
  first.child.send("lose the writer");
  expect(await first.ended).toEqual([70, null]);
  expect(first.log.some((line) => line.includes("the store is lost"))).toBe(true);
  const second = await spawnServer(dir);
  expect(await getRun(second, runId)).toMatchObject({ status: "running" });
});

test("a server that cannot be built gives its folder back", async () => {
  const dir = temporaryFolder();
  const key = join(dir, "audit.key");
  mkdirSync(key); // no file, so it cannot be read
  const build = () =>
    createServer({ store: dir, credentials: { store: "memory" }, log: keepLog() });
  await expect(build()).rejects.toMatchObject({ code: "EISDIR" });
  rmdirSync(key);
  await (await build()).close();
});

describe("a run that cannot go on", () => {
  const CALLER = `flow 1 caller

node call: subflow {
  flow = "naps"
}
`;
  const naps = (forMs: string) => parseFlow(SLEEP.replace("1h", forMs)).graph;

  /** Where the flow that is called comes from: the same, another, or nowhere. */
  const subflowsOf = (graph: FlowGraph | null) => ({
    get: async () => (graph === null ? null : { graph, digest: digest(graph) }),
  });

  async function over(
    dir: string,
    called: FlowGraph | null = naps("1h"),
    registry = createStandardRegistry([scriptedNode]),
  ) {
    const store = await openStore({ dir });
    const engine = createEngine({ host: createNodeHost(), journal: store.journal });
    const executor = createLocalExecutor({
      engine,
      store,
      registry,
      subflows: subflowsOf(called),
      maxLiveRuns: 1,
      log: keepLog(),
    });
    const close = async () => {
      await executor.close({ graceMs: 0 });
      await store.close();
    };
    onTestFinished(close);
    return { executor, store, close };
  }

  async function until(
    executor: Awaited<ReturnType<typeof over>>["executor"],
    runId: string,
    wanted: string,
  ) {
    for await (const page of executor.attach(runId)) {
      if (page.some(({ kind }) => kind === wanted)) return;
    }
  }

  async function logOf(executor: Awaited<ReturnType<typeof over>>["executor"], runId: string) {
    const lines: string[] = [];
    for await (const page of executor.attach(runId)) {
      lines.push(...page.map(({ line }) => Buffer.from(line).toString()));
    }
    return lines.map((line) => JSON.parse(line) as AnyEvent);
  }

  test("is none whose called flows have changed, or are gone: it goes on with those of its start", async () => {
    const dir = temporaryFolder();
    const first = await over(dir);
    const { graph } = parseFlow(CALLER);
    for (const runId of ["begun", "queued"]) {
      await first.executor.start({ graph, inputs: {}, trigger: "api", runId });
    }
    await until(first.executor, "begun", "node.waiting");
    await first.close();
    for (const called of [naps("2h"), null]) {
      const next = await over(dir, called);
      expect(await next.executor.recover()).toMatchObject({ resumed: 1, failed: 0 });
      await until(next.executor, "begun", "node.waiting");
      await next.close();
    }
  });

  test("because a type of its flow is gone ends with resume_impossible, queued or not", async () => {
    const dir = temporaryFolder();
    const first = await over(dir);
    const { graph } = parseFlow(`${SLEEP}\nnode later: test.scripted {\n  delayMs = 1\n}\n`);
    for (const runId of ["begun", "queued"]) {
      await first.executor.start({ graph, inputs: {}, trigger: "api", runId });
    }
    await until(first.executor, "begun", "node.waiting");
    await first.close();
    const second = await over(dir, null, createStandardRegistry());
    expect(await second.executor.recover()).toMatchObject({ resumed: 0, parked: 0, failed: 2 });
    for (const runId of ["begun", "queued"]) {
      const log = await logOf(second.executor, runId);
      expectLegal(log, graph);
      expect(log.at(-1)).toMatchObject({
        kind: "summary",
        status: "failed",
        error: {
          code: "resume_impossible",
          message: expect.stringContaining("no longer compiles"),
        },
      });
    }
  });

  test("because the key of its private values is gone ends with resume_impossible", async () => {
    const dir = temporaryFolder();
    const first = await over(dir);
    const { graph } = parseFlow(SLEEP);
    await first.executor.start({ graph, inputs: {}, trigger: "api", runId: "private" });
    await until(first.executor, "private", "node.waiting");
    await first.store.journal.putValue("private", "nap#1", "hush", { private: true });
    await first.close();
    rmSync(join(dir, "key"));
    const second = await over(dir);
    expect(await second.executor.recover()).toMatchObject({ failed: 1 });
    const log = await logOf(second.executor, "private");
    expectLegal(log, graph);
    expect(log.at(-1)).toMatchObject({
      status: "failed",
      error: { code: "resume_impossible", message: expect.stringContaining("private value") },
    });
  });

  /** Starts a run, and stops and starts its server so many times in the middle of it. */
  async function restarted(dsl: string, times: number, at: string) {
    const dir = temporaryFolder();
    const { graph } = parseFlow(dsl);
    let server = await over(dir);
    await server.executor.start({ graph, inputs: {}, trigger: "api", runId: "again" });
    await until(server.executor, "again", at);
    for (let restart = 1; restart <= times; restart += 1) {
      await server.close();
      server = await over(dir);
      await server.executor.recover();
    }
    return server.executor;
  }

  test("because it only kills its process ends with crash_loop after the fifth recovery", async () => {
    const dsl = "flow 1 work\n\nnode work: test.scripted {\n  hang = true\n}\n";
    const executor = await restarted(dsl, 6, "node.started");
    const log = await logOf(executor, "again");
    expectLegal(log);
    expect(log.filter(({ kind }) => kind === "run.resumed")).toHaveLength(6);
    expect(log.at(-1)).toMatchObject({ status: "failed", error: { code: "crash_loop" } });
  });

  test("is none that only sleeps, however often its server is stopped", async () => {
    const executor = await restarted(SLEEP, 7, "node.waiting");
    expect(await executor.get("again")).toMatchObject({ status: "running" });
    await executor.cancel("again", { reason: "user" });
    const log = await logOf(executor, "again");
    expectLegal(log);
    expect(log.filter(({ kind }) => kind === "run.resumed")).toHaveLength(7);
  });
});
