/** Schedules: each fire time is one server's, and those that wait are told in their order. */
import type { Schedules, Store } from "@millrace/store";
import { describe, expect, test } from "vitest";
import type { StoreBench } from "./bench.ts";
import { startRun } from "./logs.ts";

export function schedulesSuite({ newStore, testRestart }: StoreBench): void {
  const BEGIN = 1_770_000_000_000;
  const CALLERS = 50;

  describe("schedules", () => {
    testRestart(
      "of many who fire a time one does, also after a restart, and an earlier time never fires again",
      async (place) => {
        const first = await place.open();
        const { schedules } = first;
        await schedules.put({ id: "s", body: { cron: "* * * * *" }, enabled: true, nextAt: BEGIN });
        const fire = {
          fireTime: BEGIN,
          outcome: "started",
          nextAt: BEGIN + 60_000,
          runId: "r1",
        } as const;
        const fired = await Promise.all(
          Array.from({ length: CALLERS }, () => schedules.fire("s", fire)),
        );
        expect(fired.filter(Boolean)).toHaveLength(1);
        await first.close();
        const again = (await place.open()).schedules;
        expect(await again.fire("s", fire)).toBe(false);
        expect(await again.fire("s", { ...fire, fireTime: BEGIN - 1 })).toBe(false);
        expect(await again.get("s")).toEqual({
          id: "s",
          body: { cron: "* * * * *" },
          enabled: true,
          nextAt: BEGIN + 60_000,
          lastFire: BEGIN,
          lastError: null,
        });
        const error = {
          fireTime: BEGIN + 60_000,
          outcome: "error",
          nextAt: null,
          error: "no template",
        } as const;
        expect(await again.fire("s", error)).toBe(true);
        expect(await again.get("s")).toMatchObject({ nextAt: null, lastError: "no template" });
        expect(await again.fires("s", 10)).toEqual([
          { fireTime: BEGIN + 60_000, outcome: "error", runId: null },
          { fireTime: BEGIN, outcome: "started", runId: "r1" },
        ]);
      },
    );

    test("due are the enabled ones whose time has come, the longest due first", async () => {
      const { schedules } = await newStore();
      const put = (id: string, nextAt: number | null, enabled = true) =>
        schedules.put({ id, body: null, enabled, nextAt });
      await put("late", BEGIN + 1);
      await put("b", BEGIN);
      await put("a", BEGIN - 5);
      await put("off", BEGIN - 9, false);
      await put("never", null);
      expect((await schedules.due(BEGIN)).map(({ id }) => id)).toEqual(["a", "b"]);
      expect(await schedules.nextDue()).toBe(BEGIN - 5);
      expect((await schedules.list()).map(({ id }) => id)).toEqual([
        "a",
        "b",
        "late",
        "never",
        "off",
      ]);
      expect(await schedules.delete("a")).toBe(true);
      expect(await schedules.delete("a")).toBe(false);
      const fire = { fireTime: BEGIN, outcome: "missed", nextAt: null } as const;
      await expect(schedules.fire("a", fire)).rejects.toMatchObject({ code: "not_found" });
    });
  });

  describe("fire times that wait", () => {
    const waitFor = (schedules: Schedules, fireTime: number, scheduleId = "s") =>
      schedules.fire(scheduleId, { fireTime, outcome: "queued", nextAt: fireTime + 1 });
    const one = { scheduleId: "s", fireTime: BEGIN };

    async function waitingStore(store: Store) {
      for (const id of ["s", "t"]) {
        await store.schedules.put({ id, body: null, enabled: true, nextAt: BEGIN });
      }
      return store;
    }

    testRestart(
      "are told in their order, also after a restart, until they have a run or are dropped",
      async (place) => {
        const first = await waitingStore(await place.open());
        await waitFor(first.schedules, BEGIN + 1, "t");
        await waitFor(first.schedules, BEGIN);
        await waitFor(first.schedules, BEGIN + 2);
        await first.close();
        const { schedules, journal, runs } = await place.open();
        expect(await schedules.waiting()).toEqual([
          one,
          { scheduleId: "t", fireTime: BEGIN + 1 },
          { scheduleId: "s", fireTime: BEGIN + 2 },
        ]);
        const source = { scheduleId: "s", fireTime: new Date(BEGIN).toISOString() };
        const start = (seed: number) =>
          journal.create(startRun(seed, { source }), { waiting: one }).then(
            () => "started",
            ({ code }) => code,
          );
        expect((await Promise.all([start(1), start(2), start(3)])).sort()).toEqual([
          "already_fired",
          "already_fired",
          "started",
        ]);
        const [started] = await runs.live();
        expect(await schedules.fires("s", 9)).toContainEqual({
          fireTime: BEGIN,
          outcome: "started",
          runId: started,
        });
        expect([await schedules.liveRun("s"), await schedules.liveRun("t")]).toEqual([
          started,
          null,
        ]);
        const second = { scheduleId: "s", fireTime: BEGIN + 2 };
        expect(await schedules.drop(second, { outcome: "error", error: "no template" })).toBe(true);
        expect(await schedules.drop(second, { outcome: "error" })).toBe(false);
        expect(await schedules.drop(one, { outcome: "skipped" })).toBe(false);
        expect(await schedules.get("s")).toMatchObject({
          lastError: "no template",
          lastFire: BEGIN + 2,
        });
        expect(await schedules.waiting()).toEqual([{ scheduleId: "t", fireTime: BEGIN + 1 }]);
      },
    );

    test("are dropped with their schedule, and when it is disabled", async () => {
      const { schedules } = await waitingStore(await newStore());
      await waitFor(schedules, BEGIN);
      await waitFor(schedules, BEGIN, "t");
      await schedules.put({ id: "s", body: null, enabled: false, nextAt: null });
      await schedules.delete("t");
      expect(await schedules.waiting()).toEqual([]);
      expect(await schedules.fires("s", 9)).toEqual([
        { fireTime: BEGIN, outcome: "skipped", runId: null },
      ]);
    });
  });
}
