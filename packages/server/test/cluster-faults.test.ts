/** Faults of a cluster, one at a time: servers in processes of their own over PostgreSQL, alone or with three nodes of Restate. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { checkLog, parseEventStrict } from "@millrace/contracts";
import { openPostgresDatabase } from "@millrace/store-postgres";
import { describeLongWith, testUnless } from "@millrace/test-support";
import {
  type ClusterGround,
  type ClusterKind,
  PROGRAMS_OF,
  startClusterGround,
} from "@millrace/test-support/executor";
import { serveHttp } from "@millrace/test-support/loopback";
import { bundleProgram } from "@millrace/test-support/program";
import { afterAll, beforeAll, expect, test } from "vitest";

const CHILD = new URL("../../../bench/durable/chaos-child.js", import.meta.url);
/** `MILLRACE_CLUSTER=postgres` tries the same without Restate, as the chaos does each time. */
const KIND: ClusterKind = process.env["MILLRACE_CLUSTER"] === "postgres" ? "postgres" : "restate";
const SERVERS = 3;
const PATIENCE = { timeout: 60_000, interval: 50 };
const TEST_MS = 180_000;

/** Nodes one after another, each of which takes a tenth of a second. */
function flowOf(nodes: number): string {
  const ids = Array.from({ length: nodes }, (_, at) => `n${at}`);
  const lines = ids.map((id) => `node ${id}: delay {\n  for = 100ms\n}`);
  return `flow 1 slow\n\n${lines.join("\n\n")}\n\n${ids.join(" -> ")}\n`;
}

interface Server {
  readonly url: string;
  readonly child: ChildProcess;
  /** Messages of its log, with the run that each is of. */
  readonly said: string[];
}

let ground: ClusterGround;
let program: string;
let folder: string;
let database: Awaited<ReturnType<typeof openPostgresDatabase>>;
const servers: Server[] = [];

async function begin(at: number): Promise<Server> {
  const words = [program, join(folder, String(at)), ground.optionOf(at), "log"];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"] });
  const said: string[] = [];
  createInterface(child.stderr).on("line", (line) => {
    if (!line.startsWith("{")) return;
    const { msg, runId } = JSON.parse(line) as { msg: string; runId?: string };
    said.push([msg, runId].join(" ").trim());
  });
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    text += chunk;
    if (text.endsWith("\n")) break;
  }
  const server = { url: text.trim(), child, said };
  servers[at] = server;
  return server;
}

const serverAt = (at: number): Server => servers[at % SERVERS] as Server;

/** Waits until a server has said this, or one of all. */
async function saidBy(of: readonly Server[], message: string): Promise<void> {
  await expect.poll(() => of.flatMap(({ said }) => said), PATIENCE).toContain(message);
}

async function start(
  at: number,
  {
    nodes = 20,
    dsl = flowOf(nodes),
    runId,
    key,
  }: { nodes?: number; dsl?: string; runId?: string; key?: string } = {},
): Promise<Response> {
  return fetch(`${serverAt(at).url}/api/runs`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { "idempotency-key": key }) },
    body: JSON.stringify({ dsl, ...(runId && { options: { runId } }) }),
  });
}

/** Starts a run; answers its id. */
async function started(at: number, nodes?: number): Promise<string> {
  const response = await start(at, nodes === undefined ? {} : { nodes });
  expect(response.status).toBe(202);
  return ((await response.json()) as { runId: string }).runId;
}

async function statusOf(runId: string, at = 0): Promise<unknown> {
  const response = await fetch(`${serverAt(at).url}/api/runs/${runId}`).catch(() => undefined);
  return response?.ok ? ((await response.json()) as { status: unknown }).status : undefined;
}

async function readinessOf(at: number): Promise<unknown> {
  return (await fetch(`${serverAt(at).url}/api/ready`)).json();
}

