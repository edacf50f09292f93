/** Schedules: when they fire, and what becomes of a fire time. Their commands are in `schedule-commands.test.ts`. */
import type { RunRef, Schedule } from "@millrace/contracts";
import { createServer } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTestClock } from "./support/clock.ts";
import { follow } from "./support/feed.ts";
import { HELLO, SLEEP } from "./support/flows.ts";
import {
  at,
  createSchedule,
  fireTimesOf,
  getSchedule,
  HOUR,
  MINUTE,
  put,
  runsOf,
  SECOND,
  START,
  serveWith,
} from "./support/schedules.ts";
import { approve, invoke, keepLog, serve } from "./support/server.ts";

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
