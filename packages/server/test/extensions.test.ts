/** Extensions under a real server: whatever one of them does, the server answers and other runs come to their end. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CatalogEntry, ExecutionEvent, FlowReport, Page } from "@millrace/contracts";
import { type RunningServer, start } from "@millrace/server";
import {
  actionCode,
  adapterCode,
  changeFile,
  extensionProject,
  packageFolder,
} from "@millrace/test-support/extension-project";
import { sharedFolder } from "@millrace/test-support/folder";
import { afterAll, beforeAll, expect, test } from "vitest";
import { invoke, type KeptLog, keepLog, post } from "./support/server.ts";

const PROBES = `
  const tell = async (probe) => { try { await probe(); return "worked"; } catch (error) { return error.code ?? error.name; } };
`;

/** Long enough for a machine that does much else; what hangs is waited for while everything else is tested. */
const LOAD_MS = 15_000;

const project = sharedFolder();
let hanging: Promise<Done>;
let server: RunningServer;
let log: KeptLog;

/** A package with one adapter of its own name. */
const one = (id: string, run: string, more: { head?: string; effect?: string } = {}) => ({
  name: `@acme/${id}`,
  code: adapterCode(id, actionCode("go", run, more.effect ?? 'effect: "read"'), more.head ?? ""),
});

beforeAll(async () => {
  const plain = (id: string) => adapterCode(id, actionCode("go", "() => ({ ok: true })"));
  const marker = JSON.stringify(join(project, "imported.txt"));
  await extensionProject(
    [
      one("good", "() => ({ ok: true })"),
      { ...one("second", "() => ({})"), code: plain("good") },
      one("changed", "() => ({})"),
      { ...one("greedy", "() => ({})"), permissions: { net: ["api.example:443"] }, granted: {} },
      { ...one("unlocked", "() => ({})"), locked: false },
      one("unreadable", "() => ({})"),
      one("future", "() => ({})"),
      one("liar", "() => ({})"),
      {
        ...one("shy", "() => ({ ok: true })"),
        code: `import { writeFileSync } from "node:fs";\nwriteFileSync(${marker}, "x");\n${plain("shy")}`,
        catalogCode: plain("shy"),
        mode: "inProcess",
      },
      {
        name: "@acme/bad_import",
        code: `throw new Error("hunter2");\n${plain("bad_import")}`,
        catalogCode: plain("bad_import"),
      },
      {
        name: "@acme/hanging",
        code: `await new Promise(() => setInterval(() => {}, 1000));\n${plain("hanging")}`,
        catalogCode: plain("hanging"),
      },
      { name: "@acme/stale", code: plain("other"), catalogCode: plain("stale") },
      one("thrower", '() => { throw new TypeError("hunter2"); }'),
      one("deaf", '(_, ctx) => { ctx.log("info", "begun"); for (;;); }'),
      one("dying", "() => { process.exit(3); }"),
      one("writer", "() => { process.exit(3); }", { effect: 'effect: "write"' }),
      one(
        "hungry",
        // Arrays as large as the heap: nothing that the collector would be at for seconds.
        "() => { const all = []; for (;;) all.push(new Array(30_000_000)); }",
      ),
      one(
        "rejecting",
        "() => { Promise.reject(new Error('late')); return new Promise(() => {}); }",
      ),
      one(
        "flooding",
        `() => { for (let i = 0; i < 150; i += 1) fs.writeSync(3, JSON.stringify({ op: "x", i }) + "\\n"); return new Promise(() => {}); }`,
        { head: 'import fs from "node:fs";' },
      ),
      {
        ...one(
          "blocking",
          "() => { const end = Date.now() + 1100; while (Date.now() < end); return {}; }",
        ),
        mode: "inProcess",
      },
      {
        ...one(
          "stubborn",
          'async (_, ctx) => { ctx.log("info", "begun"); await new Promise((go) => setTimeout(go, 1500)); return {}; }',
        ),
        mode: "inProcess",
      },
      {
        ...one(
          "probe",
          `async ({ outside, inside }) => { ${PROBES}
            const fs = await import("node:fs"); const net = await import("node:net");
            return {
              read: await tell(() => fs.readFileSync(outside)),
              write: await tell(() => fs.writeFileSync(outside, "x")),
              granted: fs.readFileSync(inside, "utf8"),
              spawn: await tell(async () => (await import("node:child_process")).spawnSync("true")),
              worker: await tell(async () => new (await import("node:worker_threads")).Worker("1", { eval: true })),
              addon: await tell(() => process.dlopen({ exports: {} }, inside)),
              connect: await tell(() => net.connect(1, "127.0.0.1")),
              socket: await tell(() => new net.Socket().connect(1, "127.0.0.1")),
              fetch: await tell(() => fetch("http://127.0.0.1:1")),
              env: Object.keys(process.env).filter((name) => !name.startsWith("NODE_")),
            }; }`,
        ),
        permissions: { fs: { read: ["$project/open"] }, env: ["PATH"] },
      },
    ],
    project,
  );
  mkdirSync(join(project, "open"));
  writeFileSync(join(project, "open", "a.txt"), "granted");
  writeFileSync(join(project, "secret.txt"), "secret");
  const file = (name: string, path: string) => join(packageFolder(project, `@acme/${name}`), path);
  changeFile(file("changed", "dist/extension.js"), (text) => `${text} `);
  changeFile(file("unreadable", "package.json"), () => "{");
  changeFile(file("future", "package.json"), (text) =>
    text.replace('"apiVersion": 1', '"apiVersion": 2'),
  );
  changeFile(file("liar", "package.json"), (text) => text.replace('"liar.go"', '"liar.more"'));
  rmSync(join(project, "imported.txt"), { force: true });
  // The first folder is granted when it is there.
  const names =
    "good second changed greedy unlocked unreadable future liar missing shy bad_import hanging stale thrower deaf dying writer hungry rejecting flooding blocking stubborn probe";
  log = keepLog();
  server = await start({
    port: 0,
    signals: false,
    store: "memory",
    log,
    extensions: {
      folder: project,
      list: names.split(" ").map((name) => `@acme/${name}`),
      times: { loadMs: LOAD_MS, backoffMs: 1, killMs: 150 },
    },
  });
  hanging = run("node a: hanging.go {}");
});

