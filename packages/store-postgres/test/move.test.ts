/** A store with rows of every kind is moved from a folder into PostgreSQL, however often the move is cut. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { EncodedEvent, Json } from "@millrace/contracts";
import { createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { openStore, type Store } from "@millrace/store";
import {
  type MoveOptions,
  type MoveTarget,
  moveStore,
  openPostgresStore,
} from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { graphOf, planOf } from "@millrace/test-support/flows";
import { sharedFolder, temporaryFolder } from "@millrace/test-support/folder";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { bundleProgram } from "@millrace/test-support/program";
import { appendAll, linesOf, logOf, startRun } from "@millrace/test-support/store";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { KEY, newClient, newSchema } from "./open.ts";
import { newWire } from "./proxy.ts";

const BEGIN = 1_770_000_000_000;
const LARGE = "x".repeat(100_000);
const SECRET = { password: "hunter2" };

const QUESTION = graphOf(`
node ask: confirm { prompt = "go on?" }
node after: transform { value = "went on" }
ask.approved -> after
output said: any = after.value`);

function eventsOf(first: number, bodies: readonly object[]): EncodedEvent[] {
  return bodies.map((body, index) => {
    const event = { v: 1, runId: "waiting", seq: first + index, ts: BEGIN + index, ...body };
    const line = Buffer.from(JSON.stringify(event));
    return {
      seq: event.seq,
      kind: Reflect.get(event, "kind"),
      line,
      event,
    } as unknown as EncodedEvent;
  });
}

/** Fills a store with rows of every table. */
async function fill(store: Store): Promise<void> {
  const { journal, templates, schedules, hubs } = store;
  const { graph } = startRun(7);
  const template = { slug: "daily", name: "Daily", description: "", tags: ["a"], graph };
  const digest = `sha256:${"cd".repeat(32)}` as const;
  const more = { source: { kind: "local" }, digest, dsl: "flow" } as const;
  for (const expected of [null, 1]) {
    await templates.save({ ...template, ...more, name: `Daily ${expected}` } as never, expected);
  }
  await schedules.put({ id: "s", body: { cron: "* * * * *" }, enabled: true, nextAt: BEGIN });
  await appendAll(journal, logOf(7), { tags: { team: "a", city: "Zürich" }, template: "daily" });
  await appendAll(journal, logOf(8));
  const { epoch } = await journal.create(
    { ...startRun(9), runId: "waiting" },
    {
      request: { scope: "token", key: "k", fingerprint: new Uint8Array(32).fill(3) },
      fire: { scheduleId: "s", fireTime: BEGIN, outcome: "started", nextAt: BEGIN + 60_000 },
      signature: { hash: "ab".repeat(32), ttlMs: 600_000 },
    },
  );
  const events = eventsOf(1, [
    { kind: "run.started", flow: { id: "f", hash: digest } },
    { kind: "node.waiting", node: "a", attempt: 1, on: "timer", until: BEGIN + 99_000 },
    { kind: "confirm.requested", id: "k1", node: "b", attempt: 1, prompt: "NUL \0 here?" },
  ]);
  await journal.append("waiting", 0, events, { epoch, sync: true });
  await journal.putValue("waiting", "a#1", { small: "a \0 b" });
  await journal.putValue("waiting", "b#1", LARGE);
  await journal.putValue("waiting", "c#2", SECRET, { private: true });
  await journal.putValue("waiting", "d", SECRET, { private: true, kept: true });
  await journal.release("waiting", epoch);
  await store.settings.set({ "/ai/model": "local/small" });
  const hub = { id: "h", url: "https://hub.example", name: "Hub" };
  await hubs.put(hub as never);
  const item = { id: "i", kind: "template" };
  await hubs.setIndex("h", { serial: 3, items: [item as never], syncedAt: "2026-01-01T00:00:00Z" });
  await store.webhooks.put({ id: "w", tokenHash: "ef".repeat(32), body: { template: "daily" } });
  await store.outbox.write([{ id: "o", rev: null, next: { body: { to: "x" }, dueAt: 5 } }]);
  await store.connections.put({
    ...{ slug: "mail", status: "connected", scope: "a b", expiresAt: null },
    body: { account: "me" },
  });
}

/** The folder that all tests move; none of them changes it. */
const dir = sharedFolder();
/** What its file was before it was moved. */
let before = "";

const fileDigest = (): string =>
  createHash("sha256")
    .update(readFileSync(join(dir, "millrace.db")))
    .digest("hex");

async function newTarget(): Promise<MoveTarget & { readonly schema: string }> {
  const { url } = await sharedPostgres();
  return { url, key: KEY, schema: newSchema() };
}

