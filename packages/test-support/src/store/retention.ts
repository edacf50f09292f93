/** What goes when its time is over. */
import { parseEvent, type Run } from "@millrace/contracts";
import type { Store } from "@millrace/store";
import { describe, expect, test } from "vitest";
import type { StoreBench } from "./bench.ts";
import { appendAll, linesOf, logOf, startRun } from "./logs.ts";
import { linesOfText, TS } from "./long-log.ts";

export function retentionSuite({ newStore, testRestart }: StoreBench): void {
  const DAY_MS = 86_400_000;

  /** A store whose clock stands `days` after the end of the runs with these seeds. */
  async function storeOf(seeds: readonly number[], days = 0): Promise<Store> {
    const ends = seeds.map((seed) => logOf(seed).at(-1)?.event.ts ?? 0);
    const now = Math.max(...ends) + days * DAY_MS;
    const store = await newStore({ now: () => now });
    for (const seed of seeds) await appendAll(store.journal, logOf(seed));
    return store;
  }

  const kindsOf = async (store: Store, runId: string): Promise<string[]> =>
    (await linesOf(store.journal, runId)).map((line) => parseEvent(line).kind);

  describe("the log of an ended run", () => {
    test("stays for 30 days, and then leaves a snapshot and its summary", async () => {
      const log = logOf(1);
      const young = await storeOf([1], 29);
      expect(await young.retain()).toMatchObject({ pruned: 0, deleted: 0 });
      expect(await linesOf(young.journal, "r1")).toHaveLength(log.length);

      const store = await storeOf([1], 31);
      const before = (await store.runs.get("r1")) as Run;
      await store.journal.putValue("r1", "step", "x".repeat(100_000));
      expect(await store.retain()).toMatchObject({ pruned: 1, deleted: 0 });
      const lines = await linesOf(store.journal, "r1");
      expect(lines.map((line) => parseEvent(line)).map(({ kind, seq }) => [kind, seq])).toEqual([
        ["snapshot", log.length - 1],
        ["summary", log.length],
      ]);
      expect(lines[1]).toBe(new TextDecoder().decode(log.at(-1)?.line));
      expect(await store.runs.get("r1")).toEqual(before);
      expect(await store.journal.load("r1")).toMatchObject({ events: [], steps: {} });
      expect(await store.retain()).toMatchObject({ pruned: 0, deleted: 0 });
    });

    test("gives whoever reads on in it its end, and never silence or a hole", async () => {
      const store = await storeOf([1], 31);
      const last = logOf(1).length;
      await store.retain();
      for (const after of [0, 1, last >> 1, last - 2]) {
        const seqs: number[] = [];
        for await (const page of store.journal.read("r1", after)) {
          seqs.push(...page.map(({ seq }) => seq));
        }
        expect([after, seqs]).toEqual([after, [last - 1, last]]);
      }
    });

    test("that somebody reads meanwhile goes on with its end", async () => {
      const store = await newStore({ now: () => TS });
      const { epoch } = await store.journal.create(startRun(1));
      const log = linesOfText("r1", 2_000);
      await store.journal.append("r1", 0, log, { epoch, sync: true });
      const seqs: number[] = [];
      for await (const page of store.journal.read("r1", 0)) {
        seqs.push(...page.map(({ seq }) => seq));
        if (seqs.length === 512) await store.retain({ journalBytes: 1 });
      }
      expect(seqs).toEqual([...Array.from({ length: 512 }, (_, i) => i + 1), 1_999, 2_000]);
    });

    test("counts among the newest ones, or goes", async () => {
      const seeds = [1, 2, 3, 4];
      const store = await storeOf(seeds);
      expect(await store.retain({ journalRuns: 2 })).toMatchObject({ pruned: 2 });
      const byEnd = seeds
        .map((seed) => ({ runId: `r${seed}`, ts: logOf(seed).at(-1)?.event.ts ?? 0 }))
        .sort((a, b) => b.ts - a.ts);
      for (const [place, { runId }] of byEnd.entries()) {
        expect([runId, (await kindsOf(store, runId)).length > 2]).toEqual([runId, place < 2]);
      }
    });

    test("of a live run stays, however old", async () => {
      const store = await storeOf([1], 400);
      const { epoch } = await store.journal.create(startRun(2));
      const log = logOf(2).slice(0, -1);
      await store.journal.append("r2", 0, log, { epoch, sync: true });
      await store.retain({ journalBytes: 1, journalRuns: 1 });
      expect(await linesOf(store.journal, "r2")).toHaveLength(log.length);
    });

    testRestart(
      "a pass that was cut short is finished by the next one, also after a restart",
      async (place) => {
        const store = await place.open({ now: () => TS });
        const { epoch } = await store.journal.create(startRun(1));
        await store.journal.append("r1", 0, linesOfText("r1", 5_000), { epoch, sync: true });
        const pass = store.retain({ journalBytes: 1 });
        const refused = expect(pass).rejects.toMatchObject({ code: "store_unavailable" });
        for await (const [event] of pagesOnce(store)) if (event?.seq !== 1) break;
        await store.close();
        await refused;
        const again = await place.open({ now: () => TS });
        const seqs = await seqsOf(again);
        expect(seqs.slice(-2)).toEqual([4_999, 5_000]);
        expect(await again.retain({ journalBytes: 1 })).toMatchObject({ pruned: 1 });
        expect(await seqsOf(again)).toEqual([4_999, 5_000]);
      },
    );
  });

  /** The first page, again and again. */
  async function* pagesOnce(store: Store) {
    for (;;) {
      for await (const page of store.journal.read("r1", 0)) {
        yield page;
        break;
      }
      await new Promise((next) => setImmediate(next));
    }
  }

  async function seqsOf(store: Store): Promise<number[]> {
    const seqs: number[] = [];
    for await (const page of store.journal.read("r1", 0)) seqs.push(...page.map(({ seq }) => seq));
    return seqs;
  }

  test("a run is gone after a year, with its tags, questions and what nobody shares", async () => {
    const store = await storeOf([1, 2], 366);
    await appendAll(store.journal, logOf(3), { tags: { team: "a" } });
    expect(await store.retain()).toMatchObject({ pruned: 3, deleted: 3 });
    expect((await store.runs.list({ limit: 10 })).items).toEqual([]);
    await appendAll(store.journal, logOf(1));
    expect((await store.runs.get("r1"))?.status).toBeDefined();
  });

  test("the feed is shortened at its beginning, and its positions go on", async () => {
    const store = await storeOf([1, 2], 8);
    const last = await store.feed.last();
    expect(await store.retain()).toMatchObject({ pruned: 0, feed: last });
    expect(await store.feed.first()).toBeNull();
    await appendAll(store.journal, logOf(3));
    expect(await store.feed.first()).toBe(last + 1);
    expect(await (await storeOf([1], 6)).feed.first()).toBe(1);
  });

  test("fires of schedules, used keys and signatures go when their time is over", async () => {
    let now = 1_750_000_000_000;
    const store = await newStore({ now: () => now });
    await store.schedules.put({ id: "s", body: {}, enabled: true, nextAt: now });
    await store.schedules.fire("s", { fireTime: now, outcome: "skipped", nextAt: now + DAY_MS });
    const request = { scope: "a", key: "b", fingerprint: Buffer.from("c") };
    await store.idempotency.begin(request);
    expect(await store.retain()).toMatchObject({ fires: 0, requests: 0 });
    now += DAY_MS;
    expect(await store.retain()).toMatchObject({ fires: 0, requests: 1 });
    now += 90 * DAY_MS;
    expect(await store.retain()).toMatchObject({ fires: 1, requests: 0 });
    expect(await store.schedules.fires("s", 10)).toEqual([]);
    const again = { fireTime: 1_750_000_000_000, outcome: "skipped", nextAt: null } as const;
    expect(await store.schedules.fire("s", again)).toBe(false);
  });
}
