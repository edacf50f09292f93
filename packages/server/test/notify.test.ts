/** Being told of failed runs: when, by whom, once, and until it works or is given up. */
import { createHmac } from "node:crypto";
import type { Page, Run, RunSummary } from "@millrace/contracts";
import { createNodeHost } from "@millrace/engine/node";
import { createRandom } from "@millrace/engine/testing";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import type { RunningServer, StartOptions } from "@millrace/server";
import { openMemoryStore, type Store } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { bodyOf, serveHttp } from "@millrace/test-support/loopback";
import { appendAll, logOf } from "@millrace/test-support/store";
import { expect, onTestFinished, test } from "vitest";
import { createNotifier, type NotifierOptions } from "../src/notify/notifier.ts";
import { endWindow, type Failure, noteFailure, type OpenWindow } from "../src/notify/windows.ts";
import { createMetrics } from "../src/server/metrics.ts";
import { createTestClock } from "./support/clock.ts";
import { saveTemplate } from "./support/schedules.ts";
import { invoke, keepLog, post, problemOf, serve } from "./support/server.ts";

const START = Date.parse("2026-03-01T12:00:00.000Z");
const MINUTE = 60_000;
const KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${KEY.toString("base64")}`;
const EGRESS = { allow: [{ cidr: "127.0.0.1/32" }] };
const FAILS =
  'flow 1 nightly\n\ninput word: string = "hush"\n\nnode stop: fail {\n  message = "no"\n}\n';

interface Told {
  readonly id: string;
  readonly data: {
    readonly runId: string;
    readonly count: number;
    readonly [name: string]: unknown;
  };
}

/** A receiver that checks signatures, and answers these codes before it takes anything. */
async function receive(...codes: number[]) {
  const told: Told[] = [];
  const tries: string[] = [];
  const { url } = await serveHttp(async (request, response) => {
    const text = await bodyOf(request);
    const {
      "webhook-id": id,
      "webhook-timestamp": time,
      "webhook-signature": signature,
    } = request.headers as Record<string, string>;
    const expected = createHmac("sha256", KEY).update(`${id}.${time}.${text}`).digest("base64");
    const code = signature === `v1,${expected}` ? (codes.shift() ?? 204) : 401;
    tries.push(`${id} ${code}`);
    if (code < 300) told.push({ id: id ?? "", ...JSON.parse(text) });
    response.writeHead(code, { location: "/elsewhere" }).end();
  });
  return { url: `${url}/hook`, told, tries };
}

async function set(server: RunningServer, notify: object): Promise<Response> {
  const headers = { "if-match": "*" };
  return post(server, "/api/settings", { notify }, { method: "PATCH", headers });
}

async function fail(server: RunningServer, request: object = { template: "nightly" }) {
  const run = await invoke<RunSummary>(server, "run_and_wait", { ...request, waitMs: 10_000 });
  expect(run.status).toBe("failed");
  return run.runId;
}

test("a webhook is signed, tried again through a restart until it is taken, and sums up its window", async () => {
  const { url, told, tries } = await receive(302, 500);
  const clock = createTestClock(START);
  const options: StartOptions = {
    ...{ store: temporaryFolder(), clock, egress: EGRESS, publicUrl: "https://runs.test/x" },
    credentials: { store: memoryCredentialStore() },
  };
  const log = keepLog();
  const first = await serve({ ...options, log });
  await saveTemplate(first, "nightly", FAILS);
  const refused = await set(first, { to: url });
  expect([refused.status, (await problemOf(refused)).code]).toEqual([422, "value_invalid"]);
  const kept = await set(first, { to: url, secret: SECRET, windowMs: 10 * MINUTE });
  expect(await kept.json()).toMatchObject({ notify: { secret: { $secret: true } } });
  expect(await (await set(first, { windowMs: 20 * MINUTE })).json()).toMatchObject({
    notify: { to: url, secret: { $secret: true }, windowMs: 20 * MINUTE },
  });
  // The key signs nothing for an origin that a flow names by itself.
  const foreign = await receive();
  const own = `nightly {\n  @notify = "${foreign.url}"\n}`;
  await fail(first, { dsl: FAILS.replace("nightly", own) });
  const reasons = () => log.lines.map(({ fields }) => ("reason" in fields ? fields.reason : null));
  await expect.poll(reasons).toContain("not_allowed");
  expect(foreign.tries).toEqual([]);
  const runId = await fail(first);
  await expect.poll(() => tries.length).toBe(1);
  await fail(first);
  await first.close({ graceMs: 0 });

  const second = await serve({ ...options, log });
  await expect
    .poll(async () => {
      await clock.pass(5_000);
      return told.length;
    })
    .toBe(1);
  const [{ id, data }] = told as [Told];
  expect(tries).toEqual([`${id} 302`, `${id} 500`, `${id} 204`]);
  expect(data).toEqual({
    ...{ runId, flow: "nightly", template: "nightly", code: "failed", message: "no" },
    ...{ node: "stop", trigger: "api", time: new Date(START).toISOString(), count: 1 },
    ...{ since: new Date(START).toISOString(), url: `https://runs.test/x/api/runs/${runId}` },
  });
  const last = await fail(second);
  await expect
    .poll(async () => {
      await clock.pass(5 * MINUTE);
      return told.length;
    })
    .toBe(2);
  expect(told[1]?.data).toMatchObject({ runId: last, count: 2 });
  // The window after it was quiet: the next failure is told at once.
  await clock.pass(60 * MINUTE);
  await fail(second);
  await expect.poll(() => told.length).toBe(3);
  expect(told[2]?.data.count).toBe(1);
  const said = JSON.stringify(log.lines.map(({ message, fields }) => [message, fields]));
  for (const hidden of [SECRET, url, "hush"]) expect(said).not.toContain(hidden);
  expect(log.lines.map(({ message }) => message)).toContain("notification.failed");
});

