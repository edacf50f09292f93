/** What a server asks the database while nothing happens: a notice may be lost, so it looks, but not once for each run. */
import { type Database, sharedStoreOver } from "@millrace/store/sql";
import { openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { startRun } from "@millrace/test-support/store";
import { expect, onTestFinished, test } from "vitest";
import { KEY, newSchema, openDatabase } from "./open.ts";

const RUNS = 20;
const LOOKS = 4;

describeWith("postgres")("a server that drives runs and follows them", () => {
  test("asks twice a second for all of them together, and is told where there is news", async () => {
    const schema = newSchema();
    const database = await openDatabase({ schema });
    let asked = 0;
    const all: Database["all"] = (...given) => {
      asked += 1;
      return database.all(...given);
    };
    const store = sharedStoreOver({ ...database, all });
    const told = new Set<string>();
    for (let no = 1; no <= RUNS; no += 1) {
      await store.journal.create({ ...startRun(5), runId: `r${no}` });
      onTestFinished(store.journal.follow(`r${no}`, 0, () => {}));
      const ended = new AbortController();
      onTestFinished(() => ended.abort());
      const work = { runId: `r${no}`, isNew: true, obey: async () => void told.add(`r${no}`) };
      void store.inbox.obeyUntil(ended.signal, work);
    }
    const looks = (count: number): Promise<void> =>
      new Promise((done) => {
        let seen = 0;
        const end = database.watch((topic) => {
          if (topic !== "*") return;
          seen += 1;
          if (seen < count) return;
          end();
          done();
        });
      });
    asked = 0;
    await looks(LOOKS);
    expect(asked).toBeLessThanOrEqual(2 * (LOOKS + 1));
    expect([...told]).toEqual([]);
    const { url } = await sharedPostgres();
    const other = await openPostgresStore({ url, schema, key: KEY, connections: 4 });
    onTestFinished(() => other.close());
    await other.inbox.send("r7", { say: "something" });
    await expect.poll(() => [...told]).toEqual(["r7"]);
  });
});
