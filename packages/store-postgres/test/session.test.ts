import type { Database } from "@millrace/store/sql";
import { describeWith } from "@millrace/test-support";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { expect, onTestFinished, test, vi } from "vitest";
import { newClient, newSchema, openDatabase, runOps } from "./open.ts";
import { newWire } from "./proxy.ts";

/** Whether the holder of run 1 is at work. */
async function isHeld(database: Database): Promise<boolean> {
  const sql = `SELECT count(*) AS n FROM run WHERE no = 1 AND ${database.dialect.isHeld}`;
  return (await database.get(sql))?.["n"] === 1;
}

async function takeRun(database: Database): Promise<void> {
  const sql = "UPDATE run SET holder = ? WHERE no = 1";
  await database.write([...runOps(1, 1), { sql, rows: [[database.holder]] }]);
}

describeWith("postgres")("the session of a server", () => {
  test("a server hears what has changed at another one, and not what it has changed itself", async () => {
    const schema = newSchema();
    const [one, other] = [await openDatabase({ schema }), await openDatabase({ schema })];
    const elsewhere = await openDatabase();
    const heard = {
      one: new Set<string>(),
      other: new Set<string>(),
      elsewhere: new Set<string>(),
    };
    one.watch((topic) => heard.one.add(topic));
    const stop = other.watch((topic) => heard.other.add(topic));
    elsewhere.watch((topic) => heard.elsewhere.add(topic));
    const topics = Array.from({ length: 400 }, (_, n) => `run:r${n}${"x".repeat(40)}`);
    await one.write([{ sql: "DELETE FROM hub", rows: [[]] }], { topics: ["settings", ...topics] });
    await vi.waitFor(() => expect(heard.other.size).toBeGreaterThan(400), 30_000);
    heard.other.delete("*");
    expect([...heard.other]).toEqual(["settings", ...topics]);
    const refused = { sql: "DELETE FROM hub", rows: [[]], need: "gone" };
    await expect(one.write([refused], { topics: ["refused"] })).rejects.toThrow("gone");
    await one.write([], { topics: ["after"] });
    await vi.waitFor(() => expect(heard.other).toContain("after"), 30_000);
    expect(heard.other).not.toContain("refused");
    // what was missed is asked for again and again
    await vi.waitFor(() => expect(heard.one).toContain("*"), 30_000);
    for (const each of [heard.one, heard.elsewhere]) each.delete("*");
    expect([heard.one.size, heard.elsewhere.size]).toEqual([0, 0]);
    stop();
  });

  test("a run is held while its server lives, also when its session was cut, and free when the server is closed", async () => {
    const schema = newSchema();
    const [one, other] = [await openDatabase({ schema }), await openDatabase({ schema })];
    await takeRun(one);
    expect(await isHeld(other)).toBe(true);
    const client = await newClient((await sharedPostgres()).url);
    const cut =
      "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN %.server s ON s.lock = l.objid::bigint WHERE s.id = $1 AND l.locktype = 'advisory'";
    const lockOf = async (): Promise<unknown> =>
      (await other.get("SELECT lock FROM server WHERE id = ?", [one.holder]))?.["lock"];
    const before = await lockOf();
    const { rowCount } = await client.query(cut.replace("%", schema), [one.holder]);
    expect(rowCount).toBe(1);
    expect(await isHeld(other)).toBe(true);
    // it signs again, with the same name
    one.announce("http://127.0.0.1:1");
    const url = async (): Promise<unknown> =>
      (await other.get("SELECT url FROM server WHERE id = ?", [one.holder]))?.["url"];
    await vi.waitFor(async () => expect(await url()).toBe("http://127.0.0.1:1"), 30_000);
    expect(await lockOf()).not.toBe(before); // which PostgreSQL may not have given back yet
    await one.close();
    expect(await isHeld(other)).toBe(false);
  });

  test("a run is free when its server has neither a young heartbeat nor its lock", async () => {
    const schema = newSchema();
    const database = await openDatabase({ schema });
    const old =
      "INSERT INTO server(id, lock, heartbeat, started_at, host) VALUES('dead', ?, 0, 0, 'h')";
    const sql = "UPDATE run SET holder = 'dead' WHERE no = 1";
    await database.write([...runOps(1, 1), { sql: old, rows: [[77]] }, { sql, rows: [[]] }]);
    const held = async (): Promise<boolean> => await isHeld(database);
    // after a start of PostgreSQL every server has time to come back
    await vi.waitFor(async () => expect(await held()).toBe(false), 15_000);
    const client = await newClient((await sharedPostgres()).url);
    await client.query("SELECT pg_advisory_lock($1, 77)", [0x4d494c4d]);
    expect(await held()).toBe(true);
    await client.query("SELECT pg_advisory_unlock_all()");
    expect(await held()).toBe(false);
    const beat = "UPDATE server SET heartbeat = clock_ms() WHERE id = 'dead'";
    await database.write([{ sql: beat, rows: [[]] }]);
    expect(await held()).toBe(true);
  });

  test("work of one name is done by one server at a time", async () => {
    const schema = newSchema();
    const [one, other] = [await openDatabase({ schema }), await openDatabase({ schema })];
    let end: (() => void) | undefined;
    const work = one.alone(
      "retention",
      () =>
        new Promise<string>((done) => {
          end = () => done("done");
        }),
    );
    await vi.waitFor(() => expect(end).toBeDefined(), 30_000);
    expect(await other.alone("retention", async () => 1)).toBeUndefined();
    expect(await one.alone("retention", async () => 1)).toBeUndefined();
    expect(await other.alone("other", async () => 2)).toBe(2);
    end?.();
    expect(await work).toBe("done");
    expect(await other.alone("retention", async () => 3)).toBe(3);
    await expect(other.alone("retention", () => Promise.reject(new Error("no")))).rejects.toThrow(
      "no",
    );
    expect(await one.alone("retention", async () => 4)).toBe(4);
  });

  test("time is that of the database", async () => {
    const database = await openDatabase();
    const row = await database.get("SELECT clock_ms() AS now");
    expect(Math.abs(database.now() - Number(row?.["now"]))).toBeLessThan(5_000);
  });

  test("time is that of a far database, too, when the clock of this machine jumps", async () => {
    const server = await sharedPostgres();
    const wire = await newWire(server.url);
    wire.slow(40);
    const database = await openDatabase({ server: { ...server, url: wire.url } });
    const real = Date.now;
    onTestFinished(() => {
      Date.now = real;
    });
    Date.now = () => real() + 3_600_000;
    await expect.poll(() => Math.abs(database.now() - real())).toBeLessThan(5_000);
  });
});