async function opened(target: MoveTarget): Promise<Store> {
  const store = await openPostgresStore(target);
  onTestFinished(() => store.close());
  return store;
}

const move = (target: MoveTarget, options?: MoveOptions) => moveStore({ dir }, target, options);

/** The next try, which waits until PostgreSQL knows that the one before is gone. */
const again = (target: MoveTarget) => move(target).catch(({ code }) => ({ code }));

/** Moves a folder, says each table that it has written to, and stands still in the middle. */
const MOVER = `
import { writeSync } from "node:fs";
import { moveStore } from "@millrace/store-postgres";
const [dir, url, schema] = process.argv.slice(2);
const progress = (table) => {
  writeSync(1, table + "\\n");
  if (table === "journal") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};
await moveStore({ dir }, { url, schema, key: new Uint8Array(32).fill(7) }, { progress });
`;

describeWith("postgres")("moving a store", () => {
  beforeAll(async () => {
    const store = await openStore({ dir });
    await fill(store);
    const engine = createEngine({ host: createNodeHost(), journal: store.journal });
    const run = engine.run(await planOf(QUESTION), {}, { runId: "asks" });
    await vi.waitFor(() => expect(run.confirmations()).toHaveLength(1), 30_000);
    await engine.close({ leave: true });
    await run.result.catch(() => {});
    await store.close();
    before = fileDigest();
  });

  test("copies rows of every table, and says so by counts and digests", async () => {
    const target = await newTarget();
    const report = await move(target);
    expect(report.tables.filter(({ isEqual }) => !isEqual)).toEqual([]);
    expect(report.tables.filter(({ source }) => source.rows === 0)).toEqual([]);
    const rows = report.tables.reduce((sum, { source }) => sum + source.rows, 0);
    expect(report).toMatchObject({ isEqual: true, copied: rows - 2 }); // two rows of meta are taken over
    expect(fileDigest()).toBe(before);

    const old = await openStore({ dir, readonly: true });
    onTestFinished(() => old.close());
    const store = await opened(target);
    for (const id of ["r7", "r8", "waiting", "asks"]) {
      expect(await linesOf(store.journal, id)).toEqual(await linesOf(old.journal, id));
      expect(await store.runs.summary(id)).toEqual(await old.runs.summary(id));
    }
    const state = { ...(await store.journal.load("waiting")), events: [] };
    expect(state).toEqual({ ...(await old.journal.load("waiting")), events: [] });
    expect(state).toMatchObject({
      steps: { "b#1": LARGE },
      privateValues: { "c#2": SECRET, d: SECRET },
    });
    expect(await store.templates.versions("daily")).toEqual(await old.templates.versions("daily"));
    expect(await store.schedules.fires("s", 9)).toEqual(await old.schedules.fires("s", 9));
    expect(await store.settings.all()).toEqual({ "/ai/model": "local/small" });
    expect(await store.hubs.items("h")).toEqual(await old.hubs.items("h"));

    const kindsOf = async (from: Store) =>
      (await from.feed.read(0)).map(({ seq, kind }) => [seq, kind]);
    expect(await kindsOf(store)).toEqual(await kindsOf(old));
    expect(await store.feed.last()).toBe(await old.feed.last());
    const first = await old.runs.list({ limit: 1 });
    const page = { limit: 50, cursor: String(first.nextCursor) };
    expect(await store.runs.list(page)).toEqual(await old.runs.list(page));
  });

  test("a live run goes on in the new store, and new runs get new numbers", async () => {
    const target = await newTarget();
    await move(target);
    const store = await opened(target);
    const client = await newClient(target.url);
    const { rows } = await client.query(
      `SELECT id, owner, holder, bell_at IS NOT NULL AS rings FROM ${target.schema}.run ORDER BY id`,
    );
    expect(rows).toEqual([
      { id: "asks", owner: null, holder: null, rings: true },
      { id: "r7", owner: null, holder: null, rings: false },
      { id: "r8", owner: null, holder: null, rings: false },
      { id: "waiting", owner: null, holder: null, rings: true },
    ]);
    const engine = createEngine({ host: createNodeHost(), journal: store.journal });
    onTestFinished(() => engine.close());
    const plan = await planOf(QUESTION);
    const run = await engine.resume("asks", { plan });
    await expect.poll(() => run.confirmations().length).toBe(1);
    expect(await run.confirm("k1", { decision: "approve" })).toEqual({ ok: true });
    expect(await run.result).toMatchObject({
      status: "succeeded",
      outputs: { said: "went on" },
    });
    const last = await store.feed.last();
    await appendAll(store.journal, logOf(11));
    expect(await store.feed.last()).toBeGreaterThan(last);
    expect((await store.runs.list({ limit: 1 })).items[0]?.runId).toBe("r11");
  });

  test("goes on where it was killed", async () => {
    const target = await newTarget();
    const program = await bundleProgram(MOVER, import.meta.url);
    const child = spawn(process.execPath, [program, dir, target.url, target.schema], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const seen: string[] = [];
    for await (const table of createInterface(child.stdout)) {
      seen.push(table);
      if (table === "journal") break;
    }
    child.kill("SIGKILL");
    expect(seen).toContain("run");
    await expect.poll(() => child.signalCode ?? child.exitCode).not.toBe(null);
    await expect(openPostgresStore(target)).rejects.toMatchObject({ code: "store_unavailable" });
    await expect.poll(() => again(target)).toMatchObject({ isEqual: true });
    expect(await move(target)).toMatchObject({ isEqual: true, copied: 0 });
  });

  test.each([
    ["after", 'INSERT INTO "graph"'],
    ["after", 'INSERT INTO "journal"'],
    ["before", 'INSERT INTO "feed"'],
    ["after", "UPDATE feed_head"],
  ] as const)("goes on when the connection was cut %s %s", async (when, word) => {
    const target = await newTarget();
    const wire = await newWire(target.url);
    wire[when === "after" ? "cutAfter" : "cutBefore"](word);
    const cut = move({ ...target, url: wire.url });
    await expect(cut).rejects.toMatchObject({ code: "store_unavailable" });
    expect(wire.cuts).toBe(1);
    await expect.poll(() => again(target)).toMatchObject({ isEqual: true });
  });

  test("begins anew when the source was written to in between", async () => {
    const source = temporaryFolder();
    const write = async (id: string, value: Json) => {
      const store = await openStore({ dir: source });
      await store.settings.set({ [id]: value });
      await store.close();
    };
    await write("/a", 1);
    const target = await newTarget();
    const stop = new AbortController();
    const stopped = moveStore({ dir: source }, target, {
      progress: () => stop.abort(new Error("stopped")),
      signal: stop.signal,
    });
    await expect(stopped).rejects.toThrow("stopped");
    await write("/a", 2);
    expect(await moveStore({ dir: source }, target)).toMatchObject({ isEqual: true });
    expect(await (await opened(target)).settings.all()).toEqual({ "/a": 2 });
  });

  test("compares without copying, and finds a byte that is not the same", async () => {
    const target = await newTarget();
    await expect(move(target, { check: true })).rejects.toMatchObject({
      code: "store_unavailable",
    });
    await move(target);
    expect(await move(target, { check: true })).toMatchObject({ isEqual: true, copied: 0 });
    const client = await newClient(target.url);
    await client.query(
      `UPDATE ${target.schema}.journal SET line = set_byte(line, 5, 120) WHERE seq = 2 AND run = 1`,
    );
    const report = await move(target, { check: true });
    expect(report.isEqual).toBe(false);
    expect(report.tables.filter(({ isEqual }) => !isEqual)).toMatchObject([{ table: "journal" }]);
  });

  test("refuses a target that takes no writes before it sends anything", async () => {
    const target = await newTarget();
    const url = new URL(target.url);
    url.searchParams.set("options", "-c default_transaction_read_only=on");
    const readOnly = { ...target, url: url.href };
    await expect(move(readOnly)).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("it takes no writes: it is a standby"),
    });
  });

  test("refuses a source in use, a target in use or with rows, and another key", async () => {
    const target = await newTarget();
    const held = temporaryFolder();
    const holder = await openStore({ dir: held });
    onTestFinished(() => holder.close());
    await expect(moveStore({ dir: held }, target)).rejects.toMatchObject({
      code: "store_locked",
      message: expect.stringContaining("stop it first"),
    });
    const server = await opened(target);
    await expect(move(target)).rejects.toMatchObject({
      code: "store_locked",
      message: expect.stringContaining("servers use the store"),
    });
    await server.settings.set({ "/a": 1 });
    await server.close();
    await expect(move(target)).rejects.toMatchObject({
      code: "path_exists",
      message: expect.stringContaining("setting"),
    });
    const other = { ...target, key: new Uint8Array(32) };
    await expect(move(other)).rejects.toMatchObject({ code: "store_wrong_key" });
    await expect(moveStore({ dir: temporaryFolder() }, target)).rejects.toMatchObject({
      code: "store_unavailable",
    });
  });
});
