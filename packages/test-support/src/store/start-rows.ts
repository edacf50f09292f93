/** What is written with a run. */
import type { StartRows } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import type { StoreBench } from "./bench.ts";
import { startRun } from "./logs.ts";

export function startRowsSuite({ newStore }: StoreBench): void {
  const FIRE = { scheduleId: "sch_1", fireTime: 1_000, outcome: "started", nextAt: 2_000 } as const;
  const request = (key: string, fingerprint = "args") => ({
    scope: "t\nstart_run",
    key,
    fingerprint: Buffer.from(fingerprint),
  });

  describe("what begins with a run", () => {
    const withSchedule = async () => {
      const store = await newStore({ now: () => 5_000 });
      await store.schedules.put({ id: "sch_1", body: {}, enabled: true, nextAt: 1_000 });
      return store;
    };

    test("key, fire and run are there together", async () => {
      const store = await withSchedule();
      await store.journal.create(startRun(1), { request: request("a"), fire: FIRE });
      expect(await store.idempotency.find(request("a"))).toEqual({
        state: "done",
        answer: { runId: "r1", status: "pending" },
      });
      expect(await store.idempotency.find(request("a", "others"))).toEqual({ state: "mismatch" });
      expect(await store.idempotency.find(request("b"))).toBeNull();
      expect(await store.schedules.fires("sch_1", 9)).toEqual([
        { fireTime: 1_000, outcome: "started", runId: "r1" },
      ]);
      expect(await store.schedules.get("sch_1")).toMatchObject({ lastFire: 1_000, nextAt: 2_000 });
    });

    test.each<[string, StartRows, string]>([
      ["a used key", { request: request("a"), fire: { ...FIRE, fireTime: 1_500 } }, "key_used"],
      ["a past fire", { request: request("b"), fire: FIRE }, "already_fired"],
      ["a schedule that is gone", { fire: { ...FIRE, scheduleId: "sch_2" } }, "already_fired"],
    ])("%s leaves no run and nothing else behind", async (_case, rows, code) => {
      const store = await withSchedule();
      await store.journal.create(startRun(1), { request: request("a"), fire: FIRE });
      await expect(store.journal.create(startRun(2), rows)).rejects.toMatchObject({ code });
      expect(await store.runs.get("r2")).toBeNull();
      expect(await store.idempotency.find(request("b"))).toBeNull();
      expect(await store.schedules.fires("sch_1", 9)).toHaveLength(1);
    });

    test("a run id that is taken leaves the key free and the fire undone", async () => {
      const store = await withSchedule();
      await store.journal.create(startRun(1));
      const again = store.journal.create(startRun(1), { request: request("a"), fire: FIRE });
      await expect(again).rejects.toMatchObject({ code: "run_exists" });
      expect(await store.idempotency.find(request("a"))).toBeNull();
      expect(await store.schedules.fires("sch_1", 9)).toEqual([]);
    });

    test("a run remembers all that it was created with", async () => {
      const store = await newStore({ now: () => 5_000 });
      const header = startRun(1, {
        flowHash: "sha256:ff",
        template: "digest",
        templateVersion: 7,
        tags: { team: "fx" },
        source: { webhookId: "whk_1" },
        tokenId: "t1",
        retryOf: "r0",
        options: { timeoutMs: 5, confirm: "approve", from: ["a"] },
      });
      await store.journal.create(header);
      expect(await store.runs.header("r1")).toEqual(header);
      expect(await store.runs.header("r2")).toBeNull();
      expect(await store.runs.get("r1")).toMatchObject({
        status: "pending",
        flow: { hash: "sha256:ff" },
        template: { slug: "digest", version: 7 },
        source: { webhookId: "whk_1" },
        retryOf: "r0",
      });
      await store.journal.create(startRun(2));
      expect(await store.runs.header("r2")).toEqual(startRun(2));
    });
  });
}
