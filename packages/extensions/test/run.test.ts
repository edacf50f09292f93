/** What code of an extension can do in a run, the same in a process of its own and in that of its host. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { aiSettings } from "@millrace/ai";
import type { CredentialsPort, ExecutionEvent } from "@millrace/contracts";
import { assertLog } from "@millrace/contracts";
import {
  compileFlow,
  createEngine,
  createMemoryJournal,
  createRegistry,
  type Engine,
  type EngineOptions,
  type Plan,
} from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { type ExtensionMode, type Extensions, openExtensions } from "@millrace/extensions";
import { extensionProject } from "@millrace/test-support/extension-project";
import { graphOf, STANDARD_TYPES } from "@millrace/test-support/flows";
import { sharedFolder } from "@millrace/test-support/folder";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const CODE = `
import * as z from "zod";
import { defineAction, defineActionAdapter, defineExtension, defineNodeType, defineProvider, exit, jsonSchema, NodeError } from "@millrace/contracts";
const any = jsonSchema({ type: "object" });
const text = { title: "T", summary: "S" };
const action = (name, run, more = {}) => defineAction({ ...text, name, fields: any, output: any, effect: "read", run, ...more });
let kept;
let opened = 0;
let stopped = 0;
const acts = [
  defineAction({ ...text, name: "forecast", fields: z.object({ city: z.string().min(1), units: z.enum(["c", "f"]).default("c") }),
    output: z.object({ high: z.number(), units: z.string() }), effect: "read",
    run: (f) => f.city === "nowhere" ? { high: "none" } : { high: f.city.length, units: f.units } }),
  action("get", async ({ url }, ctx) => {
    const r = await ctx.fetch(url, { method: "POST", body: "ping", headers: { "x-a": "1" } });
    return { status: r.status, body: await r.json(), type: r.headers.get("content-type") };
  }),
  action("secret", async (_, ctx) => {
    const s = await ctx.credentials.secret("WEATHER_KEY");
    ctx.log("info", "key " + s.reveal(), { json: JSON.stringify(s), text: String(s) });
    return { key: s.reveal() };
  }, { needs: { secrets: ["WEATHER_KEY"] } }),
  action("other_secret", async (_, ctx) => { await ctx.credentials.secret("OTHER"); return {}; }),
  action("files", async ({ path }, ctx) => {
    await ctx.files.write(path, new TextEncoder().encode("hello"), { mode: "replace" });
    const { files } = await ctx.files.list("out");
    const back = await ctx.files.read(path);
    const part = await ctx.files.read(path, { range: { offset: 1, length: 3 } });
    const [text, middle] = [back, part].map(({ data }) => new TextDecoder().decode(data));
    return { text, middle, files: files.map((f) => f.path) };
  }, { effect: "write" }),
  action("leave", () => exit("cold", { by: "x" }), { ports: [{ name: "out" }, { name: "cold" }] }),
  action("meaning", () => { throw new NodeError("weather_http", "answered 503", { retryable: true, status: 503, reason: "server" }); }),
  action("nonsense", () => { throw new Error("hunter2"); }),
  action("big", () => ({ text: "x".repeat(5 * 1024 * 1024) })),
  action("half", () => ({ text: "x".repeat(3 * 1024 * 1024) })),
  action("chatty", (_, ctx) => { for (let i = 0; i < 1500; i += 1) ctx.log("debug", "line " + i); ctx.progress(1, 2); return {}; }),
  action("query", () => ({ then: (go) => { go({ rows: 1 }); } })),
  action("raw", async ({ path }) => ({ text: (await import("node:fs")).readFileSync(path, "utf8") })),
  action("map", () => ({ rows: new Map() })),
  action("infinite", () => ({ high: 1 / 0 })),
  action("warm", () => exit("warm", {}), { ports: [{ name: "hot" }, { name: "cold" }] }),
  action("keep", (_, ctx) => { kept = ctx; return {}; }),
  action("late", async () => {
    const told = [];
    for (const use of [() => kept.log("info", "x"), () => kept.now(), () => kept.fetch("http://127.0.0.1"), () => kept.sleep(1)]) {
      try { await use(); told.push("worked"); } catch (error) { told.push(error.code); }
    }
    return { told };
  }),
  action("settings", (_, ctx) => ({ region: ctx.config.region, opened, now: typeof ctx.now(), random: ctx.random() < 1, key: ctx.idempotencyKey })),
  action("hang", (_, ctx) => new Promise((_, no) => ctx.signal.addEventListener("abort", () => { stopped += 1; no(ctx.signal.reason); }))),
  action("stops", async (_, ctx) => { while (stopped < 2) await ctx.sleep(1); return { stopped }; }),
  action("dice", (_, ctx) => ({ rolled: [ctx.random(), ctx.random()] })),
  action("connect", async ({ other }, ctx) => { await ctx.credentials.connection(other); return {}; }),
];
export default defineExtension({
  adapters: [defineActionAdapter({ id: "weather", title: "Weather", actions: acts, config: z.object({ region: z.string().default("eu") }),
    open: async (_, host) => { opened += 1; return { close: async () => {
      host.log("warn", "closed");
      if (process.permission === undefined) await new Promise(() => {}); // a host that stops does not wait for it
    } }; } })],
  nodeTypes: [defineNodeType({ ...text, type: "approval.quorum", effect: "write", portsFrom: "cases",
    fields: z.object({ cases: z.record(z.string(), z.string()), prompt: z.string() }), output: z.object({ runs: z.number(), by: z.string().nullable() }),
    check: (f) => f.cases !== undefined && Object.keys(f.cases).length === 0 ? [{ pointer: "/cases", code: "no_cases", message: "needs a case", severity: "error" }] : [],
    run: async (f, ctx) => {
      const first = await ctx.step("count", () => (globalThis.__steps = (globalThis.__steps ?? 0) + 1));
      const answer = await ctx.confirm("ask", { prompt: f.prompt });
      const again = await ctx.step("late", () => 7);
      return exit(answer.outcome === "approved" ? "go" : "stop", { runs: first + again, by: answer.by });
    } })],
  providers: [defineProvider({ id: "acme", title: "Acme", create: (config, host) => ({ id: "acme",
    capabilities: async () => ({ tools: true, jsonSchema: false, params: [] }),
    languageModel: (modelId, ctx) => ({ specificationVersion: "v3", provider: "acme", modelId,
      doStream: async ({ prompt, tools = [] }) => {
        const last = prompt.at(-1);
        if (last.role === "tool") modelId = last.content.map(({ output }) => output.value).join();
        const calls = last.role === "tool" ? [] : tools.flatMap(({ name }) => ["c", "d"].map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: name, input: "{}" })));
        const parts = [...calls, { type: "stream-start", warnings: [] }, { type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "hello " },
          { type: "text-delta", id: "1", delta: modelId }, { type: "text-end", id: "1" },
          { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: { inputTokens: { total: 3 }, outputTokens: { total: 2 } } }];
        return { stream: new ReadableStream({ start(c) { for (const p of parts) c.enqueue(p); c.close(); } }) };
      } }) }) })],
  services: [],
});
`;

const credentials = {
  secret: async (name: string) => `value-of-${name}-1234`,
  resolve: () => Promise.reject(new Error("none")),
  renew: () => Promise.reject(new Error("none")),
  refused() {},
} as unknown as CredentialsPort;

/** What the tools of one run drew, in each mode. */
const drawn: unknown[] = [];

