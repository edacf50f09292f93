import { randomBytes } from "node:crypto";
import { parseStoreKey, storeKeyId } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { expect, test } from "vitest";
import { KEY, newClient, newSchema, openDatabase } from "./open.ts";
import { newWire } from "./proxy.ts";

describeWith("postgres")("opening", () => {
  test("of five servers that start at once one makes the tables, and each has a number of its own", async () => {
    const schema = newSchema();
    const all = await Promise.all(Array.from({ length: 5 }, () => openDatabase({ schema })));
    const [first] = all;
    const rows = await first?.all("SELECT version FROM migration ORDER BY version");
    expect(rows).toEqual(rows?.map((_, index) => ({ version: index + 1 })));
    expect(rows).not.toEqual([]);
    expect(new Set(all.map(({ epoch }) => epoch)).size).toBe(5);
    expect(new Set(all.map(({ holder }) => holder)).size).toBe(5);
    expect(new Set(all.map(({ cursorKey }) => cursorKey)).size).toBe(1);
    const numbers = await Promise.all(
      all.flatMap((database) => Array.from({ length: 100 }, () => database.nextRun())),
    );
    expect(new Set(numbers).size).toBe(500);
  });

  test("a session that lost its settings to a pooler makes no tables anywhere", async () => {
    const schema = newSchema();
    const server = await sharedPostgres();
    const wire = await newWire(server.url);
    const elsewhere = `${schema.slice(0, -1)}x`;
    wire.swap(`search_path=${schema}`, `search_path=${elsewhere}`);
    const opening = openDatabase({ schema, server: { ...server, url: wire.url } });
    await expect(opening).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("PgBouncer"),
    });
    const client = await newClient(server.url);
    const made = "SELECT 1 FROM pg_namespace WHERE nspname IN ($1, $2)";
    expect((await client.query(made, [schema, elsewhere])).rowCount).toBe(0);
  });

  test("tables of a newer version are left alone", async () => {
    const schema = newSchema();
    const database = await openDatabase({ schema });
    await database.write([{ sql: "INSERT INTO migration(version, at) VALUES(99, 0)", rows: [[]] }]);
    await expect(openDatabase({ schema })).rejects.toMatchObject({
      code: "store_too_new",
      message: expect.stringContaining("version 99"),
    });
  });

  test("a schema with the tables of another program is left alone", async () => {
    const schema = newSchema();
    const client = await newClient((await sharedPostgres()).url);
    await client.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.run(id int)`);
    await expect(openDatabase({ schema })).rejects.toMatchObject({ code: "store_corrupt" });
    const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = $1", [
      schema,
    ]);
    expect(rows).toEqual([{ tablename: "run" }]);
  });

  test("a server with another key does not start, and learns the name of the key of the store", async () => {
    const schema = newSchema();
    await openDatabase({ schema });
    const other = parseStoreKey("00".repeat(32));
    const opening = openDatabase({ schema, key: other });
    await expect(opening).rejects.toMatchObject({
      code: "store_wrong_key",
      retryable: false,
      message: expect.stringMatching(`${storeKeyId(KEY)}.*${storeKeyId(other)}`),
    });
    const database = await openDatabase({ schema });
    const rows = await database.all("SELECT value FROM meta");
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(KEY).toString("hex"));
  });

  test("a key is hex or base64 of 32 bytes, and no error shows it", () => {
    const text = Buffer.from(KEY).toString("base64");
    for (const form of [
      text,
      `${text}\n`,
      text.replace("=", ""),
      Buffer.from(KEY).toString("hex"),
    ]) {
      expect([...parseStoreKey(form)]).toEqual([...KEY]);
    }
    for (const wrong of ["", "secret-that-is-short", `${text}00`]) {
      expect(() => parseStoreKey(wrong)).toThrow(
        /^(?!.*secret-that)the key of the store is 32 bytes/,
      );
    }
  });

  test("the schema is that of the address where no other is asked for", async () => {
    const { url } = await sharedPostgres();
    const schema = newSchema();
    const one = await openDatabase({
      url: `${url}?search_path=${schema}`,
      schema: undefined as never,
    });
    const other = await openDatabase({ schema });
    expect(one.cursorKey).toBe(other.cursorKey);
  });

  test("bytes in use are those of rows that live, and copies are left to PostgreSQL", async () => {
    const database = await openDatabase();
    const body = randomBytes(5_000);
    const row = ["d", body.length, body];
    await database.write([
      { sql: "INSERT INTO blob(digest, bytes, body) VALUES(?, ?, ?)", rows: [row] },
    ]);
    expect(await database.bytesInUse()).toBeGreaterThan(5_000);
    await database.write([{ sql: "DELETE FROM blob", rows: [[]] }]);
    expect(await database.bytesInUse()).toBe(0);
    await database.giveBack();
    await expect(database.backup("/nowhere")).rejects.toMatchObject({ code: "store_unavailable" });
  });
});