/** The log of a run as this server tells it. */
async function textOf(runId: string, at: number): Promise<string> {
  const headers = { accept: "application/x-ndjson" };
  return (await fetch(`${serverAt(at).url}/api/runs/${runId}/events`, { headers })).text();
}

/** Waits for the end of a run, whose log is legal and the same at every server; answers the kinds of its events. */
async function endOf(runId: string): Promise<string[]> {
  await expect.poll(() => statusOf(runId), PATIENCE).toBe("succeeded");
  const text = await textOf(runId, 0);
  for (let at = 1; at < SERVERS; at += 1) expect(await textOf(runId, at)).toBe(text);
  const events = text.trim().split("\n").map(parseEventStrict);
  expect(checkLog(events)).toEqual([]);
  return events.map(({ kind }) => kind);
}

/** The number of the server that drives a run. */
async function driverOf(runId: string): Promise<number> {
  const sql = "SELECT s.url FROM run r JOIN server s ON s.id = r.holder WHERE r.id = ?";
  const row = await database.get(sql, [runId]);
  return servers.findIndex(({ url }) => url === row?.["url"]);
}

/** A server of the test that answers only when it is told to. */
async function holdRequests() {
  const held: ServerResponse[] = [];
  const { url } = await serveHttp((_incoming, outgoing) => void held.push(outgoing));
  return {
    url: `${url}/`,
    count: () => held.length,
    release(): void {
      for (const outgoing of held) outgoing.end("{}");
    },
  };
}