describe.each<ExtensionMode>(["child", "inProcess"])("in mode %s", (mode) => {
  const folder = sharedFolder();
  let server: Server;
  let extensions: Extensions;
  let engine: Engine;
  let port: number;
  const told: string[] = [];
  const journal = createMemoryJournal();

  beforeAll(async () => {
    mkdirSync(join(folder, "out"));
    writeFileSync(join(folder, "private.txt"), "private");
    server = createServer((request, response) => {
      request.resume().on("end", () => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ method: request.method, a: request.headers["x-a"] }));
      });
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    port = (server.address() as AddressInfo).port;
    await extensionProject(
      [
        {
          name: "@acme/weather",
          code: CODE,
          mode,
          permissions: {
            net: [`127.0.0.1:${port}`],
            secrets: ["WEATHER_KEY"],
            fs: { read: ["$project/out"], write: ["$project/out"] },
          },
        },
      ],
      folder,
    );
    const host = createNodeHost();
    const egress = { allow: [{ cidr: "127.0.0.1/32" }] };
    extensions = await openExtensions({
      project: folder,
      list: ["@acme/weather"],
      taken: {
        types: createRegistry([STANDARD_TYPES])
          .entries()
          .map(({ type }) => type),
      },
      data: join(folder, "data"),
      config: { weather: { region: "us" } },
      openFetch: host.openFetch,
      egress,
      times: { loadMs: 60_000 }, // a limit for what hangs, on a machine that does much else
      warn: ({ message }) => void told.push(message),
    });
    engine = createEngine(options({ egress, host, files: { root: folder } }));
  });

  afterAll(async () => {
    await engine.close({ graceMs: 0 });
    expect(told).not.toContain("closed");
    await extensions.close();
    server.close();
    expect(told, "an adapter closes what it opened").toContain("closed");
  });

  const options = (more: EngineOptions): EngineOptions => ({
    ...more,
    journal,
    credentials,
    config: extensions.config,
    settings: [aiSettings({ providers: extensions.providers })],
  });

  const planOf = async (source: string): Promise<Plan> => {
    const registry = createRegistry([STANDARD_TYPES, ...extensions.types]);
    const compiled = await compileFlow(graphOf(source), { registry });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
    return compiled.plan;
  };

  /** Runs a flow of these lines and answers how each node ended. */
  const ends = async (
    ...lines: string[]
  ): Promise<{ events: ExecutionEvent[]; of: (node: string) => unknown }> => {
    const plan = await planOf(lines.join("\n"));
    const run = engine.run(plan, {}, { onFailure: "finish" });
    const events: ExecutionEvent[] = [];
    for await (const batch of run.batches()) events.push(...batch);
    assertLog(events, {});
    return {
      events,
      of: (node) => {
        const end = events.find(
          (event) =>
            "node" in event && event.node === node && /^node\.(succeeded|failed)$/.test(event.kind),
        );
        if (end?.kind === "node.failed") return end.error.code;
        return end?.kind === "node.succeeded" ? (end.output ?? end.outputRef) : undefined;
      },
    };
  };

  test("fields have their defaults, outputs are checked, exits are ports, errors have their codes", async () => {
    const { events, of } = await ends(
      'node a: weather.forecast { city = "Oslo" }',
      'node b: weather.forecast { city = "nowhere" }',
      "node c: weather.leave {}",
      "node d: weather.meaning {}",
      "node e: weather.nonsense {}",
      "node f: weather.big {}",
      "node g: weather.settings {}",
      "node j: weather.half {}",
      "node l: weather.query {}",
      "node k: weather.settings {\n a = j.text\n b = j.text\n}",
      "node m: weather.settings { a = [j.text, j.text] }",
      "node h: transform { value = c.by }",
      "c.cold -> h",
    );
    expect(of("a")).toEqual({ high: 4, units: "c" });
    expect(of("b")).toBe("output_schema");
    expect(of("c")).toEqual({ by: "x" });
    expect(of("h")).toEqual({ value: "x" });
    expect(of("d")).toBe("weather_http");
    expect(of("e")).toBe("extension_threw");
    expect(of("f")).toBe("output_too_large");
    expect(of("k")).toBe("output_too_large");
    expect(of("m")).toBe("output_too_large");
    expect(of("l")).toEqual({ rows: 1 });
    expect(of("g")).toMatchObject({ region: "us", opened: 1, now: "number", random: true });
    const failed = events.find((event) => event.kind === "node.failed" && event.node === "d");
    expect(failed).toMatchObject({
      error: { retryable: true, status: 503, message: "answered 503" },
    });
    expect(JSON.stringify(events)).not.toContain("hunter2");
  });

  test("an output that is no JSON, or leaves by no port, fails with what is wrong", async () => {
    const { events, of } = await ends(
      "node a: weather.map {}",
      "node b: weather.infinite {}",
      "node c: weather.warm {}",
    );
    const errors = events.flatMap((event) => (event.kind === "node.failed" ? [event.error] : []));
    expect(errors).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          code: "output_not_json",
          message: "the output holds a Map, which is no JSON, at /rows",
        }),
        expect.objectContaining({
          code: "output_schema",
          message: 'the type weather.warm has no port "warm"; it has hot, cold',
        }),
      ]),
    );
    expect(of("b")).toEqual({ high: null });
    const logs = events.filter((event) => event.kind === "log");
    expect(logs).toMatchObject([
      { level: "warn", text: "output/high: a number that is not finite became null" },
    ]);
  });

  test("network, files and secrets end where the grant ends", async () => {
    const { events, of } = await ends(
      `node a: weather.get { url = "http://127.0.0.1:${port}/x" }`,
      `node b: weather.get { url = "http://127.0.0.2:${port}/x" }`,
      'node c: weather.files { path = "out/a.txt" }',
      'node d: weather.files { path = "private.txt" }',
      "node e: weather.secret {}",
      "node f: weather.other_secret {}",
      'node g: weather.connect { other = "crm" }',
      `node h: weather.raw { path = ${JSON.stringify(join(folder, "private.txt"))} }`,
    );
    expect(of("h")).toEqual(mode === "child" ? "permission_denied" : { text: "private" });
    expect(of("a")).toEqual({
      status: 200,
      body: { method: "POST", a: "1" },
      type: "application/json",
    });
    expect(of("b")).toBe("egress_denied");
    expect(of("c")).toEqual({ text: "hello", middle: "ell", files: ["out/a.txt"] });
    expect(of("d")).toBe("file_denied");
    expect(readFileSync(join(folder, "private.txt"), "utf8")).toBe("private");
    expect(of("e")).toEqual({ key: "[redacted]" });
    expect(of("f")).toBe("capability_denied");
    expect(of("g")).toBe("capability_denied");
    expect(JSON.stringify(events)).not.toContain("value-of");
    expect(events.find(({ kind }) => kind === "log")).toMatchObject({
      text: "key [redacted]",
      data: { json: '"[secret]"', text: "[secret]" },
    });
  });

  test("a flood of lines is cut", async () => {
    // On a clock that stands still every line is of one second.
    const still = createEngine(
      options({ host: { ...createNodeHost(), now: () => 1_800_000_000_000 } }),
    );
    const run = still.run(await planOf("node a: weather.chatty {}"));
    const logs: ExecutionEvent[] = [];
    for await (const batch of run.batches())
      logs.push(...batch.filter(({ kind }) => kind === "log"));
    expect(logs.length).toBe(1_001);
    expect(logs.at(-1)).toMatchObject({ code: "log_rate", level: "warn" });
    await still.close();
  });

  test("nothing works after the attempt", async () => {
    const { of } = await ends(
      "node b: weather.keep {}",
      "node c: weather.late { @when = b != null }",
    );
    expect(of("c")).toEqual({ told: Array(4).fill("attempt_over") });
  });

  test("a check finds literal mistakes before the run, and not where no code may run", async () => {
    const graph = graphOf(
      'node q: approval.quorum { cases = {}, prompt = "?" }'.replace(", ", "\n"),
    );
    const registry = createRegistry([STANDARD_TYPES, ...extensions.types]);
    const compiled = await compileFlow(graph, { registry });
    expect(compiled.diagnostics).toContainEqual(
      expect.objectContaining({
        code: "FLOW3016",
        pointer: "/nodes/0/fields/cases",
        severity: "error",
      }),
    );
    expect((await compileFlow(graph, { registry, withoutCode: true })).ok).toBe(true);
  });

  test("questions and steps are answered by the journal when the process of the host has changed", async () => {
    const plan = await planOf(
      'node q: approval.quorum { cases = { go: "1", stop: "2" }\n prompt = "Go?" }\nnode r: log { message = "gone ${q.runs}" }\nq.go -> r',
    );
    const host = createNodeHost();
    const first = createEngine(options({ host }));
    const run = first.run(plan, {}, { runId: `restart-${mode}` });
    run.result.catch(() => {});
    for await (const batch of run.batches())
      if (batch.some(({ kind }) => kind === "run.paused")) break;
    await first.close({ leave: true });
    const second = createEngine(options({ host }));
    const resumed = await second.resume(`restart-${mode}`, {
      plan,
      confirm: async () => ({ decision: "approve", by: "ann" }),
    });
    expect((await resumed.result).status).toBe("succeeded");
    const events: ExecutionEvent[] = [];
    for await (const batch of resumed.batches()) events.push(...batch);
    const end = events.find((event) => event.kind === "node.succeeded" && event.node === "q");
    // The first step ran once, before the restart.
    expect(end).toMatchObject({ ports: ["go"], output: { runs: 8, by: "ann" } });
    await second.close();
  });

  test("a provider of an extension answers an ai node", async () => {
    const { of } = await ends('node a: ai { provider = "acme"\n modelId = "m1"\n input = "hi" }');
    expect(of("a")).toMatchObject({ text: "hello m1" });
  });

  test("each call of a tool draws numbers of its own, and the same ones when its run is replayed", async () => {
    const plan = await planOf(
      'node a: ai { provider = "acme"\n modelId = "m1"\n input = "hi"\n tools = ["action:weather.dice"]\n}\noutput said = a.text',
    );
    for (const _ of [1, 2]) {
      const again = createEngine({ ...options({}), journal: createMemoryJournal() });
      drawn.push((await again.run(plan, {}, { runId: "of-chance" }).result).outputs);
      await again.close({ graceMs: 0 });
    }
    const [{ said }] = drawn as [{ said: string }];
    expect(new Set(said.match(/0\.\d+/g)).size).toBe(4);
    expect(drawn).toEqual(drawn.map(() => ({ said })));
  });

  test("a call of a tool that is late hears of its own end", async () => {
    const { of } = await ends(
      'node a: ai { provider = "acme"\n modelId = "m1"\n input = "hi"\n tools = [{ ref: "action:weather.hang", timeoutMs: 1 }]\n}',
      "node b: weather.stops { @when = a != null }",
    );
    expect(of("b")).toEqual({ stopped: 2 }); // both calls of it
  });
});
