/** What a server says and still does when its store takes no writes, and while it takes up runs. */
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page, Run, RunRef } from "@millrace/contracts";
import { createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { type Caller, createApp, createLocalExecutor, createServer } from "@millrace/server";
import { type Condition, openMemoryStore, type Store, StoreError } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, onTestFinished, test } from "vitest";
import { watchConditions, withoutEchoes } from "../src/observe/conditions.ts";
import { HELLO, SLEEP } from "./support/flows.ts";
import { type KeptLog, keepLog } from "./support/server.ts";

const admin: Caller = { tokenId: null, role: "admin", requestId: "r", remote: null };

/** An app over a store that says of itself what the test wants. */
async function build() {
  const { host, close } = await createServer({ store: "memory", log: keepLog() });
  let condition: Condition = "ok";
  const inner = openMemoryStore();
  const store: Store = Object.create(inner, { condition: { get: () => condition } });
  const engine = createEngine({ host: createNodeHost(), journal: store.journal });
  const executor = createLocalExecutor({ engine, store });
  const app = createApp({ ...host, store, executor, journal: store.journal });
  onTestFinished(async () => {
    condition = "ok";
    await app.drain({ graceMs: 0 });
    await close();
  });
  const send = (path: string, body?: object) =>
    app.fetch(
      new Request(`http://localhost${path}`, {
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
        headers: { "content-type": "application/json" },
      }),
    );
  return {
    app,
    executor,
    send,
    set: (next: Condition) => {
      condition = next;
    },
  };
}

test("on a full disk nothing is begun and nothing is written, but runs can be read and cancelled", async () => {
  const { app, send, set } = await build();
  const { runId } = (await app.invoke("start_run", { dsl: SLEEP }, admin)) as RunRef;
  set("store_full");
  for (const [path, body] of [
    ["/api/runs", { dsl: HELLO }],
    ["/api/run", { dsl: HELLO }],
    ["/api/runs?waitMs=1000", { dsl: HELLO }],
    ["/api/templates/import", { text: HELLO }],
    ["/api/invoke", { command: "prune_runs", args: { status: ["failed"] } }],
  ] as const) {
    const response = await send(path, body);
    expect(response.status, path).toBe(507);
    expect(response.headers.get("retry-after"), path).toMatch(/^\d+$/);
    expect(await response.json(), path).toMatchObject({ code: "store_full" });
  }
  const ready = await send("/api/ready");
  expect(ready.status).toBe(503);
  expect(await ready.json()).toEqual({ status: "store" });
  expect((await send("/api/health")).status).toBe(200);
  expect((await app.invoke("list_runs", {}, admin)) as Page<unknown>).toMatchObject({
    items: [{ runId }],
  });
  await app.invoke("cancel_run", { runId }, admin);
  const run = (await app.invoke("get_run", { runId }, admin)) as Run;
  expect(["cancelling", "cancelled"]).toContain(run.status);
  set("ok");
  expect((await send("/api/ready")).status).toBe(200);
  expect((await send("/api/runs", { dsl: HELLO })).status).toBe(202);
});

test.each(["store_read_only", "store_unavailable"] as const)(
  "a store that is %s is 503 for whatever does more than read",
  async (condition) => {
    const { app, send, set } = await build();
    const { runId } = (await app.invoke("start_run", { dsl: SLEEP }, admin)) as RunRef;
    set(condition);
    for (const [path, body] of [
      ["/api/runs", { dsl: HELLO }],
      [`/api/runs/${runId}/cancel`, {}],
      ["/api/templates/import", { text: HELLO }],
    ] as const) {
      const response = await send(path, body);
      expect(response.status, path).toBe(503);
      expect(response.headers.has("retry-after"), path).toBe(condition === "store_unavailable");
      expect(await response.json(), path).toMatchObject({ code: condition });
    }
    expect(await (await send("/api/ready")).json()).toEqual({ status: "store" });
    expect((await send(`/api/runs/${runId}`)).status).toBe(200);
  },
);

