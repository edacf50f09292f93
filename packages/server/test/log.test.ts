/** The log of a server: its lines are those of the reference, each run has one, and no secret is in any. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import type { NewWebhook, RunRef } from "@millrace/contracts";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { createServer, start } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, test } from "vitest";
import { createLogger } from "../src/server/logger.ts";
import { createTestClock } from "./support/clock.ts";
import { ASK_PLAINLY, HELLO, SLEEP } from "./support/flows.ts";
import { loggedLines } from "./support/log-page.ts";
import { createSchedule, saveTemplate } from "./support/schedules.ts";
import { invoke, type KeptLog, keepLog, post, sendRaw, serve } from "./support/server.ts";
import { readEvents } from "./support/streams.ts";

const TOKEN = "0123456789abcdef-anna";
const bearer = { authorization: `Bearer ${TOKEN}` };
/** Patience for what a busy machine does later. */

/** The fields of the lines with this message. */
function linesOf({ lines }: KeptLog, message: string): readonly object[] {
  return lines.filter((line) => line.message === message).map(({ fields }) => fields);
}

const said = (log: KeptLog): readonly string[] => log.lines.map(({ message }) => message);

test("an error is shown by its name, which the class of a small program has not", () => {
  const written: string[] = [];
  const keep = (line: string): string => {
    written.push(line);
    return "";
  };
  const log = createLogger(keep, { level: "info", format: "json" });
  class Si extends Error {
    override readonly name = "ConfigError";
  }
  log.error({ err: new Si("no such file") }, "server.not_reloaded");
  log.error({ err: "text" }, "server.not_reloaded");
  expect(written.map((line) => JSON.parse(line).err)).toMatchObject([
    { type: "ConfigError", message: "no such file" },
    "text",
  ]);
});

test("a run is one line at its end: who started it, how it ended, how long it took", async () => {
  const log = keepLog();
  const server = await serve({ log, tokens: [`anna:admin:${TOKEN}`] });
  const failing = 'flow 1 fails\n\nnode bad: fail {\n  message = "secret-text"\n}\n';
  const good = await readEvents(
    await post(server, "/api/run", { dsl: HELLO }, { headers: bearer }),
  );
  await readEvents(await post(server, "/api/run", { dsl: failing }, { headers: bearer }));
  const { runId } = good[0] as { runId: string };
  const started = { template: null, trigger: "api", by: "anna", retryOf: null };
  await expect
    .poll(() => linesOf(log, "run.ended"))
    .toEqual([
      {
        ...{ runId, flow: "hello", ...started, status: "succeeded", code: null, node: null },
        ms: expect.any(Number),
      },
      expect.objectContaining({ flow: "fails", ...started, status: "failed", node: "bad" }),
    ]);
  expect(linesOf(log, "run.started")).toHaveLength(2);
  expect(inspect(log.lines, { depth: null })).not.toContain("secret-text");
});

test("a run that waits for a person says so, and that it goes on", async () => {
  const log = keepLog();
  const server = await serve({ log });
  const { runId } = await invoke<RunRef>(server, "start_run", { dsl: ASK_PLAINLY });
  const about = { runId, flow: "ask-plainly", reason: "confirmation" };
  await expect.poll(() => linesOf(log, "run.paused")).toEqual([about]);
  await invoke(server, "resolve_confirmation", {
    ...{ runId, confirmationId: "k1", decision: "approve" },
  });
  await expect.poll(() => said(log)).toContain("run.ended");
  expect(linesOf(log, "run.resumed")).toEqual([about]);
});

