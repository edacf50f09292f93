/** Failed runs: of which people are told, and which nobody has looked at. */
import type { Summary } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import type { StoreBench } from "./bench.ts";
import { appendAll, logOf, startRun } from "./logs.ts";

/** The first seeds whose logs end so. */
function seedsOf(status: Summary["status"], count: number): number[] {
  const found: number[] = [];
  for (let seed = 1; found.length < count; seed += 1) {
    const end = logOf(seed).at(-1)?.event;
    if (end?.kind === "summary" && end.status === status) found.push(seed);
  }
  return found;
}

export function failuresSuite({ newStore, testRestart }: StoreBench): void {
  const FAILED = seedsOf("failed", 3);
  const [first, second, third] = FAILED.map((seed) => `r${seed}`) as [string, string, string];
  const [fine] = seedsOf("succeeded", 1) as [number];

  describe("failed runs", () => {
    test("are unacknowledged until they are acknowledged, by id or template, or retried", async () => {
      const { journal, runs } = await newStore();
      for (const seed of [fine, ...FAILED]) {
        await appendAll(journal, logOf(seed), { template: seed === FAILED[0] ? "a" : "b" });
      }
      const open = async () =>
        (await runs.list({ unacknowledged: true, limit: 10 })).items.map(({ runId }) => runId);
      expect((await open()).sort()).toEqual([first, second, third].sort());
      const page = await runs.list({ unacknowledged: true, limit: 1 });
      expect(page.nextCursor).not.toBeNull();
      expect((await runs.list({ unacknowledged: false, limit: 10 })).items).toHaveLength(1);
      expect(await runs.acknowledge({ runIds: [first, `r${fine}`, "nobody"] })).toBe(1);
      expect(await runs.acknowledge({ runIds: [first] })).toBe(0);
      await journal.create({ ...startRun(1), runId: "again", retryOf: second });
      expect(await open()).toEqual([third]);
      expect(await runs.acknowledge({ template: "a" })).toBe(0);
      expect(await runs.acknowledge({})).toBe(1);
      expect(await open()).toEqual([]);
    });

    testRestart("are told once, whoever tries, with what is made of them", async (place) => {
      const before = await place.open();
      for (const seed of [fine, ...FAILED]) await appendAll(before.journal, logOf(seed));
      await before.close();
      const { outbox } = await place.open();
      expect(await outbox.untold(2)).toHaveLength(2);
      const put = { id: "n1", rev: null, next: { body: { n: 1 }, dueAt: 5 } };
      const many = await Promise.all(Array.from({ length: 9 }, () => outbox.write([put], first)));
      expect(many.filter(Boolean)).toHaveLength(1);
      expect([...(await outbox.untold(9))].sort()).toEqual([second, third].sort());
      // what is refused writes nothing: neither the row nor the mark
      expect(await outbox.write([{ ...put, id: "n2" }, put], second)).toBe(false);
      expect([await outbox.get("n2"), (await outbox.untold(9)).length]).toEqual([null, 2]);
    });

    test("a row of the outbox is changed by who has read it last", async () => {
      const { outbox } = await newStore();
      const put = (id: string, dueAt: number) =>
        outbox.write([{ id, rev: null, next: { body: id, dueAt } }]);
      expect(await outbox.nextDue()).toBeNull();
      expect([await put("late", 9), await put("b", 5), await put("a", 5)]).toEqual(
        Array(3).fill(true),
      );
      expect([await outbox.nextDue(), await outbox.count()]).toEqual([5, 3]);
      expect((await outbox.due(8, 9)).map(({ id }) => id)).toEqual(["a", "b"]);
      expect(await outbox.due(9, 1)).toEqual([{ id: "a", body: "a", dueAt: 5, rev: 1 }]);
      const claim = { id: "a", rev: 1, next: { body: "x", dueAt: 70 } };
      const claims = await Promise.all(Array.from({ length: 9 }, () => outbox.write([claim])));
      expect(claims.filter(Boolean)).toHaveLength(1);
      expect(await outbox.get("a")).toEqual({ id: "a", body: "x", dueAt: 70, rev: 2 });
      expect(await outbox.write([{ id: "a", rev: 1, next: null }])).toBe(false);
      expect(await outbox.write([{ id: "a", rev: 2, next: null }])).toBe(true);
      expect(await outbox.get("a")).toBeNull();
    });
  });
}
