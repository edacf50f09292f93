/** The feed of all runs. */
import type { Store } from "@millrace/store";
import { describe, expect, test } from "vitest";
import type { StoreBench } from "./bench.ts";
import { appendAll, logOf, startRun } from "./logs.ts";

export function feedSuite({ newStore, testRestart }: StoreBench): void {
  const IN_FEED = /^(run\.|confirm\.|summary$)/;

  /** Every entry after a position, as its reader gets them. */
  async function readAll(store: Store, after = 0) {
    const entries: { pos: number; kind: string; line: string }[] = [];
    let at = after;
    for (let page = await store.feed.read(at); page.length > 0; page = await store.feed.read(at)) {
      for (const { seq, kind, line } of page) {
        entries.push({ pos: seq, kind, line: Buffer.from(line).toString() });
      }
      at = page.at(-1)?.seq ?? at;
    }
    return entries;
  }

  function expectedOf(seed: number): string[] {
    return logOf(seed)
      .filter(({ kind }) => IN_FEED.test(kind))
      .map(({ line }) => Buffer.from(line).toString());
  }

  describe("the feed", () => {
    test("has the bytes of every start, pause, confirmation and end, from any position", async () => {
      const store = await newStore();
      expect([await store.feed.last(), await store.feed.first(), await store.feed.read(0)]).toEqual(
        [0, null, []],
      );
      const seeds = [1, 2, 3, 4, 5, 6];
      for (const seed of seeds) await appendAll(store.journal, logOf(seed));
      const all = await readAll(store);
      expect(all.map(({ line }) => line)).toEqual(seeds.flatMap(expectedOf));
      expect(all.map(({ pos }) => pos)).toEqual(all.map((_, index) => index + 1));
      expect(await store.feed.last()).toBe(all.length);
      for (const after of [1, all.length - 1, all.length]) {
        expect(await readAll(store, after)).toEqual(all.slice(after));
      }
    });

    test("has each line of runs that go on together once, and none of an append that is refused", async () => {
      const store = await newStore();
      const runs = await Promise.all(
        [1, 2, 3, 4, 5, 6].map(async (seed) => {
          const { epoch } = await store.journal.create(startRun(seed));
          return { runId: `r${seed}`, log: logOf(seed), lines: expectedOf(seed), epoch };
        }),
      );
      const starts = runs.map(({ runId, log, epoch }) =>
        store.journal.append(runId, 0, log.slice(0, 1), { epoch, sync: true }),
      );
      await Promise.all(starts);
      const rests = runs.map(({ runId, log, epoch }) =>
        store.journal.append(runId, 1, log.slice(1), {
          epoch: runId === "r3" ? epoch + 100 : epoch,
          sync: true,
        }),
      );
      const settled = await Promise.allSettled(rests);
      expect(settled.flatMap(({ status }, at) => (status === "rejected" ? [at] : []))).toEqual([2]);
      const all = (await readAll(store)).map(({ line }) => line);
      for (const { runId, lines } of runs) {
        const isOwn = (line: string): boolean => JSON.parse(line).runId === runId;
        expect(all.filter(isOwn)).toEqual(runId === "r3" ? lines.slice(0, 1) : lines);
      }
    });

    test("tells of what is committed, and whoever is told can read it", async () => {
      const store = await newStore();
      const told: string[] = [];
      let readable: Promise<number> = Promise.resolve(0);
      const unlisten = store.feed.listen((kinds) => {
        told.push(...kinds);
        readable = store.feed.last();
      });
      await appendAll(store.journal, logOf(1));
      expect(told).toEqual((await readAll(store)).map(({ kind }) => kind));
      expect(await readable).toBe(told.length);
      unlisten();
      await appendAll(store.journal, logOf(2));
      expect(await readable).toBe(told.length);
    });

    test("loses the entries of a deleted run and never uses their positions again", async () => {
      const store = await newStore();
      await appendAll(store.journal, logOf(1));
      const first = await store.feed.last();
      expect(await store.runs.delete("r1")).toBe("deleted");
      expect([await store.feed.first(), await store.feed.last()]).toEqual([null, first]);
      await appendAll(store.journal, logOf(2));
      expect(await store.feed.first()).toBe(first + 1);
    });
  });

  test("a page is bounded by its bytes, and holds at least one entry", async () => {
    const store = await newStore();
    const large = "x".repeat(100_000);
    const events = logOf(1).map((stored) =>
      stored.kind === "summary"
        ? { ...stored, line: Buffer.concat([stored.line, Buffer.from(large)]) }
        : stored,
    );
    for (let seed = 1; seed <= 9; seed += 1) {
      const runId = `r${seed}`;
      await appendAll(
        store.journal,
        events.map((stored) => ({ ...stored, event: { ...stored.event, runId } })),
      );
    }
    const sizes: number[] = [];
    let entries = 0;
    for (
      let at = 0, page = await store.feed.read(at);
      page.length > 0;
      page = await store.feed.read(at)
    ) {
      sizes.push(page.reduce((sum, { line }) => sum + line.byteLength, 0));
      entries += page.length;
      at = page.at(-1)?.seq ?? at;
    }
    expect(entries).toBe(await store.feed.last());
    expect(Math.max(...sizes)).toBeLessThanOrEqual(262_144);
    expect(sizes.length).toBeGreaterThan(3);
  });

  testRestart("positions go on after a restart", async (place) => {
    const first = await place.open();
    await appendAll(first.journal, logOf(1));
    const last = await first.feed.last();
    await first.close();
    const store = await place.open();
    await appendAll(store.journal, logOf(2));
    expect((await readAll(store, last)).map(({ line }) => line)).toEqual(expectedOf(2));
  });
}
