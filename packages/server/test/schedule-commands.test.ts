/** The commands on schedules, and the preview of their times. */
import type { RunRef, Schedule } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import { createTestClock } from "./support/clock.ts";
import {
  at,
  createSchedule,
  getSchedule,
  MINUTE,
  put,
  runsOf,
  SECOND,
  serveWith,
} from "./support/schedules.ts";
import { invoke, post, problemOf } from "./support/server.ts";

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
