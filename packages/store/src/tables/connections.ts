/** Connections without their tokens, which are in the credential store. */
import type { Json } from "@millrace/contracts";
import type { Reader } from "../sqlite/reader.ts";
import { change, type Writer } from "../writer/writer.ts";

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
  list(): readonly ConnectionRow[];
  put(connection: ConnectionRow): Promise<void>;
  /** False: there is none. */
  delete(slug: string): Promise<boolean>;
}

export function createConnections(reader: Reader, writer: Pick<Writer, "write">): Connections {
  return {
    list: () =>
      reader.all("SELECT * FROM connection ORDER BY slug").map((row) => ({
        slug: String(row["slug"]),
        status: String(row["status"]),
        scope: row["scope"] as string | null,
        expiresAt: row["expires_at"] as number | null,
        body: JSON.parse(String(row["body"])),
      })),
    async put({ slug, status, scope, expiresAt, body }) {
      const sql =
        "INSERT OR REPLACE INTO connection(slug, status, scope, expires_at, body) VALUES(?, ?, ?, ?, ?)";
      await change(writer, sql, [slug, status, scope, expiresAt, JSON.stringify(body)]);
    },
    delete: async (slug) =>
      (await change(writer, "DELETE FROM connection WHERE slug = ?", [slug])) === 1,
  };
}
