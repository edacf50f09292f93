/** Inspects a store in PostgreSQL without changes, to find problems before a server starts. */
import { addressOf } from "./connect/address.ts";
import { toStoreError } from "./connect/faults.ts";
import { Link } from "./connect/link.ts";
import { OLDEST_SERVER } from "./schema/migrate.ts";
import { MIGRATIONS } from "./schema/schema.ts";
import { composed } from "./sql/statements.ts";

/** Options of an inspection. */
export interface InspectOptions {
  /** As `openPostgresStore` takes it. It is never shown. */
  readonly url: string;
  /** Epoch milliseconds of this machine. Default its clock. */
  readonly now?: () => number;
}

/** Result of an inspection. */
export interface StoreInspection {
  /** Host and database. */
  readonly place: string;
  readonly schema: string;
  /** Version of PostgreSQL, as it says. */
  readonly server: string;
  /** Whether it is older than 15. */
  readonly isTooOld: boolean;
  /** Of the tables; null: there are none yet. */
  readonly version: number | null;
  /** The newest version that this program knows. */
  readonly knownVersion: number;
  /** Whether the schema has the tables of another program. */
  readonly isForeign: boolean;
  /** Whether nothing can be written: it is a standby, or was set so. */
  readonly isReadOnly: boolean;
  /** Whether this user may make the schema, or tables in it. */
  readonly mayCreate: boolean;
  /** Names the key of the store, as `storeKeyId` does; null: the first server decides. */
  readonly keyId: string | null;
  /** By how much the clock of the database is ahead of the one here, in milliseconds; less than 0: behind. */
  readonly aheadMs: number;
}

const CONNECT_MS = 5_000;

/** Rejects with `StoreError` `store_unavailable` when it cannot be reached; `TypeError` for an invalid address. */
export async function inspectPostgresStore({
  url,
  now = Date.now,
}: InspectOptions): Promise<StoreInspection> {
  const { config, schema, place } = addressOf(url);
  const link = new Link({ ...config, connectionTimeoutMillis: CONNECT_MS });
  try {
    await link.open();
    const before = now();
    const clock = await link.run(
      "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms",
    );
    const here = (before + now()) / 2;
    const [row = {}] = (
      await link.send(
        composed(
          "SELECT current_setting('server_version') AS server, current_setting('server_version_num')::int AS number, " +
            "to_regclass(? || '.migration') IS NOT NULL AS is_ours, " +
            "(SELECT count(*) FROM pg_tables WHERE schemaname = ?) AS tables, " +
            "CASE WHEN to_regnamespace(?) IS NULL THEN has_database_privilege(current_database(), 'CREATE') " +
            "ELSE has_schema_privilege(?, 'CREATE') END AS may_create",
        ),
        [schema, schema, schema, schema],
      )
    ).rows;
    const isOurs = row["is_ours"] === 1;
    const [ours = {}] = isOurs
      ? (
          await link.run(
            "SELECT (SELECT max(version) FROM migration) AS version, (SELECT value FROM meta WHERE key = 'keyId') AS key",
          )
        ).rows
      : [];
    const { version = null, key = null } = ours;
    return {
      ...{ place, schema, knownVersion: MIGRATIONS.length },
      server: String(row["server"]),
      isTooOld: Number(row["number"]) < OLDEST_SERVER,
      version: version === null ? null : Number(version),
      isReadOnly: link.isReadOnly,
      isForeign: !isOurs && row["tables"] !== 0,
      mayCreate: row["may_create"] === 1,
      keyId: key === null ? null : String(key),
      aheadMs: Math.round(Number(clock.rows[0]?.["ms"]) - here),
    };
  } catch (error) {
    throw toStoreError(error, `${place} cannot be reached`);
  } finally {
    await link.close();
  }
}
