/** How much room the rows of the log take. */
import type { SqlReader } from "@millrace/store/sql";

const SMALL_BYTES = 16_777_216; // a table that is scanned in no time
const SAMPLE_PERCENT = 1;

/**
 * Bytes of the rows that live. The size of the table is no answer: PostgreSQL keeps the room of deleted rows for later ones, so that
 * retention would never come to an end. Large tables are estimated.
 */
export async function bytesInUse(reader: SqlReader): Promise<number> {
  let bytes = 0;
  for (const table of ["journal", "blob"]) {
    const size = await reader.get("SELECT pg_table_size(?::regclass) AS bytes", [table]);
    const isSmall = Number(size?.["bytes"]) < SMALL_BYTES;
    const sql = isSmall
      ? `SELECT coalesce(sum(pg_column_size(t.*)), 0) AS bytes FROM ${table} t`
      : `SELECT coalesce((SELECT avg(pg_column_size(t.*)) FROM ${table} t TABLESAMPLE SYSTEM (${SAMPLE_PERCENT})), 0) *
          (SELECT n_live_tup FROM pg_stat_user_tables WHERE relid = '${table}'::regclass) AS bytes`;
    bytes += Number((await reader.get(sql))?.["bytes"]);
  }
  return bytes;
}
