/** Schedules: their commands, when they fire, and what becomes of a fire time. */
import type { RunRef, Schedule } from "@millrace/contracts";
import { createServer, type RunningServer, type StartOptions } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTestClock, type TestClock } from "./support/clock.ts";
import { follow } from "./support/feed.ts";
import { ASK_PLAINLY, HELLO, SLEEP } from "./support/flows.ts";
import {
  createSchedule,
  fireTimesOf,
  getSchedule,
  runsOf,
  saveTemplate,
} from "./support/schedules.ts";
import { invoke, keepLog, post, problemOf, serve } from "./support/server.ts";

const START = Date.parse("2026-03-01T12:00:00.000Z");
const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;

const iso = (ms: number): string => new Date(ms).toISOString();
/** START plus so many minutes. */
const at = (minutes: number): string => iso(START + minutes * MINUTE);

/** A server, at START by its clock, with the templates `hello`, `ask` (waits for a person) and `sleep`. */
async function serveWith(
  options: StartOptions = {},
  clock = createTestClock(START),
): Promise<{ readonly server: RunningServer; readonly clock: TestClock }> {
  const server = await serve({ clock, ...options });
  await saveTemplate(server, "hello", HELLO);
  await saveTemplate(server, "ask", ASK_PLAINLY);
  await saveTemplate(server, "sleep", SLEEP);
  return { server, clock };
}

function put(server: RunningServer, id: string, body: object, ifMatch?: string): Promise<Response> {
  return fetch(`${server.url}/api/schedules/${id}`, {
    method: "PUT",
    headers: { "content-type": "application/json", ...(ifMatch && { "if-match": ifMatch }) },
    body: JSON.stringify(body),
  });
}

const approve = (server: RunningServer, runId: string) =>
  invoke(server, "resolve_confirmation", { runId, confirmationId: "k1", decision: "approve" });

