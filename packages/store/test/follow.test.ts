/** Who follows a run gets what is stored of it; questions of all runs are one list. */
import type { EncodedEvent } from "@millrace/contracts";
import { openMemoryStore, type Store } from "@millrace/store";
import { describe, expect, onTestFinished, test } from "vitest";
import { appendAll, linesOf, logOf, startRun } from "./logs.ts";
import { newStore } from "./new-store.ts";

const SEEDS = [3, 5, 11, 13, 17, 19, 23, 29];

describe.each([
  ["a folder", () => newStore()],
  [
    "memory",
    async () => {
      const store = openMemoryStore();
      onTestFinished(() => store.close());
      return store;
    },
  ],
] as const)("over %s", (_name, open: () => Promise<Store>) => {
  test("a follower gets each event after its commit, once and in order, until it leaves", async () => {
    const { journal } = await open();
    const log = logOf(11);
    const { epoch } = await journal.create(startRun(11));
    const told: EncodedEvent[] = [];
    let storedFirst = true;
    const leave = journal.follow("r11", (events) => {
      told.push(...events);
    });
    journal.follow("r11", () => {
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

  test("confirmations are listed by run and request, in pages of any size, and found one by one", async () => {
    const { confirmations, journal, runs } = await open();
    for (const seed of SEEDS) await appendAll(journal, logOf(seed));
    const all = [...SEEDS]
      .reverse()
      .flatMap((seed) => runs.get(`r${seed}`)?.confirmations ?? [])
      .filter(({ status }) => status === "approved");
    expect(all.length).toBeGreaterThan(2);
    for (const limit of [1, 2, 200]) {
      const listed = [];
      let cursor: string | undefined;
      do {
        const page = confirmations.list({
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
    expect(confirmations.get(first?.runId ?? "", first?.id ?? "")).toEqual(first);
    expect(confirmations.get(first?.runId ?? "", "k999")).toBeNull();
    const { nextCursor } = confirmations.list({ status: "approved", limit: 1 });
    const other = () =>
      confirmations.list({ status: "rejected", limit: 1, cursor: nextCursor ?? "" });
    expect(other).toThrow(expect.objectContaining({ code: "bad_cursor" }));
  });
});
