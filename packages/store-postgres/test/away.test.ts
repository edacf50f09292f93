import type { Condition } from "@millrace/store/sql";
import { inspectPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import {
  type PostgresServer,
  sharedPostgres,
  startPostgres,
} from "@millrace/test-support/postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { appendOps, newClient, newSchema, openDatabase, runOps, textsOf } from "./open.ts";

/** Sessions are ended again when so much was written, however slow the machine is. */
const WRITES_BETWEEN = 4;

describeWith("postgres")("a database that goes away", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test("sessions that are ended again and again lose no append, and store none twice", async () => {
    const { url } = await sharedPostgres();
    const database = await openDatabase();
    const killer = await newClient(url);
    const runs = [1, 2, 3, 4];
    for (const no of runs) await database.write(runOps(no, database.epoch));
    let isOver = false;
    let written = 0;
    const kills = (async () => {
      let killed = 0;
      while (!isOver) {
        const { rowCount } = await killer.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'millrace' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 3",
        );
        killed += rowCount ?? 0;
        const next = written + WRITES_BETWEEN;
        await vi.waitUntil(() => isOver || written >= next, { timeout: 40_000, interval: 1 });
      }
      return killed;
    })();
    const feed = database.dialect.addToFeed;
    const lengths = runs.map(async (no) => {
      let after = 0;
      while (after < 60) {
        const texts = after % 3 === 0 ? [`${after}`] : [`${after}`, `${after + 1}`];
        const entry = after % 2 === 0 ? [{ sql: feed, rows: [[no, after]] }] : [];
        const ops = [...appendOps(no, { epoch: database.epoch, after, texts }), ...entry];
        await database.write(ops, { quiet: true });
        written += 1;
        after += texts.length;
      }
      return after;
    });
    const counted = (async () => {
      const values: number[] = [];
      await database.write([
        { sql: "INSERT INTO hub(id, body, serial) VALUES('n', '', 0)", rows: [[]] },
      ]);
      for (let n = 0; n < 15; n += 1) {
        const [row] = await database.write([
          {
            sql: "UPDATE hub SET serial = serial + 1 WHERE id = 'n' RETURNING serial",
            rows: [[]],
            get: true,
          },
        ]);
        values.push((row as { serial: number }).serial);
      }
      return values;
    })();
    const ends = await Promise.all(lengths);
    isOver = true;
    expect(await counted).toEqual(Array.from({ length: 15 }, (_, n) => n + 1));
    expect(await kills).toBeGreaterThan(0);
    for (const [index, no] of runs.entries()) {
      const texts = await textsOf(database, no);
      expect(texts).toEqual(Array.from({ length: ends[index] ?? 0 }, (_, n) => `${n}`));
      const entries = await database.all("SELECT seq FROM feed WHERE run = ? ORDER BY pos", [no]);
      expect(new Set(entries.map(({ seq }) => seq)).size).toBe(entries.length);
    }
  });

  test("an append waits for a server that starts again; others are refused, and everything goes on by itself", async () => {
    const database = await openDatabase({ server });
    let isLost = false;
    void database.lost.then(() => {
      isLost = true;
    });
    const waits: boolean[] = [];
    database.watchRoom((isWaiting) => waits.push(isWaiting));
    await database.write(runOps(1, database.epoch));
    await server.down("immediate");
    const append = database.write(appendOps(1, { epoch: database.epoch, after: 0, texts: ["a"] }), {
      quiet: true,
    });
    await vi.waitFor(() => expect(database.condition).toBe<Condition>("store_unavailable"), 30_000);
    const away = { code: "store_unavailable", retryable: true };
    await expect(database.get("SELECT 1 AS one")).rejects.toMatchObject(away);
    await expect(database.write(runOps(2, database.epoch))).rejects.toMatchObject(away);
    await server.up();
    await append;
    expect(await textsOf(database, 1)).toEqual(["a"]);
    await database.write(runOps(2, database.epoch));
    expect(database.condition).toBe("ok");
    expect(waits).toEqual([true, false]);
    expect(isLost).toBe(false);
  });

  test("a server that takes no writes, as a standby does, is away until it takes them, and says why", async () => {
    const schema = newSchema();
    const database = await openDatabase({ server, schema });
    const told: (readonly [boolean, string | undefined])[] = [];
    database.watchRoom((isWaiting, problem) => told.push([isWaiting, problem]));
    const admin = await newClient(server.url);
    const set = async (value: "on" | "off"): Promise<void> => {
      await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await admin.query("SELECT pg_reload_conf()");
    };
    await set("on");
    try {
      // nobody writes but the sign of life of the server
      await vi.waitFor(() => expect(database.condition).toBe<Condition>("store_unavailable"), {
        timeout: 30_000,
      });
      expect(told).toEqual([
        [true, expect.stringMatching(/: it takes no writes: .* standby.* \(25006\)$/)],
      ]);
      const away = { code: "store_unavailable", retryable: true };
      await expect(database.write(runOps(1, database.epoch))).rejects.toMatchObject(away);
      await expect(openDatabase({ server, schema })).rejects.toThrow(/takes no writes/);
      expect(await inspectPostgresStore({ url: server.url })).toMatchObject({ isReadOnly: true });
    } finally {
      await set("off");
    }
    await vi.waitFor(() => expect(database.condition).toBe<Condition>("ok"), { timeout: 30_000 });
    await database.write(runOps(1, database.epoch));
    expect(await inspectPostgresStore({ url: server.url })).toMatchObject({ isReadOnly: false });
  });

  test("a table that was changed meanwhile is read with all of its columns", async () => {
    const schema = newSchema();
    const database = await openDatabase({ schema });
    await database.write([{ sql: "INSERT INTO hub(id, body) VALUES('h', '{}')", rows: [[]] }]);
    const before = { id: "h", body: "{}", serial: null };
    expect(await database.all("SELECT * FROM hub")).toEqual([before]);
    const client = await newClient((await sharedPostgres()).url);
    await client.query(`ALTER TABLE ${schema}.hub ADD COLUMN more text`);
    expect(await database.all("SELECT * FROM hub")).toEqual([{ ...before, more: null }]);
    expect(database.condition).toBe("ok");
  });

  test("a write that waits too long is refused as retryable, and a closed database waits for nothing", async () => {
    const database = await openDatabase({ server, patienceMs: 300 });
    await database.write(runOps(1, database.epoch));
    await server.down();
    const append = (): Promise<unknown> =>
      database.write(appendOps(1, { epoch: database.epoch, after: 0, texts: ["a"] }), {
        quiet: true,
      });
    await expect(append()).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    await database.close();
    await expect(append()).rejects.toMatchObject({ code: "store_unavailable" });
    await server.up();
  });

  test("nothing is opened where nobody listens, and no message shows the password", async () => {
    const opening = openDatabase({
      url: "postgres://u:s3cret@127.0.0.1:1/db",
      schema: newSchema(),
    });
    const error = (await opening.catch((refusal: unknown) => refusal)) as Error & { code: string };
    expect(error.code).toBe("store_unavailable");
    expect(error.message).toBe("127.0.0.1:1/db cannot be reached: ECONNREFUSED");
    for (const url of [
      "s3cret",
      "mysql://u:s3cret@h/db",
      "postgres://u:s3cret@h/db?sslmode=prefer",
    ]) {
      await expect(openDatabase({ url })).rejects.toThrow(/^(?!.*s3cret)/);
    }
    await expect(openDatabase({ schema: 'a"; DROP' })).rejects.toThrow(TypeError);
  });
});