test("a server that stops names what it waits for and what it leaves; the next one names what it takes up", async () => {
  const store = temporaryFolder();
  const [first, second] = [keepLog(), keepLog()];
  const one = await start({
    ...{ port: 0, signals: false, store, log: first, drainMs: 50 },
    credentials: { store: "memory" },
  });
  const { runId } = await invoke<RunRef>(one, "start_run", { dsl: SLEEP });
  await expect.poll(() => said(first)).toContain("run.started");
  await one.close();
  expect(linesOf(first, "server.draining")).toEqual([
    { graceMs: 50, runs: 1, waitsFor: [{ runId, flow: "sleep" }] },
  ]);
  expect(linesOf(first, "run.left")).toEqual([{ runId, flow: "sleep", state: "running" }]);
  expect(linesOf(first, "server.stopped")).toMatchObject([
    { finished: 0, cancelled: 0, parked: 1 },
  ]);
  const other = await createServer({ store, log: second, credentials: { store: "memory" } });
  expect(linesOf(second, "server.recovered")).toMatchObject([{ resumed: 1, parked: 0, failed: 0 }]);
  await expect.poll(() => linesOf(second, "run.recovered")).toEqual([{ runId, flow: "sleep" }]);
  await other.close({ graceMs: 0 });
});

test("a run that was cancelled before it began says who had asked for it, also after a restart", async () => {
  const store = temporaryFolder();
  const [first, second] = [keepLog(), keepLog()];
  const common = { store, credentials: { store: "memory" }, maxLiveRuns: 1 } as const;
  const tokens = [`anna:admin:${TOKEN}`];
  const one = await serve({ ...common, log: first, tokens });
  const ask = (server: typeof one, command: string, args: object) =>
    post(server, "/api/invoke", { command, args }, { headers: bearer }).then((answer) =>
      answer.json(),
    );
  await ask(one, "start_run", { dsl: SLEEP });
  const { runId } = (await ask(one, "start_run", { dsl: HELLO })) as RunRef;
  await one.close({ graceMs: 0 });
  const two = await serve({ ...common, log: second, tokens });
  await ask(two, "cancel_run", { runId });
  const ended = { runId, flow: "hello", trigger: "api", by: "anna", status: "cancelled" };
  await expect.poll(() => linesOf(second, "run.ended")).toEqual([expect.objectContaining(ended)]);
});

test("a fire time that starts nothing is a line with the reason", async () => {
  const log = keepLog();
  const clock = createTestClock(Date.parse("2026-03-01T12:00:00.000Z"));
  const server = await serve({ clock, log });
  await saveTemplate(server, "sleep", SLEEP);
  const { id: scheduleId } = await createSchedule(server, { template: "sleep", everyMs: 60_000 });
  await clock.pass(130_000);
  await expect
    .poll(() => linesOf(log, "schedule.skipped"))
    .toEqual([{ scheduleId, fireTime: Date.parse("2026-03-01T12:02:00.000Z"), reason: "overlap" }]);
  const [run] = (await invoke<{ items: RunRef[] }>(server, "list_runs", {})).items;
  await invoke(server, "cancel_run", { runId: run?.runId, graceMs: 0 });
  await expect
    .poll(() => linesOf(log, "run.ended"))
    .toMatchObject([{ template: "sleep", trigger: "schedule", by: scheduleId }]);
});

test("a line names the token that was refused by nothing but why", async () => {
  const log = keepLog();
  const server = await serve({ log, tokens: [TOKEN] });
  await fetch(`${server.url}/api/runs`);
  const headers = { authorization: "Bearer 0123456789abcdef-other" };
  await fetch(`${server.url}/api/runs?token=x`, { headers });
  expect(linesOf(log, "token.rejected")).toMatchObject([
    { method: "GET", path: "/api/runs", client: "127.0.0.1", reason: "missing" },
    { method: "GET", path: "/api/runs", client: "127.0.0.1", reason: "unknown" },
  ]);
});