afterAll(async () => {
  await server?.close({ graceMs: 0 });
});

interface Done {
  readonly status: string;
  readonly error?: { readonly code: string; readonly retryable: boolean; readonly message: string };
  readonly outputs: { readonly [name: string]: unknown };
}

/** Runs flow text to its end and answers its summary. */
async function run(...lines: string[]): Promise<Done> {
  const response = await post(server, "/api/run", { dsl: `flow 1 x\n\n${lines.join("\n")}\n` });
  const last = (await response.text())
    .trimEnd()
    .split("\n")
    .findLast((line) => line.startsWith("data: "));
  return JSON.parse(last?.slice(6) ?? "{}") as Done;
}

const entry = async (type: string): Promise<CatalogEntry> =>
  (await (await fetch(`${server.url}/api/nodes/${type}`)).json()) as CatalogEntry;

/** The server answers, and a flow without the extension in question comes to its end. */
async function stands(): Promise<void> {
  expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
  expect(await run('node a: log { message = "still here" }')).toMatchObject({
    status: "succeeded",
  });
}

test("what cannot be used is listed with its problem, told once, and no flow with it is valid", async () => {
  const problems = {
    changed: "extension_changed",
    greedy: "extension_permissions_changed",
    unlocked: "extension_not_locked",
  };
  for (const [name, code] of Object.entries(problems)) {
    expect(await entry(`${name}.go`)).toMatchObject({ state: "failed", problem: { code } });
  }
  const told = log.lines
    .filter(({ message }) => message === "extension")
    .map(({ fields }) => fields);
  for (const [extension, code] of [
    ...Object.entries(problems),
    ["second", "extension_conflict"],
    ["unreadable", "extension_manifest_invalid"],
    ["future", "extension_api_unsupported"],
    ["liar", "extension_manifest_invalid"],
    ["missing", "extension_missing"],
  ]) {
    const lines = told.filter(
      (line) => (line as { extension: string }).extension === `@acme/${extension}`,
    );
    expect(lines, extension).toEqual([expect.objectContaining({ code })]);
  }
  const report = await invoke<FlowReport>(server, "validate_flow", {
    dsl: "flow 1 x\n\nnode a: changed.go {}\n",
  });
  expect(report.diagnostics).toContainEqual(expect.objectContaining({ code: "FLOW3001" }));
  await stands();
});

test("listing and validating run no code of an extension; running does", async () => {
  const page = (await (await fetch(`${server.url}/api/nodes?q=shy`)).json()) as Page<CatalogEntry>;
  const [listed] = page.items;
  expect(listed).toMatchObject({
    type: "shy.go",
    state: "ready",
    runtime: { mode: "inProcess", enforcement: { net: "none", fs: "none" } },
    source: { package: "@acme/shy", version: "1.4.0" },
  });
  await invoke(server, "validate_flow", { dsl: "flow 1 x\n\nnode a: shy.go {}\n" });
  expect(existsSync(join(project, "imported.txt"))).toBe(false);
  expect(await run("node a: shy.go {}")).toMatchObject({ status: "succeeded" });
  expect(existsSync(join(project, "imported.txt"))).toBe(true);
});

test("code that throws when it is loaded, or is not that of its catalog, fails its own types alone", async () => {
  const ends = await Promise.all(["bad_import", "stale"].map((id) => run(`node a: ${id}.go {}`)));
  expect(ends.map(({ error }) => error?.code)).toEqual([
    "extension_load_failed",
    "extension_catalog_stale",
  ]);
  expect(JSON.stringify([ends, log.lines])).not.toContain("hunter2");
  expect(await entry("stale.go")).toMatchObject({
    state: "failed",
    problem: { code: "extension_catalog_stale" },
  });
  await stands();
});