describe("the commands", () => {
  const args = { template: "hello", everyMs: MINUTE, tags: { team: "fx" } };
  const shown = {
    ...args,
    id: expect.stringMatching(/^sch_[0-9A-HJKMNP-TV-Z]{26}$/),
    timezone: "UTC",
    enabled: true,
    overlap: "skip",
    catchUp: "skip",
    nextAt: at(1),
  };

  test("create, show, list, replace and delete; who changes one must have seen it", async () => {
    const { server, clock } = await serveWith();
    const created = await post(server, "/api/schedules", args);
    expect(created.status).toBe(201);
    const schedule = (await created.json()) as Schedule;
    expect(schedule).toEqual(shown);
    const etag = created.headers.get("etag") ?? "";
    const url = `${server.url}/api/schedules/${schedule.id}`;
    const again = await fetch(url, { headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
    clock.set(1); // ids sort by time
    const other = await createSchedule(server, { ...args, enabled: false });
    expect(other.nextAt).toBeNull();
    const pages = await invoke<{ nextCursor: string }>(server, "list_schedules", { limit: 1 });
    expect(pages).toMatchObject({ items: [schedule] });
    const rest = await invoke(server, "list_schedules", { limit: 1, cursor: pages.nextCursor });
    expect(rest).toEqual({ items: [other], nextCursor: null });

    const cron = { template: "hello", cron: "30 4 * * 1", timezone: "Europe/Berlin" };
    expect((await put(server, schedule.id, cron)).status).toBe(428);
    expect((await put(server, schedule.id, cron, '"other"')).status).toBe(412);
    const changed = await put(server, schedule.id, cron, etag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).not.toBe(etag);
    const { everyMs: _, tags: __, ...kept } = shown;
    expect(await changed.json()).toEqual({ ...kept, ...cron, nextAt: "2026-03-02T03:30:00.000Z" });
    expect((await put(server, schedule.id, cron, etag)).status).toBe(412);

    expect((await fetch(url, { method: "DELETE" })).status).toBe(428);
    const gone = await fetch(url, { method: "DELETE", headers: { "if-match": "*" } });
    expect(gone.status).toBe(204);
    for (const response of [
      await fetch(url),
      await fetch(`${url}/next`),
      await post(server, `/api/schedules/${schedule.id}/run`, {}),
      await put(server, schedule.id, cron, "*"),
    ]) {
      expect(response.status).toBe(404);
      expect(await problemOf(response)).toMatchObject({ resource: "schedule" });
    }
  });

  test("refuse times that are none", async () => {
    const rows: [string, object, string][] = [
      ["no time", {}, ""],
      ["two times", { everyMs: MINUTE, cron: "* * * * *" }, ""],
      ["a pattern that is none", { cron: "61 * * * *" }, "/cron"],
      ["a pattern of four fields", { cron: "* * * *" }, "/cron"],
      ["a pattern of seven fields", { cron: "0 * * * * * 2030" }, "/cron"],
      ["a nickname", { cron: "@daily" }, "/cron"],
      ["a moment in place of a pattern", { cron: "2030-01-01T00:00:00Z" }, "/cron"],
      ["a pattern that matches never", { cron: "0 0 31 2 *" }, "/cron"],
      ["a zone that is none", { cron: "* * * * *", timezone: "Mars/Phobos" }, "/timezone"],
      ["an offset in place of a zone", { cron: "* * * * *", timezone: "+01:00" }, "/timezone"],
      ["less than a second", { everyMs: 999 }, "/everyMs"],
      ["a time that no calendar has", { everyMs: Number.MAX_SAFE_INTEGER }, "/everyMs"],
      ["a moment that is over", { at: "2026-03-01T12:00:00Z" }, "/at"],
      ["a moment without a zone", { at: "2026-04-01T12:00:00" }, "/at"],
    ];
    const { server } = await serveWith();
    for (const [what, time, pointer] of rows) {
      const response = await post(server, "/api/schedules", { template: "hello", ...time });
      expect(response.status, what).toBe(422);
      const { code, errors } = await problemOf(response);
      expect([code, errors?.[0]?.pointer], what).toEqual(["invalid_args", pointer]);
    }
  });

  test("refuse a template that is not there, and inputs that it does not take", async () => {
    const { server } = await serveWith();
    const missing = await post(server, "/api/schedules", { template: "none", everyMs: MINUTE });
    expect(missing.status).toBe(404);
    expect(await problemOf(missing)).toMatchObject({ resource: "template" });
    const version = { template: "hello", version: 9, everyMs: MINUTE };
    expect((await post(server, "/api/schedules", version)).status).toBe(404);
    const inputs = { name: 5 };
    const refused = await post(server, "/api/schedules", { ...args, inputs });
    expect((await problemOf(refused)).code).toBe("input_invalid");
    expect((await post(server, "/api/schedules", { ...args, inputs: { name: "x" } })).status).toBe(
      201,
    );
  });

  test("start the run of a schedule at once, once for each key", async () => {
    const { server } = await serveWith();
    const { id } = await createSchedule(server, { ...args, enabled: false });
    const run = (key: string) =>
      post(server, `/api/schedules/${id}/run`, {}, { headers: { "idempotency-key": key } });
    const first = await run("a");
    expect(first.status).toBe(202);
    const { runId } = (await first.json()) as RunRef;
    expect(first.headers.get("location")).toBe(`/api/runs/${runId}`);
    const replayed = await run("a");
    expect(replayed.headers.get("idempotent-replayed")).toBe("true");
    expect(await replayed.json()).toMatchObject({ runId });
    await run("b");
    expect(await runsOf(server, "api")).toMatchObject([
      { runId, tags: { team: "fx" }, template: { slug: "hello", version: 1 } },
      { source: { scheduleId: id, fireTime: at(0) } },
    ]);
    expect(await getSchedule(server, id)).not.toHaveProperty("lastFire");
    // The answer is kept longer than what it was about.
    await invoke(server, "delete_schedule", { scheduleId: id, ifMatch: "*" });
    expect(await (await run("a")).json()).toMatchObject({ runId });
    expect((await run("c")).status).toBe(404);
  });
});

describe("a preview", () => {
  const preview = async (start: string, args: object, n = 3) => {
    const { server } = await serveWith({}, createTestClock(Date.parse(start)));
    const { id } = await createSchedule(server, { template: "hello", ...args });
    const { times } = await invoke<{ times: string[] }>(server, "preview_schedule", {
      scheduleId: id,
      n,
    });
    return times.map((time) => time.replace(":00.000Z", ""));
  };
  const berlin = { timezone: "Europe/Berlin" };

  test("knows the local time of a zone, seconds, lists and weekdays", async () => {
    expect(await preview("2026-07-01T00:00:00Z", { cron: "15 9 * * MON", ...berlin })).toEqual([
      "2026-07-06T07:15",
      "2026-07-13T07:15",
      "2026-07-20T07:15",
    ]);
    expect(await preview("2026-07-01T00:00:00Z", { cron: "0,30 0 0 1 1 *" })).toEqual([
      "2027-01-01T00:00",
      "2027-01-01T00:00:30.000Z",
      "2028-01-01T00:00",
    ]);
  });

  test("shows the times of a schedule before it is created", async () => {
    const { server } = await serveWith({}, createTestClock(Date.parse("2026-07-01T00:00:00Z")));
    const ask = (args: object) =>
      post(server, "/api/invoke", { command: "preview_schedule", args });
    const monday = await ask({ cron: "15 9 * * MON", ...berlin, n: 1 });
    expect(await monday.json()).toEqual({ times: ["2026-07-06T07:15:00.000Z"] });
    const wrong = await problemOf(await ask({ cron: "15 9 * *" }));
    expect([wrong.status, wrong.errors?.[0]?.pointer]).toEqual([422, "/cron"]);
    for (const args of [{}, { cron: "* * * * *", everyMs: 1_000 }, { scheduleId: "s", at: "x" }])
      expect((await ask(args)).status).toBe(422);
  });

  test("moves a time that a clock change skips to the end of the gap, on that day", async () => {
    expect(await preview("2026-03-28T12:00:00Z", { cron: "30 2 * * *", ...berlin }, 2)).toEqual([
      "2026-03-29T01:00", // 03:00 there
      "2026-03-30T00:30",
    ]);
    const twice = { cron: "10,50 2 * * *", ...berlin };
    expect(await preview("2026-03-28T12:00:00Z", twice, 2)).toEqual([
      "2026-03-29T01:00",
      "2026-03-30T00:10",
    ]);
  });

  test("has a time that comes twice once, and a pattern of every hour in both", async () => {
    expect(await preview("2026-10-24T12:00:00Z", { cron: "30 2 * * *", ...berlin }, 2)).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
    expect(await preview("2026-10-24T23:00:00Z", { cron: "30 * * * *", ...berlin })).toEqual([
      "2026-10-24T23:30",
      "2026-10-25T00:30",
      "2026-10-25T01:30",
    ]);
  });

  test("counts from the creation, and has a moment once", async () => {
    expect(await preview("2026-01-01T00:00:30Z", { everyMs: 90 * SECOND })).toEqual([
      "2026-01-01T00:02",
      "2026-01-01T00:03:30.000Z",
      "2026-01-01T00:05",
    ]);
    expect(await preview("2026-01-01T00:00:00Z", { at: "2026-01-01T02:00:00+01:00" })).toEqual([
      "2026-01-01T01:00",
    ]);
  });
});

describe("a fire time", () => {
  test("that comes starts a run, which says where it comes from", async () => {
    const { server, clock } = await serveWith();
    const args = { template: "hello", everyMs: MINUTE, inputs: { name: "you" }, tags: { a: "b" } };
    const { id } = await createSchedule(server, { ...args, overlap: "allow" });
    await clock.pass(MINUTE - 1);
    expect(await runsOf(server)).toEqual([]);
    await clock.pass(1);
    expect(await runsOf(server)).toMatchObject([
      {
        trigger: "schedule",
        source: { scheduleId: id, fireTime: at(1) },
        template: { slug: "hello", version: 1 },
        tags: { a: "b" },
      },
    ]);
    expect(await getSchedule(server, id)).toMatchObject({ lastFire: at(1), nextAt: at(2) });
    await clock.pass(3 * MINUTE);
    expect(fireTimesOf(await runsOf(server))).toEqual([at(1), at(2), at(3), at(4)]);
  });

  test("of a moment comes once", async () => {
    const { server, clock } = await serveWith();
    const { id } = await createSchedule(server, { template: "hello", at: at(5) });
    await clock.pass(HOUR);
    expect(fireTimesOf(await runsOf(server))).toEqual([at(5)]);
    const fired = await getSchedule(server, id);
    expect(fired).toMatchObject({ lastFire: at(5), nextAt: null });
    // What has fired may be changed in everything but its time, and stays what it is.
    const changed = await put(server, id, { template: "sleep", at: at(5) }, "*");
    expect(await changed.json()).toMatchObject({ template: "sleep", nextAt: null });
    expect((await put(server, id, { template: "sleep", at: at(6) }, "*")).status).toBe(422);
  });

  test("of a schedule that is disabled or deleted does not come", async () => {
    const { server, clock } = await serveWith();
    const args = { template: "hello", everyMs: MINUTE, overlap: "allow" };
    const first = await createSchedule(server, args);
    const second = await createSchedule(server, args);
    await put(server, first.id, { ...args, enabled: false }, "*");
    await invoke(server, "delete_schedule", { scheduleId: second.id, ifMatch: "*" });
    await clock.pass(HOUR);
    expect(await runsOf(server)).toEqual([]);
    await put(server, first.id, args, "*");
    await clock.pass(MINUTE);
    expect(fireTimesOf(await runsOf(server))).toEqual([at(61)]);
  });

  test("without its template has no run but a reason, until the template is there again", async () => {
    const clock = createTestClock(START);
    const { app, host, close } = await createServer({ store: "memory", clock, log: keepLog() });
    onTestFinished(() => close({ graceMs: 0 }));
    const call = <T>(command: string, args: object) =>
      app.invoke(command, args, {
        tokenId: null,
        role: "admin",
        requestId: "r",
        remote: null,
      }) as Promise<T>;
    await call("save_template", { slug: "hello", dsl: HELLO });
    const { id } = await call<Schedule>("create_schedule", { template: "hello", everyMs: MINUTE });
    // No command deletes a template that is in use; another process may.
    await host.store.templates.delete("hello", 1);
    await clock.pass(MINUTE);
    expect(await host.store.schedules.fires(id, 9)).toMatchObject([
      { outcome: "error", runId: null },
    ]);
    const lastError = expect.stringContaining("no template hello");
    expect(await call("get_schedule", { scheduleId: id })).toMatchObject({ lastError });
    await call("save_template", { slug: "hello", dsl: HELLO });
    await clock.pass(MINUTE);
    expect(await host.store.schedules.fires(id, 9)).toMatchObject([
      { outcome: "started" },
      { outcome: "error" },
    ]);
    expect(await call("get_schedule", { scheduleId: id })).not.toHaveProperty("lastError");
  });

  test("that falls into a change of something else is not lost", async () => {
    const { server, clock } = await serveWith();
    const args = { template: "hello", everyMs: MINUTE };
    const { id } = await createSchedule(server, args);
    clock.set(MINUTE + SECOND);
    await put(server, id, { ...args, tags: { a: "b" } }, "*");
    await clock.asleep();
    expect(fireTimesOf(await runsOf(server))).toEqual([at(1)]);
  });
});

describe("while a run of the schedule has not ended", () => {
  const everyMinute = { template: "ask", everyMs: MINUTE };

  test("skip starts none", async () => {
    const { server, clock } = await serveWith();
    const feed = await follow(server);
    const { id } = await createSchedule(server, everyMinute);
    await clock.pass(3 * MINUTE);
    const [run, ...others] = await runsOf(server);
    expect(others).toEqual([]);
    await feed.until("run.paused", 1);
    await approve(server, run?.runId ?? "");
    await feed.until("summary", 1);
    await clock.pass(MINUTE);
    expect(fireTimesOf(await runsOf(server))).toEqual([at(1), at(4)]);
    expect(await getSchedule(server, id)).toMatchObject({ lastFire: at(4) });
  });

  test("queue keeps one fire time, which starts when the run has ended", async () => {
    const { server, clock } = await serveWith();
    const feed = await follow(server);
    await createSchedule(server, { ...everyMinute, overlap: "queue" });
    await clock.pass(4 * MINUTE);
    const [first] = await runsOf(server);
    await feed.until("run.paused", 1);
    await approve(server, first?.runId ?? "");
    await feed.until("run.paused", 2);
    const [, second, ...others] = await runsOf(server);
    expect(others).toEqual([]);
    expect(second?.source).toMatchObject({ fireTime: at(2) });
    await approve(server, second?.runId ?? "");
    await feed.until("summary", 2);
    await clock.asleep();
    expect(await runsOf(server)).toHaveLength(2); // 3 and 4 were skipped
  });

  test("allow starts the next", async () => {
    const { server, clock } = await serveWith();
    await createSchedule(server, { ...everyMinute, overlap: "allow" });
    await clock.pass(3 * MINUTE);
    const runs = await runsOf(server);
    expect(fireTimesOf(runs)).toEqual([at(1), at(2), at(3)]);
    expect(runs.every(({ endedAt }) => endedAt === null)).toBe(true);
  });

  test("one that was started by hand counts as well", async () => {
    const { server, clock } = await serveWith();
    const { id } = await createSchedule(server, everyMinute);
    await invoke(server, "run_schedule_now", { scheduleId: id });
    await clock.pass(MINUTE);
    expect(await runsOf(server)).toEqual([]);
  });
});

describe("a fire time that was missed", () => {
  const every = (catchUp: string) => ({ template: "hello", everyMs: MINUTE, catchUp });

  test("by a minute or less comes, whatever is said of later ones", async () => {
    const { server, clock } = await serveWith();
    await createSchedule(server, { ...every("skip"), overlap: "allow" });
    clock.set(MINUTE); // when it is looked at again, the first one is late by exactly a minute
    await clock.pass(MINUTE);
    expect(fireTimesOf(await runsOf(server))).toEqual([at(1), at(2)]);
  });

  test.each<[string, string[]]>([
    ["skip", []],
    ["one", [at(59)]],
  ])("by more, with %s, starts %j", async (catchUp, missed) => {
    const { server, clock } = await serveWith();
    const { id } = await createSchedule(server, { ...every(catchUp), overlap: "allow" });
    clock.set(60 * MINUTE + 30 * SECOND);
    await put(server, id, { ...every(catchUp), overlap: "allow", tags: {} }, "*"); // it looks at the clock
    await clock.asleep();
    expect(fireTimesOf(await runsOf(server))).toEqual([...missed, at(60)]);
    expect(await getSchedule(server, id)).toMatchObject({ lastFire: at(60), nextAt: at(61) });
  });

  test("by more, with all, starts one after the other, a hundred at most", async () => {
    const { server, clock } = await serveWith();
    const feed = await follow(server);
    await createSchedule(server, every("all"));
    clock.set(149 * MINUTE + 30 * SECOND);
    await clock.pass(MINUTE); // now it is 150 minutes and a half
    await feed.until("summary", 100);
    const runs = await runsOf(server);
    const wanted = Array.from({ length: 100 }, (_, i) => at(50 + i));
    expect(fireTimesOf(runs).slice(0, 100)).toEqual(wanted);
    // None begins before the one before it has ended.
    const kinds = feed.events.filter(({ kind }) => kind === "run.started" || kind === "summary");
    kinds.slice(0, 200).forEach(({ kind }, i) => {
      expect(kind).toBe(i % 2 === 0 ? "run.started" : "summary");
    });
  });

  test("while the server was down is made up for after its start, and what waited still waits", async () => {
    const dir = temporaryFolder();
    const { server: first, clock } = await serveWith({ store: dir });
    const feed = await follow(first);
    await createSchedule(first, { template: "ask", everyMs: MINUTE, overlap: "queue" });
    await createSchedule(first, { ...every("one"), everyMs: 10 * MINUTE, tags: { late: "yes" } });
    await clock.pass(2 * MINUTE);
    await feed.until("run.paused", 1);
    await first.close({ graceMs: 0 });

    clock.set(HOUR);
    const second = await serve({ clock, store: dir });
    await clock.asleep();
    const runs = await runsOf(second);
    expect(fireTimesOf(runs)).toEqual([at(1), at(60)]);
    const again = await follow(second);
    await approve(second, runs[0]?.runId ?? "");
    await again.until("run.paused", 1);
    expect(fireTimesOf(await runsOf(second))).toEqual([at(1), at(60), at(2)]);
  });
});

test("a clock that is set back fires nothing twice", async () => {
  const { server, clock } = await serveWith();
  const args = { template: "hello", everyMs: MINUTE, overlap: "allow" };
  const { id } = await createSchedule(server, args);
  await clock.pass(5 * MINUTE);
  clock.set(-3 * MINUTE);
  await clock.pass(3 * MINUTE);
  expect(fireTimesOf(await runsOf(server))).toEqual([1, 2, 3, 4, 5].map(at));
  clock.set(-3 * MINUTE);
  const changed = await put(server, id, { ...args, everyMs: 2 * MINUTE }, "*");
  expect(await changed.json()).toMatchObject({ lastFire: at(5), nextAt: at(6) });
  await clock.pass(4 * MINUTE);
  expect(fireTimesOf(await runsOf(server))).toEqual([1, 2, 3, 4, 5, 6].map(at));
});

test("a fire waits while the run queue is full", async () => {
  const { server, clock } = await serveWith({ maxLiveRuns: 1, maxQueuedRuns: 0 });
  const feed = await follow(server);
  const { runId } = await invoke<RunRef>(server, "start_run", { dsl: SLEEP });
  const { id } = await createSchedule(server, { template: "hello", everyMs: 10 * MINUTE });
  await clock.pass(11 * MINUTE);
  expect(await runsOf(server)).toEqual([]);
  expect(await getSchedule(server, id)).toMatchObject({ lastFire: at(10), nextAt: at(20) });
  await invoke(server, "cancel_run", { runId, graceMs: 0 });
  await feed.until("summary", 1);
  await clock.pass(2 * SECOND);
  await feed.until("summary", 2);
  expect(fireTimesOf(await runsOf(server))).toEqual([at(10)]);
});

test("a server that drains fires nothing more", async () => {
  const { server, clock } = await serveWith();
  await createSchedule(server, { template: "hello", everyMs: SECOND });
  await clock.asleep();
  expect(clock.isArmed).toBe(true);
  const drained = server.app.drain({ graceMs: 0 });
  clock.set(HOUR);
  await drained;
  expect(clock.isArmed).toBe(false);
  expect(await runsOf(server)).toEqual([]);
});
