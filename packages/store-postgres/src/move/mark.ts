/**
 * How far a move has come, as a row of `meta` in the target that each page of rows is written with: an aborted move goes on exactly
 * where it ended. While it is not done, no server opens the store.
 */
import { StoreError } from "@millrace/store";
import type { SqlValue } from "@millrace/store/sql";
import type { Link } from "../connect/link.ts";
import { composed } from "../sql/statements.ts";

const KEY = "move";

export interface Mark {
  /** `installationId` of the source. */
  readonly source: string;
  /** Of the source: it rises whenever somebody opens it to write. */
  readonly epoch: number;
  /** `failed`: the rows were not the same in the end, and it begins anew. */
  readonly state: "copying" | "copied" | "done" | "failed";
  /** The table that is copied. */
  readonly table: number;
  /** Primary key of the last row that was copied from it; null: none was. */
  readonly after: readonly SqlValue[] | null;
}

/** The mark of a target; undefined: nothing was ever moved to it. */
export async function readMark(link: Link): Promise<Mark | undefined> {
  const { rows } = await link.send(composed("SELECT value FROM meta WHERE key = ?"), [KEY]);
  const text = rows[0]?.["value"];
  return typeof text === "string" ? (JSON.parse(text) as Mark) : undefined;
}

/** Sends the statement that writes it; the answer may be awaited with those of its transaction. */
export function writeMark(link: Link, mark: Mark): Promise<unknown> {
  const sql =
    "INSERT INTO meta(key, value) VALUES(?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
  return link.send(composed(sql), [KEY, JSON.stringify(mark)]);
}

/** Throws `store_unavailable` where a move has not come to its end. */
export async function checkMoved(link: Link, place: string): Promise<void> {
  const mark = await readMark(link);
  if (mark === undefined || mark.state === "done") return;
  const text = `a store is being moved to ${place}; wait for its end, or move it again if it was aborted`;
  throw new StoreError("store_unavailable", text);
}
