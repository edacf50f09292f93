import { describeWith } from "@millrace/test-support";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { expect, test } from "vitest";
import { appendOps, openDatabase, runOps, textsOf } from "./open.ts";
import { newWire } from "./proxy.ts";

describeWith("postgres")("a connection that is cut in the middle of a write", () => {
  const started = async () => {
    const wire = await newWire((await sharedPostgres()).url);
    const database = await openDatabase({ url: wire.url });
    for (const no of [1, 2, 3]) await database.write(runOps(no, no === 3 ? 9 : 1));
    await database.write([
      { sql: "INSERT INTO hub(id, body, serial) VALUES('n', '', 0)", rows: [[]] },
    ]);
    return { wire, database };
  };
  const append = (no: number, texts: readonly string[], after = 0) => ({
    no,
    ops: appendOps(no, { epoch: 1, after, texts }),
  });

  for (const cut of ["cutAfter", "cutBefore"] as const) {
    const what = cut === "cutAfter" ? "the answer is lost" : "the write is lost";

    test(`an append is stored once when ${what}`, async () => {
      const { wire, database } = await started();
      wire[cut]("fateful");
      await database.write(append(1, ["a", "fateful"]).ops, { quiet: true });
      expect(wire.cuts).toBe(1);
      expect(await textsOf(database, 1)).toEqual(["a", "fateful"]);
      // an owner of before is found out also then
      wire[cut]("fateful");
      const stale = database.write(append(3, ["fateful"]).ops, { quiet: true });
      await expect(stale).rejects.toMatchObject({ code: "lease_lost" });
      expect(wire.cuts).toBe(2);
      expect(await textsOf(database, 3)).toEqual([]);
    });

    test(`appends that were sent together are stored once each when ${what}`, async () => {
      const { wire, database } = await started();
      const { addToFeed } = database.dialect;
      wire[cut]("fateful");
      const appends = [
        append(1, ["a", "fateful"]),
        append(2, ["b"]),
        append(1, ["c"], 2),
        append(3, ["d"]),
      ];
      const answers = await Promise.allSettled(
        appends.map(({ no, ops }) =>
          database.write([...ops, { sql: addToFeed, rows: [[no, 1]] }], { quiet: true }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([
        ...["fulfilled", "fulfilled", "fulfilled"],
        "rejected",
      ]);
      expect(wire.cuts).toBe(1);
      expect(await textsOf(database, 1)).toEqual(["a", "fateful", "c"]);
      expect(await textsOf(database, 2)).toEqual(["b"]);
      expect((await database.all("SELECT run FROM feed")).map(({ run }) => run).sort()).toEqual([
        1, 1, 2,
      ]);
    });

    test(`another transaction is committed once, and answers its results, when ${what}`, async () => {
      const { wire, database } = await started();
      const add = "UPDATE hub SET serial = serial + 1 WHERE id = 'n' RETURNING serial";
      const adding = { sql: add, rows: [[]], get: true as const };
      for (const word of ["COMMIT", "BEGIN", "pg_current_xact_id"]) {
        const before = (await database.get("SELECT serial FROM hub"))?.["serial"] as number;
        wire[cut](word);
        expect(await database.write([adding])).toEqual([{ serial: before + 1 }]);
        expect(await database.get("SELECT serial FROM hub")).toEqual({ serial: before + 1 });
      }
      expect(wire.cuts).toBeGreaterThan(1);
    });
  }

  test("a read is repeated", async () => {
    const { wire, database } = await started();
    wire.cutAfter("once asked");
    expect(await database.get("SELECT 'once asked' AS said")).toEqual({ said: "once asked" });
    expect(wire.cuts).toBe(1);
  });
});
