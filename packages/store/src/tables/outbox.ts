/**
 * Messages to send, and the failed runs without a notice.
 *   O1  A change names the version of the row that was read: one of several servers succeeds, the others are refused.
 *   O2  A failed run is untold from the transaction of its last event to the one that writes what is made of it.
 */
import type { Json } from "@millrace/contracts";
import { attempt } from "../sql/change.ts";
import type { Database, Op } from "../sql/port.ts";

/** Something that is to be done at a time, epoch milliseconds. */
export interface OutboxRow {
  readonly id: string;
  readonly body: Json;
  readonly dueAt: number;
  /** Counts its changes. */
  readonly rev: number;
}

/** Change of a row. `rev`: as it was read; null: there was none. `next` null: it is deleted. */
export interface OutboxChange {
  readonly id: string;
  readonly rev: number | null;
  readonly next: Pick<OutboxRow, "body" | "dueAt"> | null;
}

/** The outbox of a store. */
export interface Outbox {
  get(id: string): Promise<OutboxRow | null>;
  /** Rows that are due at `time`, the longest due first. */
  due(time: number, limit: number): Promise<readonly OutboxRow[]>;
  /** When the next row is due; null: there is none. */
  nextDue(): Promise<number | null>;
  count(): Promise<number>;
  /** Ids of failed runs without a notice, in the order in which they were made. */
  untold(limit: number): Promise<readonly string[]>;
  /** Makes all changes, and `told` no longer untold; false: another one was faster, and nothing was written. */
  write(changes: readonly OutboxChange[], told?: string): Promise<boolean>;
}

const FASTER = "outbox_changed";

export function createOutbox(db: Database): Outbox {
  return {
    async get(id) {
      const row = await db.get("SELECT * FROM outbox WHERE id = ?", [id]);
      return row === undefined ? null : rowOf(row);
    },
    async due(time, limit) {
      const sql = "SELECT * FROM outbox WHERE due_at <= ? ORDER BY due_at, id LIMIT ?";
      return (await db.all(sql, [time, limit])).map(rowOf);
    },
    async nextDue() {
      const row = await db.get("SELECT min(due_at) AS due FROM outbox");
      return (row?.["due"] ?? null) as number | null;
    },
    async count() {
      const row = await db.get("SELECT count(*) AS count FROM outbox");
      return Number(row?.["count"]);
    },
    async untold(limit) {
      const rows = await db.all("SELECT id FROM run WHERE untold = 1 ORDER BY no LIMIT ?", [limit]);
      return rows.map(({ id }) => String(id));
    },
    async write(changes, told) {
      const tell: Op = {
        sql: "UPDATE run SET untold = NULL WHERE id = ? AND untold = 1",
        rows: [[told ?? null]],
        need: FASTER,
      };
      const ops = [...(told === undefined ? [] : [tell]), ...changes.map(changeOf)];
      return attempt(db, ops, { code: FASTER });
    },
  };
}

function changeOf({ id, rev, next }: OutboxChange): Op {
  if (next === null) {
    return { sql: "DELETE FROM outbox WHERE id = ? AND rev = ?", rows: [[id, rev]], need: FASTER };
  }
  const body = JSON.stringify(next.body);
  if (rev === null) {
    const sql =
      "INSERT INTO outbox(id, body, due_at, rev) VALUES(?, ?, ?, 1) ON CONFLICT(id) DO NOTHING";
    return { sql, rows: [[id, body, next.dueAt]], need: FASTER };
  }
  return {
    sql: "UPDATE outbox SET body = ?, due_at = ?, rev = rev + 1 WHERE id = ? AND rev = ?",
    rows: [[body, next.dueAt, id, rev]],
    need: FASTER,
  };
}

function rowOf(row: { readonly [column: string]: unknown }): OutboxRow {
  return {
    id: String(row["id"]),
    body: JSON.parse(String(row["body"])),
    dueAt: Number(row["due_at"]),
    rev: Number(row["rev"]),
  };
}