test("a receiver that fails for longer than it is tried is given up, with a line and a number", async () => {
  const { url, told } = await receive(...Array<number>(50).fill(503));
  const clock = createTestClock(START);
  const log = keepLog();
  const server = await serve({
    ...{ clock, log, egress: EGRESS, notifyRetryMs: MINUTE, notifyMaxRetryMs: 5 * MINUTE },
    ...{ notifyGiveUpMs: 13 * MINUTE, credentials: { store: memoryCredentialStore() } },
  });
  await set(server, { to: url, secret: SECRET });
  await fail(server, { dsl: FAILS });
  const lines = (wanted: string) => log.lines.filter(({ message }) => message === wanted);
  const waits = [1, 2, 4, 5];
  for (const [at, minutes] of waits.entries()) {
    await expect.poll(() => lines("notification.failed").length).toBe(at + 1);
    await clock.pass(minutes * MINUTE);
  }
  await expect.poll(() => lines("notification.given_up").length).toBe(1);
  const pauses = lines("notification.failed").map(({ fields }) => fields);
  expect(pauses).toMatchObject(
    waits.map((minutes) => ({ retryMs: minutes * MINUTE, reason: "http_503" })),
  );
  expect(told).toEqual([]);
  const metrics = await (await fetch(`${server.url}/api/metrics`)).text();
  expect(metrics).toMatch(/notifications_total\{kind="webhook",status="given_up"\} 1\n/);
});

const TELL = `flow 1 tell

input runId: string

input message: string

input count: int

node stop: fail {
  message = "\${inputs.runId} \${inputs.message} \${inputs.count}"
}
`;

test("a template is run with the facts that it has inputs for; the flow's own comes first, and none tells of itself", async () => {
  const log = keepLog();
  const server = await serve({ log });
  await saveTemplate(server, "tell", TELL);
  expect((await set(server, { to: "nobody" })).status).toBe(422);
  expect((await set(server, { secret: { $secret: true } })).status).toBe(422);
  expect((await set(server, { to: "tell" })).status).toBe(200);
  const runId = await fail(server, { dsl: FAILS });
  const named = (to: string) => FAILS.replace("nightly", `other {\n  @notify = "${to}"\n}`);
  await fail(server, { dsl: named("nobody") });
  await fail(server, { dsl: named("no-one") });
  const list = async (filter: object) =>
    (await invoke<Page<RunSummary>>(server, "list_runs", filter)).items;
  const ended = async () => (await list({ trigger: "notify" })).filter(({ summary }) => summary);
  await expect.poll(async () => (await ended()).length).toBe(1);
  const [run] = (await ended()) as [Run];
  expect(run).toMatchObject({ source: { failedRunId: runId }, template: { slug: "tell" } });
  expect(run.summary?.error?.message).toBe(`${runId} no 1`);
  const givenUp = () => log.lines.filter(({ message }) => message === "notification.given_up");
  await expect
    .poll(givenUp)
    .toMatchObject(Array(2).fill({ fields: { reason: "not_found", count: 1 } }));
  // What told has failed as well, and is looked at with the others.
  await fail(server, { dsl: FAILS });
  expect(await list({ unacknowledged: true })).toHaveLength(5);
  expect(await list({ trigger: "notify" })).toHaveLength(1);
});

/** Runs of this store have failed. */
async function failures(store: Store, count: number): Promise<void> {
  let failed = 0;
  for (let seed = 1; failed < count; seed += 1) {
    const end = logOf(seed).at(-1)?.event;
    if (end?.kind !== "summary" || end.status !== "failed") continue;
    failed += 1;
    await appendAll(store.journal, logOf(seed));
  }
}

function notifierOf(store: Store, more: Partial<NotifierOptions> = {}) {
  return createNotifier({
    ...{ store, log: keepLog(), metrics: createMetrics(), urlOf: () => null },
    clock: { now: () => START, setTimer: () => () => {} },
    executor: { start: () => Promise.reject(new Error("no template")) },
    egress: createNodeHost().openFetch(EGRESS),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    secret: async () => SECRET,
    limits: { notifyRetryMs: 1, notifyMaxRetryMs: 1, notifyGiveUpMs: 0, notifyMaxQueued: 99 },
    ...more,
  });
}

