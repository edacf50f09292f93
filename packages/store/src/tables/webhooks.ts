/** Webhooks, found by the hash of their token, and the signatures that were used. */
import type { Json } from "@millrace/contracts";
import { change } from "../sql/change.ts";
import type { Op, SqlReader, SqlWriter } from "../sql/port.ts";

/** A webhook as it is kept. `tokenHash`: SHA-256 of its token, which is nowhere stored. */
export interface WebhookRow {
  readonly id: string;
  readonly tokenHash: string;
  readonly body: Json;
}

/** The webhooks of a store. */
export interface Webhooks {
  /** All, by id. */
  list(): Promise<readonly WebhookRow[]>;
  get(id: string): Promise<WebhookRow | null>;
  byTokenHash(tokenHash: string): Promise<WebhookRow | null>;
  put(webhook: WebhookRow): Promise<void>;
  /** False: there is none. */
  delete(id: string): Promise<boolean>;
}

/** Statements that remember a signature, in the transaction of the run that it starts; refused with `signature_used`. */
export function signatureRows(
  { hash, ttlMs }: { readonly hash: string; readonly ttlMs: number },
  now: number,
): Op[] {
  return [
    { sql: "DELETE FROM webhook_seen WHERE expires_at <= ?", rows: [[now]] },
    {
      sql: "INSERT INTO webhook_seen(hash, expires_at) VALUES(?, ?) ON CONFLICT DO NOTHING",
      rows: [[hash, now + ttlMs]],
      need: "signature_used",
    },
  ];
}

export function createWebhooks(db: SqlReader & SqlWriter): Webhooks {
  const rowOf = (row: { readonly [column: string]: unknown }): WebhookRow => ({
    id: String(row["id"]),
    tokenHash: String(row["token_hash"]),
    body: JSON.parse(String(row["body"])),
  });
  const one = async (sql: string, value: string): Promise<WebhookRow | null> => {
    const row = await db.get(sql, [value]);
    return row === undefined ? null : rowOf(row);
  };
  return {
    list: async () => (await db.all("SELECT * FROM webhook ORDER BY id")).map(rowOf),
    get: (id) => one("SELECT * FROM webhook WHERE id = ?", id),
    byTokenHash: (hash) => one("SELECT * FROM webhook WHERE token_hash = ?", hash),
    async put({ id, tokenHash, body }) {
      const sql =
        "INSERT INTO webhook(id, token_hash, body) VALUES(?, ?, ?) ON CONFLICT(id) DO UPDATE " +
        "SET token_hash = excluded.token_hash, body = excluded.body";
      await change(db, { sql, values: [id, tokenHash, JSON.stringify(body)] });
    },
    delete: async (id) =>
      (await change(db, { sql: "DELETE FROM webhook WHERE id = ?", values: [id] })) === 1,
  };
}
