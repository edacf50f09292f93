/** Who follows a run gets what is stored of it; questions of all runs are one list. */
import { type EncodedEvent, type ExecutionEvent, serialiseEvent } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import type { StoreBench } from "./bench.ts";
import { appendAll, linesOf, logOf, startRun } from "./logs.ts";

export function followSuite({ newStore }: StoreBench): void {
  const SEEDS = [3, 5, 11, 13, 17, 19, 23, 29];

  describe("who follows", () => {
    test("a follower gets each event after its commit, once and in order, until it leaves", async () => {
      const { journal } = await newStore();
      const log = logOf(11);
      const { epoch } = await journal.create(startRun(11));
      const told: EncodedEvent[] = [];
      let storedFirst = true;
      const leave = journal.follow("r11", 0, (events) => {
        told.push(...events);
      });
      journal.follow("r11", 0, () => {
        storedFirst &&= told.length > 0;
      });
      const half = Math.floor(log.length / 2);
      await journal.append("r11", 0, log.slice(0, half), { epoch, sync: true });
      expect(told).toEqual(log.slice(0, half));
      expect(await linesOf(journal, "r11")).toHaveLength(half);
      const stale = journal.append("r11", 0, log.slice(0, 1), { epoch, sync: true });
      await expect(stale).rejects.toMatchObject({ code: "lease_lost" });
      expect(told).toHaveLength(half);
      leave();
      await journal.append("r11", half, log.slice(half), { epoch, sync: true });
      expect(told).toHaveLength(half);
      expect(storedFirst).toBe(true);
    });

    test("a long log is read with turns for others between its pages", async () => {
      const { journal } = await newStore();
      const { epoch } = await journal.create(startRun(11));
      const [start] = logOf(11) as [EncodedEvent];
      const rest = Array.from({ length: 1_200 }, (_, at): EncodedEvent => {
        const { ts } = start.event;
        const head = {
          v: 1,
          runId: "r11",
          seq: at + 2,
          ts,
          level: "info",
          channel: "engine",
        } as const;
        const event: ExecutionEvent = { ...head, kind: "log", text: "x" };
        return { seq: at + 2, kind: "log", line: Buffer.from(serialiseEvent(event)), event };
      });
      await journal.append("r11", 0, [start, ...rest], { epoch, sync: true });
      const turns: number[] = [];
      let turn = 0;
      let next = setImmediate(() => undefined);
      const count = () => {
        turn += 1;
        next = setImmediate(count);
      };
      count();
      for await (const _ of journal.read("r11", 0)) turns.push(turn);
      clearImmediate(next);
      expect(new Set(turns).size).toBe(3);
    });

    test("confirmations are listed by run and request, in pages of any size, and found one by one", async () => {
      const { confirmations, journal, runs } = await newStore();
      for (const seed of SEEDS) await appendAll(journal, logOf(seed));
      const found = await Promise.all([...SEEDS].reverse().map((seed) => runs.get(`r${seed}`)));
      const all = found
        .flatMap((run) => run?.confirmations ?? [])
        .filter(({ status }) => status === "approved");
      expect(all.length).toBeGreaterThan(2);
      for (const limit of [1, 2, 200]) {
        const listed = [];
        let cursor: string | undefined;
        do {
          const page = await confirmations.list({
            status: "approved",
            limit,
            ...(cursor === undefined ? {} : { cursor }),
          });
          listed.push(...page.items);
          cursor = page.nextCursor ?? undefined;
        } while (cursor !== undefined);
        expect(listed).toEqual(all);
      }
      const [first] = all;
      expect(await confirmations.get(first?.runId ?? "", first?.id ?? "")).toEqual(first);
      expect(await confirmations.get(first?.runId ?? "", "k999")).toBeNull();
      const { nextCursor } = await confirmations.list({ status: "approved", limit: 1 });
      const other = confirmations.list({ status: "rejected", limit: 1, cursor: nextCursor ?? "" });
      await expect(other).rejects.toMatchObject({ code: "bad_cursor" });
    });
  });
}
