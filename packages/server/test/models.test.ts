/** Managed models over HTTP: from a file server to a flow's answer, with the real engine, and without any of it. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyEvent, Job, JobRef, Model, ModelEngine } from "@millrace/contracts";
import { COMMANDS } from "@millrace/contracts/commands";
import { type RunningServer, start } from "@millrace/server";
import { describeUnless, noLocalEngine, notFull } from "@millrace/test-support";
import { tinyGguf } from "@millrace/test-support/gguf";
import { createParser } from "eventsource-parser";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { invoke, keepLog, post, problemOf, serve } from "./support/server.ts";
import { expectLegal, readEvents } from "./support/streams.ts";

// Loading the engine takes a second; where every processor has ten programs to run, a minute.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const SAYS = "Hello from a very small local model .";
const MODELS = {
  chain: tinyGguf({ text: SAYS }),
  babble: tinyGguf({ mode: "random" }),
};
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Asks a model of this machine, then the one that is always there. */
const ask = (modelId: string, more = "") => `flow 1 ask

node ask: ai {
  provider = "local"
  modelId = "${modelId}"
  input = "say it"
  temperature = 0
  failover = [{ provider: "mock", modelId: "echo" }]
  failoverRetries = 0
${more}}

output text: string = ask.text
`;

async function run(server: RunningServer, dsl: string): Promise<AnyEvent[]> {
  return readEvents(await post(server, "/api/run", { dsl }));
}

const failures = (events: readonly AnyEvent[]) =>
  events.filter(({ kind }) => kind === "llm.failed") as unknown as {
    readonly reason: string;
    readonly next: string;
  }[];

/** Processes of runners that this process has started. */
function runners(): number {
  const children = readdirSync("/proc/self/task").flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, "utf8").trim().split(" "),
  );
  return children.filter((pid) => pid !== "" && /runner\.js/.test(commandOf(pid))).length;
}

