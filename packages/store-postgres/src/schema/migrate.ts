/** Makes and renews the tables. Of several servers that start at once, one does it, and the others wait for it. */
import { randomBytes, randomUUID } from "node:crypto";
import { StoreError } from "@millrace/store";
import type { SqlValue } from "@millrace/store/sql";
import { isRefusal, nameOf } from "../connect/faults.ts";
import type { Link } from "../connect/link.ts";
import { composed } from "../sql/statements.ts";
import { MIGRATION_LOCKS } from "./names.ts";
import { MIGRATIONS } from "./schema.ts";

/** As PostgreSQL counts: 15.0. */
export const OLDEST_SERVER = 150_000;

/** Which tables. `schema` is a name that needs no quotes. */
export interface Migrated {
  readonly schema: string;
  /** Host and database, for messages. */
  readonly place: string;
  readonly migrations?: readonly string[];
}

/**
 * Brings the schema to the newest version. Throws `store_too_new`, `store_corrupt` (the schema has tables of another program),
 * `store_unavailable`.
 */
export async function migrate(
  link: Link,
  { schema, place, migrations = MIGRATIONS }: Migrated,
): Promise<void> {
  const value = async (sql: string, values: readonly SqlValue[] = []): Promise<unknown> => {
    const { rows } = await link.send(composed(sql), values);
    return Object.values(rows[0] ?? {})[0];
  };
  const server = Number(await value("SELECT current_setting('server_version_num')"));
  if (server < OLDEST_SERVER) {
    const text = `${place} is PostgreSQL ${Math.floor(server / 10_000)}; use 15 or newer`;
    throw new StoreError("store_unavailable", text);
  }
  if ((await value("SELECT current_setting('search_path')")) !== schema) {
    const text =
      `the session at ${place} has not the settings that it was opened with: a pooler such as PgBouncer is between; ` +
      "give the address of PostgreSQL itself";
    throw new StoreError("store_unavailable", text);
  }
  await link.run("BEGIN");
  try {
    await link.run("SET LOCAL lock_timeout = 0");
    await value("SELECT pg_advisory_xact_lock(?, hashtext(?))", [MIGRATION_LOCKS, schema]);
    const isThere =
      (await value("SELECT to_regclass(?) IS NOT NULL", [`${schema}.migration`])) === 1;
    if (!isThere) {
      const tables = await value("SELECT count(*) FROM pg_tables WHERE schemaname = ?", [schema]);
      if (tables !== 0) {
        const text = `the schema ${schema} of ${place} has the tables of another program; choose another one`;
        throw new StoreError("store_corrupt", text);
      }
      const exists = await value("SELECT count(*) FROM pg_namespace WHERE nspname = ?", [schema]);
      if (exists === 0) await link.run(`CREATE SCHEMA ${schema}`);
      await link.run("CREATE TABLE migration(version integer PRIMARY KEY, at bigint NOT NULL)");
    }
    const version = Number(await value("SELECT coalesce(max(version), 0) FROM migration"));
    if (version > migrations.length) {
      const text = `${place} has version ${version}, this program knows ${migrations.length}; use a newer millrace`;
      throw new StoreError("store_too_new", text);
    }
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue;
      await link.run(migration);
      await value("INSERT INTO migration(version, at) VALUES(?, ?)", [index + 1, Date.now()]);
    }
    if (version === 0) await firstMeta(value);
    await link.run("COMMIT");
  } catch (error) {
    if (link.isOpen) void link.run("ROLLBACK");
    if (isRefusal(error)) throw error;
    const text = `the tables in ${place} could not be made: ${nameOf(error)}`;
    throw new StoreError("store_unavailable", text);
  }
}

async function firstMeta(
  value: (sql: string, values: readonly SqlValue[]) => Promise<unknown>,
): Promise<void> {
  const rows = [
    ["cursorKey", randomBytes(32).toString("hex")],
    ["installationId", randomUUID()],
  ];
  for (const row of rows) await value("INSERT INTO meta(key, value) VALUES(?, ?)", row);
}
