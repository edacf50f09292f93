/** Questions to people, over all runs: the inbox. */
import type { Confirmation, Page } from "@millrace/contracts";
import type { SqlReader, SqlRow, SqlValue } from "../sql/port.ts";
import type { Cursors } from "./cursor.ts";

/** Which confirmations; `limit` from 1 on. */
export interface ConfirmationQuery {
  readonly status: Confirmation["status"];
  readonly runId?: string;
  readonly limit: number;
  readonly cursor?: string;
}

/** The confirmations of a store. */
export interface Confirmations {
  /** One; null: the run has not asked this. */
  get(runId: string, id: string): Promise<Confirmation | null>;
  /** One page, of the newest run first, within a run in the order of request. Rejects with `bad_cursor`. */
  list(query: ConfirmationQuery): Promise<Page<Confirmation>>;
}

/** Ids count up within a run: `k1`, `k2` … */
const ORDER = "CAST(substr(c.id, 2) AS INTEGER)";

export function createConfirmations(db: SqlReader, cursors: Cursors): Confirmations {
  return {
    async get(runId, id) {
      const row = await db.get(
        "SELECT c.* FROM confirmation c JOIN run r ON r.no = c.run WHERE r.id = ? AND c.id = ?",
        [runId, id],
      );
      return row === undefined ? null : confirmationOf(runId, row);
    },

    async list({ status, runId, limit, cursor }) {
      const filter = ["confirmations", status, runId ?? null];
      const where = ["c.status = ?"];
      const values: SqlValue[] = [status];
      if (runId !== undefined) {
        where.push("r.id = ?");
        values.push(runId);
      }
      if (cursor !== undefined) {
        const [run = 0, order = 0] = cursors.read(filter, cursor) as readonly number[];
        where.push(`(c.run < ? OR (c.run = ? AND ${ORDER} > ?))`);
        values.push(run, run, order);
      }
      const rows = await db.all(
        `SELECT c.*, r.id AS run_id, ${ORDER} AS place FROM confirmation c JOIN run r ON r.no = c.run
         WHERE ${where.join(" AND ")} ORDER BY c.run DESC, place LIMIT ?`,
        [...values, limit + 1],
        { once: true },
      );
      const items = rows.slice(0, limit).map((row) => confirmationOf(String(row["run_id"]), row));
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      const key = last && [Number(last["run"]), Number(last["place"])];
      return { items, nextCursor: key === undefined ? null : cursors.write(filter, key) };
    },
  };
}

/** A row of the table as commands show it. */
export function confirmationOf(runId: string, row: SqlRow): Confirmation {
  const parsed = (column: string) =>
    row[column] === null ? undefined : JSON.parse(String(row[column]));
  const tool = parsed("tool");
  const value = parsed("value");
  return {
    id: String(row["id"]),
    runId,
    node: String(row["node"]),
    status: row["status"] as Confirmation["status"],
    prompt: String(row["prompt"]),
    schema: parsed("schema") ?? {},
    deadline: row["deadline"] === null ? null : isoTime(row["deadline"]),
    requestedAt: isoTime(row["requested_at"]),
    ...(tool !== undefined && { tool }),
    ...(row["by"] !== null && { by: String(row["by"]) }),
    ...(value !== undefined && { value }),
    ...(row["comment"] !== null && { comment: String(row["comment"]) }),
  };
}

function isoTime(ms: SqlValue | undefined): string {
  return new Date(Number(ms)).toISOString();
}