describeLongWith(...PROGRAMS_OF[KIND])(`a cluster of three servers: ${KIND}`, () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "millrace-cluster-"));
    [ground, program] = await Promise.all([
      startClusterGround(SERVERS, { kind: KIND }),
      bundleProgram(readFileSync(CHILD, "utf8"), CHILD.href),
    ]);
    await begin(0); // makes the tables
    await Promise.all([begin(1), begin(2)]);
    const key = Buffer.from(ground.key, "hex");
    database = await openPostgresDatabase({ url: ground.postgres.url, key });
  }, TEST_MS);
  afterAll(async () => {
    await database?.close();
    for (const { child } of servers) child.kill("SIGKILL");
    await ground?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("of many starts with one id, or with one key, at all servers one makes a run", {
    timeout: TEST_MS,
  }, async () => {
    const ids = Array.from({ length: 30 }, (_, at) => start(at, { nodes: 2, runId: "one" }));
    const statuses = (await Promise.all(ids)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(1);
    expect(new Set(statuses)).toEqual(new Set([202, 409]));
    const keys = Array.from({ length: 30 }, (_, at) => start(at, { nodes: 2, key: "same" }));
    const answers = await Promise.all(keys);
    const taken = answers.filter(({ status }) => status === 202);
    const bodies = await Promise.all(taken.map((answer) => answer.json() as Promise<object>));
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    await endOf("one");
  });

  test("a run of a server that stands still is driven by another one, and nothing follows when it wakes", {
    timeout: TEST_MS,
  }, async () => {
    const held = await holdRequests();
    const dsl = `flow 1 asks\n\nnode ask: http.request {\n  url = "${held.url}"\n}\n`;
    const { runId } = (await (await start(0, { dsl })).json()) as { runId: string };
    await expect.poll(held.count, PATIENCE).toBe(1);
    const at = await driverOf(runId);
    const { child } = serverAt(at);
    child.kill("SIGSTOP");
    try {
      await expect.poll(held.count, PATIENCE).toBe(2);
      expect([at, -1]).not.toContain(await driverOf(runId));
      held.release();
      await expect.poll(() => statusOf(runId, at + 1), PATIENCE).toBe("succeeded");
    } finally {
      child.kill("SIGCONT");
    }
    expect(await endOf(runId)).toContain("run.resumed");
    const before = await textOf(runId, at + 1);
    await endOf(await started(at, 2)); // it works again
    expect(await textOf(runId, at)).toBe(before);
    await saidBy([serverAt(at)], `run.claimed ${runId}`);
    await saidBy([serverAt(at)], `run.fenced ${runId}`);
    await saidBy([serverAt(at + 1), serverAt(at + 2)], `run.taken_over ${runId}`);
    const page = await (await fetch(`${serverAt(at).url}/api/metrics`)).text();
    expect(page).toMatch(/^millrace_fenced_appends_total [1-9]/m);
    expect(page).toMatch(/^millrace_claims_total\{outcome="taken"\} [1-9]/m);
    expect(page).toMatch(/^millrace_rings_total\{outcome="sent"\} [1-9]/m);
  });

  test("a server that is told to stop hands its runs over and ends well", {
    timeout: TEST_MS,
  }, async () => {
    const runs = await Promise.all(Array.from({ length: 6 }, (_, at) => started(at)));
    await expect.poll(() => driverOf(runs[0] as string), PATIENCE).toBeGreaterThanOrEqual(0);
    const at = await driverOf(runs[0] as string);
    const stopped = serverAt(at);
    const exited = once(stopped.child, "exit");
    stopped.child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    await saidBy([stopped], `run.left ${runs[0]}`);
    await begin(at);
    for (const runId of runs) await endOf(runId);
  });

  testUnless(KIND === "restate" ? undefined : "no Restate was asked for")(
    "without Restate starts are taken, and run when it is back, though it has lost everything",
    async () => {
      const { restate } = ground;
      await Promise.all([0, 1, 2].map((node) => restate?.kill(node)));
      for (const at of servers.keys()) {
        const degraded = { status: "ok", dispatcher: "degraded" };
        await expect.poll(() => readinessOf(at), PATIENCE).toEqual(degraded);
      }
      const runs = await Promise.all(Array.from({ length: 3 }, (_, at) => started(at, 2)));
      for (const runId of runs) expect(await statusOf(runId)).toBe("pending");
      await saidBy(servers, "dispatcher.lost");
      await restate?.wipe();
      for (const runId of runs) await endOf(runId);
      await expect.poll(() => readinessOf(0), PATIENCE).toEqual({ status: "ok", dispatcher: "ok" });
      await saidBy(servers, "dispatcher.back");
    },
    TEST_MS,
  );

  test("without PostgreSQL nothing is taken; runs and readers go on when it is back", {
    timeout: TEST_MS,
  }, async () => {
    const runs = await Promise.all(Array.from({ length: 4 }, (_, at) => started(at, 30)));
    const readers = runs.map((runId, at) => readAll(runId, at));
    await expect.poll(() => driverOf(runs[0] as string), PATIENCE).toBeGreaterThanOrEqual(0);
    await ground.postgres.down("immediate");
    const refused = await start(0, { nodes: 2 });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: "store_unavailable" });
    await saidBy([serverAt(0)], "store.lost");
    await ground.postgres.up();
    for (const runId of runs) await endOf(runId);
    await saidBy([serverAt(0)], "store.back");
    expect(await Promise.all(readers)).toEqual(
      await Promise.all(runs.map((runId) => textOf(runId, 0))),
    );
  });
});

/** Reads a run to its end, coming back where it stopped, as a client does. */
async function readAll(runId: string, from: number): Promise<string> {
  const lines: string[] = [];
  for (let at = from; !lines.at(-1)?.includes('"kind":"summary"'); at += 1) {
    const headers = { accept: "application/x-ndjson", "last-event-id": `${lines.length}` };
    try {
      const response = await fetch(`${serverAt(at).url}/api/runs/${runId}/events`, { headers });
      let rest = "";
      for await (const chunk of response.ok ? (response.body ?? []) : []) {
        const parts = (rest + Buffer.from(chunk).toString()).split("\n");
        rest = parts.pop() ?? "";
        lines.push(...parts);
      }
    } catch {
      // the server has ended the stream
    }
    await sleep(50);
  }
  return `${lines.join("\n")}\n`;
}