test("the metrics of a server whose store cannot be read say so, without what only the store knows", async () => {
  const { host, close } = await createServer({ store: "memory", log: keepLog() });
  onTestFinished(() => close());
  const away = new StoreError("store_unavailable", "the database is away; try again later");
  const schedules = { due: () => Promise.reject(away) };
  const store: Store = Object.create(host.store, { schedules: { value: schedules } });
  const app = createApp({ ...host, store });
  const response = await app.fetch(new Request("http://localhost/api/metrics"));
  expect(response.status).toBe(200);
  const page = await response.text();
  expect(page).toMatch(/^millrace_store_up 0$/m);
  expect(page).toMatch(/^millrace_driven_runs 0$/m);
  expect(page).not.toMatch(/^millrace_(?:runs\{|schedule_lag)/m);
});

test("while the store is away the log is not told so again and again by whatever asks the store", () => {
  const kept = keepLog();
  const store = { condition: "store_unavailable" as Condition };
  const log = withoutEchoes(kept, store);
  const away = new StoreError("store_unavailable", "away");
  log.error({ err: away }, "schedule.failed");
  log.warn({ err: away }, "bells.not_read");
  log.error({ err: away, requestId: "r" }, "request.failed");
  log.error({ err: away }, "process.fatal");
  log.error({ err: away, runId: "r1" }, "run.not_taken_up");
  log.error({ err: new StoreError("store_corrupt", "damaged") }, "schedule.failed");
  store.condition = "ok";
  log.error({ err: away }, "notifications.failed");
  expect(kept.lines.map(({ message }) => message)).toEqual([
    ...["request.failed", "process.fatal", "run.not_taken_up", "schedule.failed"],
    "notifications.failed",
  ]);
});

/** Lines of a log about the store. */
const linesOfStore = ({ lines }: KeptLog) =>
  lines
    .filter(({ message }) => /^store\./.test(message))
    .map(({ message, fields }) => [message, fields]);

test("a server whose writer has died says so once", async () => {
  const dir = temporaryFolder();
  const log = keepLog();
  await using server = await createServer({ store: dir, log });
  const Database = createRequire(new URL("../../store/package.json", import.meta.url))("libsql");
  const other = new Database(join(dir, "millrace.db"));
  other.exec("DROP TABLE timer; DROP TABLE feed"); // as good as a disk that gives nothing back
  other.close();
  for (const _ of [1, 2]) {
    const init = { method: "POST", body: JSON.stringify({ dsl: HELLO }) };
    await server.request("/api/runs", { ...init, headers: { "content-type": "application/json" } });
  }
  await server.host.store.lost;
  await expect
    .poll(() => linesOfStore(log))
    .toEqual([["store.lost", { condition: "store_unavailable" }]]);
});

test("a full disk whose writer dies is not said to be back", async () => {
  const log = keepLog();
  let condition: Condition = "store_full";
  let told: (isFull: boolean) => void = () => {};
  let lose: (condition: Condition) => void = () => {};
  const lost = new Promise<Condition>((done) => {
    lose = done;
  });
  const watchRoom = (listener: typeof told) => {
    told = listener;
    told(true);
    return () => {};
  };
  const store = Object.create(openMemoryStore(), {
    condition: { get: () => condition },
    lost: { value: lost },
    journal: { value: { watchRoom } },
  });
  watchConditions({ store, dispatcher: undefined, log });
  condition = "store_unavailable";
  told(false);
  lose(condition);
  await lost;
  expect(linesOfStore(log)).toEqual([["store.lost", { condition: "store_full" }]]);
});

test("while runs are taken up the server is starting, and then it is ready", async () => {
  const { executor, send } = await build();
  const recovery = executor.recover();
  const early = await send("/api/ready");
  expect(early.status).toBe(503);
  expect(await early.json()).toEqual({ status: "starting" });
  await recovery;
  expect((await send("/api/ready")).status).toBe(200);
});