test("no secret is in any line, wherever it was sent", async () => {
  const SECRET = "hush-0123456789abcdef";
  const log = keepLog();
  const server = await serve({
    ...{ log, webhooks: true, tokens: [`anna:admin:${SECRET}-token`] },
    credentials: { store: memoryCredentialStore() },
  });
  const headers = { authorization: `Bearer ${SECRET}-token`, "content-type": "application/json" };
  const call = (path: string, body?: unknown, more: Record<string, string> = {}) =>
    fetch(server.url + path, {
      ...{ method: body === undefined ? "GET" : "POST", headers: { ...headers, ...more } },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const command = (name: string, args: object) => call("/api/invoke", { command: name, args });
  const flow = `flow 1 keeps

input password: string

node say: log {
  message = inputs.password
}

node bad: fail {
  message = inputs.password
}
`;
  // In what a run is given, says and fails with; in what the server stores.
  await (await call("/api/run", { dsl: flow, inputs: { password: SECRET } })).text();
  await command("save_template", {
    slug: "keeps",
    dsl: flow.replace("message = i", `message = "${SECRET}" + i`),
  });
  const made = await command("create_webhook", { template: "hook", input: "call", secret: SECRET });
  expect(made.status).toBe(404);
  const hooked = 'flow 1 hook\n\ninput call: object\n\nnode bad: fail {\n  message = "no"\n}\n';
  await command("save_template", { slug: "hook", dsl: hooked });
  const hook = (await (
    await command("create_webhook", { template: "hook", input: "call", secret: SECRET })
  ).json()) as NewWebhook;
  const { token: hookToken } = hook;
  expect(hookToken.length).toBeGreaterThan(20);
  await command("set_service_secret", { slug: "github", secret: SECRET });
  await command("update_settings", { patch: { run: { timeoutMs: SECRET } }, ifMatch: "*" });
  // In paths, queries and headers, right and wrong.
  for (const path of [`/hooks/${hookToken}`, `/%68ooks/${hookToken}`, `/hooks/${hookToken}/more`]) {
    await call(path, { a: SECRET }, { "millrace-signature": `t=1,v1=${SECRET}` });
  }
  await call(`/api/runs?cursor=${SECRET}`);
  await call("/api/runs", undefined, { authorization: `Bearer ${SECRET}-wrong` });
  await call("/api/runs", undefined, { "x-api-key": SECRET, cookie: `a=${SECRET}` });
  await call("/api/runs", { dsl: "flow 1 x\n" }, { "idempotency-key": SECRET });
  await sendRaw(server, `GET /api/runs?${SECRET} HTTP/1.1\r\nHost: a b\r\nX-A: ${SECRET}\r\n\r\n`);
  await sendRaw(server, `GET //${SECRET} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await server.close({ graceMs: 0 });
  const lines = inspect(log.lines, { depth: null, maxStringLength: null, maxArrayLength: null });
  expect(lines).toContain("/hooks/:token");
  expect(lines).not.toContain(SECRET);
  expect(lines).not.toContain(hookToken);
});

test("the reference has every line that the sources log, at its level, and no other", () => {
  const folders = ["server", "restate", "store-postgres", "cli"].map((name) =>
    fileURLToPath(new URL(`../../${name}/src`, import.meta.url)),
  );
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(join(folder, name), "utf8")),
  );
  const found = new Map<string, string>();
  for (const text of files) {
    for (const { 0: call, 1: level = "", index } of text.matchAll(CALL)) {
      const rest = insideOf(text, index + call.length);
      const last = rest.slice(rest.lastIndexOf("}") + 1);
      for (const [, message = ""] of last.matchAll(/"([a-z_]+(?:\.[a-z_]+)*)"/g)) {
        found.set(message, level);
      }
    }
  }
  expect([...found].sort()).toEqual([...loggedLines()].sort());
});

/** Begin of a call of a log. Its last argument is the message, or one of two. */
const CALL = /\blog\??\.(debug|info|warn|error)\(/g;

/** The text from here to the bracket that closes. */
function insideOf(text: string, from: number): string {
  let depth = 1;
  let at = from;
  for (; depth > 0; at += 1) depth += text[at] === "(" ? 1 : text[at] === ")" ? -1 : 0;
  return text.slice(from, at - 1);
}
