/** Connections without their tokens, which are in the credential store. */
import type { Json } from "@millrace/contracts";
import { change } from "../sql/change.ts";
import type { SqlReader, SqlWriter } from "../sql/port.ts";

/** The status of one connection. `expiresAt`: epoch milliseconds. `body` is whatever its owner needs to know. */
export interface ConnectionRow {
  readonly slug: string;
  readonly status: string;
  readonly scope: string | null;
  readonly expiresAt: number | null;
  readonly body: Json;
}

/** The connections of a store. */
export interface Connections {
  /** All, by slug. */
  list(): Promise<readonly ConnectionRow[]>;
  put(connection: ConnectionRow): Promise<void>;
  /** False: there is none. */
  delete(slug: string): Promise<boolean>;
}

export function createConnections(db: SqlReader & SqlWriter): Connections {
  return {
    async list() {
      const rows = await db.all("SELECT * FROM connection ORDER BY slug");
      return rows.map((row) => ({
        slug: String(row["slug"]),
        status: String(row["status"]),
        scope: row["scope"] as string | null,
        expiresAt: row["expires_at"] as number | null,
        body: JSON.parse(String(row["body"])),
      }));
    },
    async put({ slug, status, scope, expiresAt, body }) {
      const sql =
        "INSERT INTO connection(slug, status, scope, expires_at, body) VALUES(?, ?, ?, ?, ?) ON CONFLICT(slug) DO UPDATE " +
        "SET status = excluded.status, scope = excluded.scope, expires_at = excluded.expires_at, body = excluded.body";
      await change(db, { sql, values: [slug, status, scope, expiresAt, JSON.stringify(body)] });
    },
    delete: async (slug) =>
      (await change(db, { sql: "DELETE FROM connection WHERE slug = ?", values: [slug] })) === 1,
  };
}
