import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { appendOps, openDatabase, runOps, textsOf } from "./open.ts";

describeWith("postgres")("transactions", () => {
  test("values come back as they were bound, question marks in strings stay", async () => {
    const database = await openDatabase();
    const bytes = new Uint8Array([0, 1, 63, 92, 255]);
    await database.write([
      {
        sql: "INSERT INTO blob(digest, bytes, media_type, body) VALUES(?, ?, '?', ?)",
        rows: [["d", Number.MAX_SAFE_INTEGER, bytes]],
      },
    ]);
    const row = await database.get(
      "SELECT bytes, media_type, body, NULL AS nothing, length(body) AS size FROM blob WHERE digest = ? -- why?",
      ["d"],
    );
    expect(row).toEqual({
      bytes: Number.MAX_SAFE_INTEGER,
      media_type: "?",
      body: Buffer.from(bytes),
      nothing: null,
      size: 5,
    });
    expect(await database.get("SELECT body FROM blob WHERE digest = ?", ["e"])).toBeUndefined();
    await expect(database.get("SELECT 9007199254740993::bigint AS n")).rejects.toMatchObject({
      code: "store_unavailable",
    });
    expect(await database.get("SELECT 'a' AS ok")).toEqual({ ok: "a" });
  });

  test("a transaction is written whole, and answers a result for each operation", async () => {
    const database = await openDatabase();
    const results = await database.write([
      {
        sql: "INSERT INTO setting(path, json) VALUES(?, ?)",
        rows: [
          ["a", "1"],
          ["b", "2"],
        ],
      },
      { sql: "DELETE FROM setting WHERE path = ?", rows: [] },
      { sql: "SELECT json FROM setting WHERE path = ?", rows: [["b"]], get: true },
      { sql: "SELECT json FROM setting WHERE path = ?", rows: [["c"]], get: true },
    ]);
    expect(results).toEqual([2, 0, { json: "2" }, undefined]);
  });

  test("a statement that changes nothing refuses with its need, and nothing is written", async () => {
    const database = await openDatabase();
    const set = { sql: "INSERT INTO setting(path, json) VALUES(?, '1')", rows: [["a"]] };
    const refused = database.write([
      set,
      { sql: "UPDATE hub SET serial = 1 WHERE id = ?", rows: [["h"]], need: "older" },
      { sql: "INSERT INTO hub(id, body) VALUES(?, NULL)", rows: [["h"]] },
    ]);
    await expect(refused).rejects.toMatchObject({ name: "Refusal", code: "older" });
    await expect(
      database.write([set, { sql: "DELETE FROM hub", rows: [[]], need: "lease_lost" }]),
    ).rejects.toMatchObject({ name: "StoreError", code: "lease_lost" });
    await expect(
      database.write([{ sql: "INSERT INTO hub(id, body) VALUES('h', NULL)", rows: [[]] }]),
    ).rejects.toMatchObject({ name: "Refusal", code: "23502" });
    expect(await database.all("SELECT * FROM setting")).toEqual([]);
  });

  test("of many starts with one id one wins, and the others are refused with its need", async () => {
    const [one, other] = [
      await openDatabase({ schema: "one_id" }),
      await openDatabase({ schema: "one_id" }),
    ];
    const starts = Array.from({ length: 20 }, (_, index) => {
      const database = index % 2 === 0 ? one : other;
      const [graph, run] = runOps(index + 1, database.epoch);
      const { rows, ...rest } = run as { sql: string; rows: (string | number)[][] };
      const named = { ...rest, rows: rows.map(([no, _id, epoch]) => [no, "same", epoch]) };
      return database.write([graph, named] as never).then(
        () => "won",
        (error: { code: string }) => error.code,
      );
    });
    const answers = await Promise.all(starts);
    expect(answers.filter((answer) => answer === "won")).toHaveLength(1);
    expect(new Set(answers)).toEqual(new Set(["won", "run_exists"]));
  });

  test("an append is stored with its lines, and refused for another epoch or another place", async () => {
    const database = await openDatabase();
    await database.write(runOps(1, 5));
    await database.write(appendOps(1, { epoch: 5, after: 0, texts: ["a", "é\u0000b"] }), {
      quiet: true,
    });
    for (const wrong of [
      { epoch: 4, after: 2 },
      { epoch: 5, after: 1 },
    ]) {
      await expect(
        database.write(appendOps(1, { ...wrong, texts: ["x"] }), { quiet: true }),
      ).rejects.toMatchObject({ code: "lease_lost" });
    }
    const status = { sql: "UPDATE run SET status = ? WHERE no = ?", rows: [["paused", 1]] };
    await database.write([...appendOps(1, { epoch: 5, after: 2, texts: ["c"] }), status], {
      quiet: true,
    });
    await expect(
      database.write(
        [
          ...appendOps(1, { epoch: 5, after: 9, texts: ["d"] }),
          { ...status, rows: [["failed", 1]] },
        ],
        {
          quiet: true,
        },
      ),
    ).rejects.toMatchObject({ code: "lease_lost" });
    expect(await textsOf(database, 1)).toEqual(["a", "é\u0000b", "c"]);
    expect(await database.get("SELECT status, last_seq FROM run")).toEqual({
      status: "paused",
      last_seq: 3,
    });
    const results = await database.write(appendOps(1, { epoch: 5, after: 3, texts: ["e", "f"] }));
    expect(results).toEqual([2]);
  });

  test("of appends that are written together only those with another owner are refused", async () => {
    const database = await openDatabase();
    const runs = Array.from({ length: 40 }, (_, n) => n + 1);
    for (const no of runs) await database.write(runOps(no, no % 10 === 0 ? 2 : 1));
    const { addToFeed } = database.dialect;
    const answers = await Promise.all(
      runs.map((no) => {
        const append = appendOps(no, { epoch: 1, after: 0, texts: ["a", "b"] });
        const entry = { sql: addToFeed, rows: [[no, 1]] };
        return database.write([...append, entry], { quiet: true }).then(
          () => "stored",
          (error: { code: string }) => error.code,
        );
      }),
    );
    expect(answers).toEqual(runs.map((no) => (no % 10 === 0 ? "lease_lost" : "stored")));
    for (const no of runs) {
      expect(await textsOf(database, no)).toEqual(no % 10 === 0 ? [] : ["a", "b"]);
    }
    const entries = await database.all("SELECT pos, run FROM feed ORDER BY pos");
    expect(entries.map(({ pos }) => pos)).toEqual(entries.map((_, index) => index + 1));
    expect(new Set(entries.map(({ run }) => run))).toEqual(
      new Set(runs.filter((no) => no % 10 !== 0)),
    );
  });

  test("a server whose run was taken by another one writes nothing more", async () => {
    const schema = "fencing";
    const [one, other] = [await openDatabase({ schema }), await openDatabase({ schema })];
    await one.write(runOps(1, one.epoch));
    const append = (database: typeof one, epoch: number, after: number) =>
      database.write(appendOps(1, { epoch, after, texts: ["x"] }), { quiet: true });
    await append(one, one.epoch, 0);
    const { value } = other.dialect.newEpoch;
    const take = `UPDATE run SET epoch = ${value}, holder = ? WHERE id = ? AND epoch = ? RETURNING epoch`;
    const [row] = await other.write([
      { sql: take, rows: [[other.holder, "r1", one.epoch]], get: true, need: "lease_lost" },
    ]);
    const { epoch } = row as { epoch: number };
    expect(epoch).toBeGreaterThan(other.epoch);
    await expect(append(one, one.epoch, 1)).rejects.toMatchObject({ code: "lease_lost" });
    await append(other, epoch, 1);
    await expect(append(one, one.epoch, 2)).rejects.toMatchObject({ code: "lease_lost" });
    expect(await textsOf(one, 1)).toEqual(["x", "x"]);
  });

  test("transactions that lock each other out are tried again until both are written", async () => {
    const database = await openDatabase();
    const put = (path: string, json: string) => ({
      sql: "INSERT INTO setting(path, json) VALUES(?, ?) ON CONFLICT(path) DO UPDATE SET json = excluded.json",
      rows: [[path, json]],
    });
    await database.write([put("a", "0"), put("b", "0")]);
    const rounds = Array.from({ length: 8 }, (_, n) =>
      database.write(
        n % 2 === 0 ? [put("a", `${n}`), put("b", `${n}`)] : [put("b", `${n}`), put("a", `${n}`)],
      ),
    );
    await Promise.all(rounds);
    const rows = await database.all("SELECT json FROM setting ORDER BY path");
    expect(rows[0]).toEqual(rows[1]);
  });
});