test("a body that throws fails its node, and its message stays with it", async () => {
  const { error } = await run("node a: thrower.go {}");
  expect(error).toMatchObject({ code: "extension_threw", retryable: false });
  expect(JSON.stringify([error, log.lines])).not.toContain("hunter2");
  await stands();
});

test("a process that ends takes its node with it, again only where that does no harm", async () => {
  const ends = await Promise.all(
    ["dying", "writer", "rejecting", "flooding"].map((id) => run(`node a: ${id}.go {}`)),
  );
  expect(ends.map(({ error }) => [error?.code, error?.retryable])).toEqual([
    ["extension_crashed", true],
    ["extension_crashed", false],
    ["extension_crashed", true],
    ["extension_crashed", true],
  ]);
  await stands();
});

test("a process out of memory is one that ended", async () => {
  expect((await run("node a: hungry.go {}")).error).toMatchObject({ code: "extension_crashed" });
  await stands();
});

test("three ends in a minute are the last", async () => {
  await run("node a: dying.go {}");
  expect((await run("node a: dying.go {}")).error?.code).toBe("extension_crashed");
  expect(await entry("dying.go")).toMatchObject({
    state: "failed",
    problem: { code: "extension_quarantined" },
  });
  await stands();
});

/** Starts a run and cancels it at its first line of log; answers the kinds of its events. */
async function cancelled(type: string): Promise<readonly string[]> {
  const { runId } = await invoke<{ runId: string }>(server, "start_run", {
    dsl: `flow 1 x\n\nnode a: ${type} {}\n`,
  });
  const seen: string[] = [];
  const response = await fetch(`${server.url}/api/runs/${runId}/events`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    for (const line of next.value.split("\n").filter((text) => text.startsWith("data: "))) {
      const event = JSON.parse(line.slice(6)) as ExecutionEvent;
      seen.push(event.kind);
      if (event.kind === "log") await invoke(server, "cancel_run", { runId, graceMs: 50 });
    }
  }
  return seen;
}

test("a body that hears no signal is settled, and its process killed", async () => {
  const seen = await cancelled("deaf.go");
  expect(seen).toContain("node.cancelled");
  expect(seen.at(-1)).toBe("summary");
  await warned("@acme/deaf", "extension_ignored_abort");
  await stands();
});

test("in the process of its host a body is only warned of", async () => {
  expect(await run("node a: blocking.go {}")).toMatchObject({ status: "succeeded" });
  await warned("@acme/blocking", "extension_blocked_loop");
  expect(await cancelled("stubborn.go")).toContain("node.cancelled");
  await warned("@acme/stubborn", "extension_ignored_abort");
  await stands();
});

test("a child reaches what it was granted and nothing else, and the catalog says who sees to it", async () => {
  const [outside, inside] = ["secret.txt", "open/a.txt"].map((path) =>
    JSON.stringify(join(project, path)),
  );
  const { outputs } = await run(
    `node a: probe.go { outside = ${outside}`,
    `  inside = ${inside} }`,
    "output told = a",
  );
  const denied = "ERR_ACCESS_DENIED";
  expect(outputs["told"]).toEqual({
    read: denied,
    write: denied,
    granted: "granted",
    spawn: denied,
    worker: denied,
    addon: expect.stringMatching(/^ERR_(ACCESS_DENIED|DLOPEN_(DISABLED|FAILED))$/),
    connect: expect.stringMatching(/^(permission_denied|ERR_ACCESS_DENIED)$/),
    socket: expect.stringMatching(/^(permission_denied|ERR_ACCESS_DENIED)$/),
    fetch: expect.stringMatching(/^(permission_denied|ERR_ACCESS_DENIED)$/),
    env: ["PATH"],
  });
  expect(readFileSync(join(project, "secret.txt"), "utf8")).toBe("secret");
  const net = process.allowedNodeEnvironmentFlags.has("--allow-net") ? "runtime" : "tripwire";
  expect((await entry("probe.go")).runtime).toEqual({
    mode: "child",
    enforcement: { net, fs: "runtime", env: "runtime", spawn: "runtime", native: "runtime" },
  });
});

test("code that never finishes loading fails its own types alone", async () => {
  expect((await hanging).error?.code).toBe("extension_load_failed");
  expect(await entry("hanging.go")).toMatchObject({
    state: "failed",
    problem: { code: "extension_load_failed" },
  });
  await stands();
});

/** Resolves when the log has a warning. */
async function warned(extension: string, code: string): Promise<void> {
  await expect
    .poll(() => log.lines.map(({ fields }) => fields))
    .toContainEqual(expect.objectContaining({ extension, code }));
}
