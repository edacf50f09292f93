import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { openDatabase } from "./open.ts";

const WRITERS = 8;
const ENTRIES = 60;

describeWith("postgres")("the feed", () => {
  test("a reader that follows eight writers at two servers misses no entry", async () => {
    const schema = "feed";
    const options = { schema, connections: 12 };
    const servers = [await openDatabase(options), await openDatabase(options)];
    const reader = await openDatabase({ schema });
    const { addToFeed, lastOfFeed } = reader.dialect;
    let isOver = false;
    const seen: number[][] = [];
    const follow = (async () => {
      for (let after = 0; ; ) {
        const wasOver = isOver;
        const rows = await reader.all("SELECT pos, run, seq FROM feed WHERE pos > ? ORDER BY pos", [
          after,
        ]);
        for (const { pos, run, seq } of rows) {
          after = Number(pos);
          seen.push([Number(run), Number(seq)]);
        }
        const last = await reader.get(lastOfFeed);
        expect(Number(last?.["pos"])).toBeGreaterThanOrEqual(after);
        if (wasOver) return after;
      }
    })();
    const writers = Array.from({ length: WRITERS }, async (_, run) => {
      const database = servers[run % servers.length] as (typeof servers)[0];
      for (let seq = 1; seq <= ENTRIES; seq += 2) {
        const rows =
          seq % 3 === 0
            ? [[run, seq]]
            : [
                [run, seq],
                [run, seq + 1],
              ];
        // what comes after it in the transaction does not hold others up: it is sent before
        const slow = { sql: "SELECT pg_sleep(?)", rows: [[Math.random() / 500]] };
        await database.write([{ sql: addToFeed, rows }, slow]);
      }
    });
    await Promise.all(writers);
    isOver = true;
    const last = await follow;
    const count = (await reader.get("SELECT count(*) AS n, max(pos) AS last FROM feed")) ?? {};
    expect({ n: seen.length, last }).toEqual(count);
    for (let run = 0; run < WRITERS; run += 1) {
      const seqs = seen.filter(([one]) => one === run).map(([, seq]) => seq);
      expect(seqs).toEqual([...seqs].sort((a, b) => Number(a) - Number(b)));
    }
    expect((await reader.get(lastOfFeed))?.["pos"]).toBe(last);
  });

  test("a refused transaction leaves neither an entry nor a gap that is visible", async () => {
    const database = await openDatabase();
    const { addToFeed, lastOfFeed } = database.dialect;
    const refused = database.write([
      { sql: addToFeed, rows: [[1, 1]] },
      { sql: "DELETE FROM setting WHERE path = ?", rows: [["none"]], need: "gone" },
    ]);
    await expect(refused).rejects.toMatchObject({ code: "gone" });
    expect(await database.get(lastOfFeed)).toEqual({ pos: 0 });
    const [added] = await database.write([
      {
        sql: addToFeed,
        rows: [
          [1, 1],
          [1, 2],
        ],
      },
    ]);
    expect(added).toBe(2);
    expect(await database.all("SELECT * FROM feed ORDER BY pos")).toEqual([
      { pos: 1, run: 1, seq: 1 },
      { pos: 2, run: 1, seq: 2 },
    ]);
  });
});