test("a receiver that never answers and a run that cannot be read hold nobody up; a stop is no failure", async () => {
  const store = openMemoryStore({ now: () => START });
  onTestFinished(() => store.close());
  await store.settings.set({ "notify.to": "https://a.test/1", "notify.secret": SET });
  const put = (id: string, to: string) =>
    store.outbox.write([
      { id, rev: null, next: { body: { to, message: {}, madeAt: START, attempts: 0 }, dueAt: 0 } },
    ]);
  for (let n = 10; n < 40; n += 1) await put(`msg_${n}`, "https://a.test/dead");
  await put("msg_z", "https://a.test/alive");
  await failures(store, 3);
  const [unread] = await store.outbox.untold(1);
  const asked: string[] = [];
  const log = keepLog();
  const { outbox, settings, templates } = store;
  const notifier = notifierOf(store, {
    ...{
      log,
      limits: { notifyRetryMs: 1, notifyMaxRetryMs: 1, notifyGiveUpMs: 9, notifyMaxQueued: 32 },
    },
    store: {
      ...{ outbox, settings, templates },
      runs: {
        ...store.runs,
        header: async (runId, options) => {
          if (runId === unread) throw new Error("unreadable");
          return store.runs.header(runId, options);
        },
      },
    },
    egress: (url, { signal } = {}) => {
      asked.push(url);
      if (url.endsWith("alive")) return Promise.reject(new Error("refused"));
      return new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
    },
  });
  notifier.start();
  await expect.poll(() => asked).toContain("https://a.test/alive");
  await expect.poll(() => outbox.untold(9)).toEqual([unread]);
  const said = () => log.lines.map(({ message }) => message);
  await expect.poll(said).toContain("notification.failed");
  expect(asked.filter((url) => url.endsWith("dead"))).toHaveLength(2);
  await notifier.close();
  expect(said().filter((message) => message === "notification.failed")).toHaveLength(1);
  for (const id of ["msg_10", "msg_11"]) {
    expect(await outbox.get(id)).toMatchObject({ body: { attempts: 0 }, dueAt: START });
  }
});

test("of two servers on one store one tells of each failure", async () => {
  const { url, told } = await receive();
  const store = openMemoryStore({ now: () => START });
  onTestFinished(() => store.close());
  await store.settings.set({ "notify.to": url, "notify.secret": SET, "notify.windowMs": 0 });
  await failures(store, 6);
  const notifiers = [notifierOf(store), notifierOf(store)];
  for (const notifier of notifiers) notifier.start();
  await expect.poll(async () => (await store.outbox.untold(1)).length).toBe(0);
  await expect.poll(() => store.outbox.nextDue()).toBeNull();
  await Promise.all(notifiers.map((notifier) => notifier.close()));
  expect(new Set(told.map(({ data }) => data.runId)).size).toBe(6);
  expect(told).toHaveLength(6);
});

const SET = { $secret: true };

test("a window that ends too late, for a clock that was ahead or one that was longer, mutes nobody", () => {
  const failure = { runId: "r", time: new Date(START).toISOString() } as Failure;
  const options = { now: START, windowMs: MINUTE, to: "ops", isFull: false };
  const late = { to: "ops", count: 0, since: failure.time, last: null };
  const dueAt = START + 90 * MINUTE;
  const told = noteFailure({ body: late, dueAt }, failure, options);
  expect([told.message?.count, told.window?.dueAt]).toEqual([1, START + MINUTE]);
  const counting = { ...late, count: 2, last: failure };
  const counted = noteFailure({ body: counting, dueAt }, failure, options);
  expect(counted).toMatchObject({
    message: null,
    window: { body: { count: 3 }, dueAt: START + MINUTE },
  });
});

test("whenever failures come, each is counted once, the first at once, and no window has two messages", () => {
  const random = createRandom(5);
  for (let round = 0; round < 300; round += 1) {
    const windowMs = random.pick([0, 1, 10, 1_000]);
    let open: OpenWindow = null;
    let now = START;
    let isFull = false;
    const times: number[] = [];
    let [failures, counted] = [0, 0];
    const take = (told: ReturnType<typeof endWindow>): boolean => {
      open = told.window;
      if (told.message === null) return false;
      counted += told.message.count;
      times.push(now);
      return true;
    };
    const end = () => open !== null && take(endWindow(open.body, { now, windowMs, isFull }));
    for (let step = 0; step < 30; step += 1) {
      now += random.integer(0, random.pick([0, 2, 2 * windowMs]));
      // A server that is late ends a window after failures that came past its end.
      if (open !== null && (open as { dueAt: number }).dueAt <= now && random.chance(0.7)) end();
      const wasQuiet = open === null;
      const failure = { runId: `r${step}`, time: new Date(now).toISOString() } as Failure;
      failures += 1;
      isFull = random.chance(0.1);
      const isTold = take(noteFailure(open, failure, { now, windowMs, to: "ops", isFull }));
      if (wasQuiet) expect(isTold).toBe(!isFull);
    }
    isFull = false;
    while (open !== null) {
      now = (open as { dueAt: number }).dueAt;
      end();
    }
    expect(counted).toBe(failures);
    const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(windowMs);
  }
});
