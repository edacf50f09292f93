/** SQLite through libsql. */
import type { JsonObject } from "@millrace/contracts";
import Database from "libsql";

/** The rows that a statement answers, from a connection that cannot write. */
export function querySqlite(
  path: string,
  statement: string,
  parameters: readonly (string | number | null)[],
): readonly JsonObject[] {
  const db = new Database(path, { timeout: 5_000 });
  try {
    db.exec("PRAGMA query_only = 1");
    return db.prepare(statement).all([...parameters]) as JsonObject[];
  } finally {
    db.close();
  }
}