/** Empty for a process that has ended in the meantime. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

describe("without managed models", () => {
  test("commands answer 501, a local target fails with provider_unavailable, and failover goes on", async () => {
    const server = await serve({ models: false });
    const response = await fetch(`${server.url}/api/models`);
    expect(response.status).toBe(501);
    expect((await problemOf(response)).code).toBe("command_not_wired");
    const ofModels = [...COMMANDS.values()].filter(({ http }) =>
      /^\/api\/(?:models|engines)/.test(http?.path ?? ""),
    );
    expect(ofModels).toHaveLength(13);
    for (const { name, http } of ofModels) {
      const byName = await post(server, "/api/invoke", { command: name, args: {} });
      const path = (http?.path ?? "").replace(/:\w+/g, "x");
      const byRoute = await fetch(server.url + path, { method: http?.method ?? "GET" });
      expect([name, byName.status, byRoute.status]).toEqual([name, 501, 501]);
    }
    const meta = await invoke<{ features: { models: boolean } }>(server, "get_meta", {});
    expect(meta.features.models).toBe(false);
    const events = await run(server, ask("chain"));
    expectLegal(events);
    expect(failures(events)).toMatchObject([{ reason: "not_found", next: "failover" }]);
    expect(events.at(-1)).toMatchObject({ status: "succeeded", outputs: { text: "say it" } });
    const alone = await run(server, ask("chain").replace(/ {2}failover = .*\n/, ""));
    expect(alone.at(-1)).toMatchObject({
      status: "failed",
      exitCode: 6,
      error: { code: "provider_unavailable" },
    });
  });
});

describeUnless(notFull ?? (await noLocalEngine()))("models over HTTP", () => {
  let dir: string;
  let files: Server;
  let server: RunningServer;
  let origin: string;
  const frames: { channel: string; payload: unknown }[] = [];
  const leaving = new AbortController();
  let rssBefore = 0;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "millrace-models-"));
    files = createServer((request, response) => {
      const name = /^\/(\w+)\.gguf$/.exec(request.url ?? "")?.[1] as keyof typeof MODELS;
      const bytes = MODELS[name];
      if (bytes === undefined) response.writeHead(404).end();
      else response.writeHead(200, { "content-length": bytes.length }).end(bytes);
    });
    await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
    server = await start({
      port: 0,
      signals: false,
      store: "memory",
      log: keepLog(),
      egress: { allow: [{ cidr: "127.0.0.0/8" }] },
      models: { dir: join(dir, "models"), maxLoaded: 2 },
    });
    const stream = await fetch(`${server.url}/api/models/events`, { signal: leaving.signal });
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    const parser = createParser({ onEvent: ({ data }) => frames.push(JSON.parse(data)) });
    const decoder = new TextDecoder();
    void (async () => {
      for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
        parser.feed(decoder.decode(chunk, { stream: true }));
      }
    })().catch(() => undefined);
    rssBefore = process.memoryUsage().rss;
  });

  afterAll(async () => {
    leaving.abort();
    await server.close({ graceMs: 0 });
    files.close();
    expect(runners()).toBe(0);
    await rm(dir, { recursive: true, force: true });
  });

  const get = async <T>(path: string): Promise<T> =>
    (await (await fetch(server.url + path)).json()) as T;
  const state = async (id: string) => (await get<Model>(`/api/models/${id}`)).state;

  async function seen(check: (frame: (typeof frames)[number]) => boolean): Promise<void> {
    while (!frames.some(check)) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async function install(id: keyof typeof MODELS): Promise<void> {
    const source = `${origin}/${id}.gguf`;
    const answer = await post(server, "/api/models/install", {
      source,
      id,
      sha256: sha256(MODELS[id]),
    });
    expect(answer.status).toBe(202);
    const { jobId } = (await answer.json()) as JobRef;
    expect(jobId).toMatch(/^job_/);
    await seen(({ payload }) => {
      const { stage, message } = payload as { stage?: string; message?: string };
      return (stage === "done" || stage === "error") && message?.startsWith(id) === true;
    });
  }

  async function oneLeft(): Promise<void> {
    while (runners() > 1) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  test("a model is installed from a URL, told of as it goes, and listed", async () => {
    expect(await get<ModelEngine[]>("/api/engines")).toMatchObject([
      { id: "llama-cpp", state: "ready", source: "peer" },
    ]);
    await install("chain");
    await install("babble");
    const told = frames.filter(({ channel }) => channel === "models:install_progress");
    for (const { payload } of told) {
      expect(Object.keys(payload as object).sort()).toEqual([
        "current",
        "jobId",
        "message",
        "stage",
        "total",
      ]);
    }
    const stages = told
      .map(({ payload }) => payload as { stage: string; message: string })
      .filter(({ message }) => message.startsWith("chain"))
      .map(({ stage }) => stage);
    expect([...new Set(stages)]).toEqual(["resolve", "download", "verify", "register", "done"]);
    const jobs = await get<Job[]>("/api/models/jobs");
    const installs = jobs.filter(({ kind }) => kind === "install");
    expect(installs).toMatchObject([
      { modelId: "chain", stage: "done", error: null },
      { modelId: "babble", stage: "done", error: null },
    ]);
    const [{ id = "" } = {}] = installs;
    const ofJob = told.filter(({ payload }) => (payload as { jobId: string }).jobId === id);
    expect(ofJob.at(-1)?.payload).toMatchObject({ stage: "done", message: "chain" });
    expect(await get<Job>(`/api/models/jobs/${id}`)).toEqual(installs[0]);
    expect(await get<Job[]>("/api/models/jobs?open=true")).toEqual([]);
    const unknown = await fetch(`${server.url}/api/models/jobs/job_0`);
    expect(await problemOf(unknown)).toMatchObject({ code: "not_found", resource: "job" });
    const registered = frames.filter(({ channel }) => channel === "models:registered");
    expect(registered.map(({ payload }) => payload)).toEqual(["chain", "babble"]);
    const page = await get<{ items: Model[] }>("/api/models?state=ready&limit=1");
    expect(page).toMatchObject({
      items: [{ id: "babble", state: "ready", verified: true, origin: "managed", runtime: null }],
      nextCursor: expect.any(String),
    });
    const { models } = (await get<{ features: { models: boolean } }>("/api/meta")).features;
    expect(models).toBe(true);
  });

  test("a scan finds them again", async () => {
    const answer = await post(server, "/api/models/scan", {});
    expect(answer.status).toBe(202);
    await seen(
      ({ channel, payload }) =>
        channel === "models:scan_complete" && (payload as { count: number }).count === 2,
    );
  });

  test("a flow's ai node says the model's text, streamed, to its end", async () => {
    const events = await run(server, ask("chain"));
    expectLegal(events);
    expect(events.at(-1)).toMatchObject({ status: "succeeded", outputs: { text: SAYS } });
    const deltas = events.filter(({ kind }) => kind === "llm.delta") as unknown as {
      text: string;
    }[];
    expect(deltas.map(({ text }) => text).join("")).toBe(SAYS);
    expect(events.find(({ kind }) => kind === "llm.finished")).toMatchObject({
      finish: "stop",
      usage: { outputTokens: 9 },
    });
    expect(failures(events)).toEqual([]);
    expect(await get<Model>("/api/models/chain")).toMatchObject({
      state: "loaded",
      runtime: { pid: expect.any(Number), active: 0, queued: 0 },
      lastUsedAt: expect.any(String),
    });
  });

  test("a model that babbles keeps to a schema", async () => {
    const schema = `  outputSchema = { type: "object", required: ["mood", "sure"], properties: { mood: { enum: ["good", "bad"] }, sure: { type: "boolean" }, why: { type: "string", maxLength: 20 } } }
  seed = 4
  repairMax = 0
`;
    const events = await run(
      server,
      ask("babble", schema).replace("temperature = 0", "temperature = 1"),
    );
    expect(failures(events)).toEqual([]);
    const { outputs } = events.at(-1) as unknown as { outputs: { text: string } };
    expect(JSON.parse(outputs.text)).toMatchObject({
      mood: expect.stringMatching(/good|bad/),
      sure: expect.any(Boolean),
    });
    expect([await state("chain"), await state("babble")]).toEqual(["loaded", "loaded"]);
    expect(runners()).toBe(2);
  });

  test("a schema that no grammar holds is asked for in words, and the answer is checked all the same", async () => {
    const schema = `  outputSchema = { type: "object", required: ["n"], properties: { n: { type: "number", minimum: 0 } } }
  maxTokens = 8
  repairMax = 0
`;
    const events = await run(server, ask("chain", schema));
    expect(failures(events).map(({ reason }) => reason)).not.toContain("bad_request");
    expect(events.some(({ kind }) => kind === "llm.rejected")).toBe(true);
  });

  test("a process that is killed while it answers is failed over, and loaded again later", async () => {
    const response = await post(server, "/api/run", {
      dsl: ask("babble", "  seed = 1\n  maxTokens = 1900\n").replace(
        "temperature = 0",
        "temperature = 1",
      ),
    });
    const decoder = new TextDecoder();
    let text = "";
    let killed = false;
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      if (killed || !text.includes('"llm.delta"')) continue;
      killed = true;
      const { runtime } = await get<Model>("/api/models/babble");
      process.kill(runtime?.pid ?? 0, "SIGKILL");
    }
    const events = text
      .split("\n\n")
      .filter((frame) => frame.startsWith("data: "))
      .map((frame) => JSON.parse(frame.slice("data: ".length)) as AnyEvent);
    expectLegal(events);
    expect(failures(events)).toMatchObject([{ reason: "stream_cut", next: "failover" }]);
    expect(events.at(-1)).toMatchObject({ status: "succeeded", outputs: { text: "say it" } });
    // Its socket may be cut before its end is known.
    await expect
      .poll(() => get<Model>("/api/models/babble"))
      .toMatchObject({
        state: "crashed",
        error: { code: "runner_crashed", signal: "SIGKILL" },
      });
    const loaded = await post(server, "/api/models/babble/load", { wait: true, ttlMs: 1 });
    expect(loaded.status).toBe(200);
    await oneLeft();
    await expect.poll(() => state("babble")).toBe("ready");
  });

  test("unloading ends a process, and a load that nobody waits for begins one", async () => {
    const ended = await post(server, "/api/models/chain/unload", {});
    expect(ended.status).toBe(202);
    expect(await ended.json()).toMatchObject({ state: "ready", runtime: null });
    expect(runners()).toBe(0);
    const begun = await post(server, "/api/models/chain/load", { contextSize: 512, threads: 1 });
    expect(begun.status).toBe(202);
    while ((await state("chain")) === "ready")
      await new Promise((resolve) => setTimeout(resolve, 5));
    const refused = await fetch(`${server.url}/api/models/chain`, { method: "DELETE" });
    expect([refused.status, (await problemOf(refused)).code]).toEqual([409, "in_use"]);
    const waited = await post(server, "/api/models/chain/load", { wait: true });
    expect(await waited.json()).toMatchObject({ runtime: { contextSize: 512, threads: 1 } });
  });

  test("what is not there, is there already or is done is refused by its code", async () => {
    const source = `${origin}/chain.gguf`;
    const install = (more: object) => post(server, "/api/models/install", { source, ...more });
    const again = await install({ id: "chain", sha256: sha256(MODELS.chain) });
    const { jobId } = (await again.json()) as JobRef;
    const cancel = (id: string) => post(server, `/api/models/jobs/${id}/cancel`, {});
    const rows: [Promise<Response>, number, string][] = [
      [fetch(`${server.url}/api/models/none`), 404, "not_found"],
      [post(server, "/api/models/none/load", { wait: true }), 404, "not_found"],
      [install({ id: "other" }), 422, "digest_required"],
      [install({ id: "chain", sha256: "0".repeat(64) }), 409, "already_exists"],
      [cancel("job_none"), 404, "not_found"],
      [cancel(jobId), 409, "state_conflict"],
    ];
    for (const [answer, status, code] of rows) {
      const response = await answer;
      expect([response.status, (await problemOf(response)).code]).toEqual([status, code]);
    }
    const events = await run(server, ask("none"));
    expect(failures(events)).toMatchObject([{ reason: "not_found", next: "failover" }]);
    const alone = await run(server, ask("none").replace(/ {2}failover = .*\n/, ""));
    expect(alone.at(-1)).toMatchObject({ exitCode: 6, error: { code: "model_unavailable" } });
  });

  test.each([
    "../x",
    "/etc/passwd",
    "a\u0000b",
    "x".repeat(300),
    "ｑwen",
    "а",
    "a..b",
    "A",
    "a:",
    "",
  ])("%j is the id of no model, on every command", async (modelId) => {
    const calls: [string, object][] = [
      ...["get_model", "load_model", "unload_model", "remove_model"].map(
        (name): [string, object] => [name, { modelId }],
      ),
      ["install_model", { source: `${origin}/chain.gguf`, id: modelId, allowUnverified: true }],
    ];
    for (const [command, args] of calls) {
      const response = await post(server, "/api/invoke", { command, args });
      expect([command, response.status, (await problemOf(response)).code]).toEqual([
        command,
        422,
        "invalid_args",
      ]);
    }
  });

  test("removing takes files, processes and memory away", async () => {
    expect(await state("chain")).toBe("loaded");
    const forced = await fetch(`${server.url}/api/models/chain?force=true`, { method: "DELETE" });
    expect(forced.status).toBe(204);
    expect((await fetch(`${server.url}/api/models/babble`, { method: "DELETE" })).status).toBe(204);
    expect(await get<{ items: Model[] }>("/api/models")).toEqual({ items: [], nextCursor: null });
    expect(readdirSync(join(dir, "models/files"))).toEqual([]);
    expect(readdirSync(join(dir, "models/runners"))).toEqual([]);
    expect(existsSync(join(dir, "models/files/chain.gguf"))).toBe(false);
    expect(runners()).toBe(0);
    const jobs = await get<Job[]>("/api/engines");
    expect(jobs).toHaveLength(1);
    // Models live in processes of their own: here only their answers have passed.
    expect(process.memoryUsage().rss - rssBefore).toBeLessThan(256 * 1_048_576);
  });
});
