/** Reads of committed rows. A read that was cut is repeated, because it changes nothing. */
import type { ReadOptions, SqlReader, SqlRow, SqlValue } from "@millrace/store/sql";
import { away, faultOf, toStoreError } from "../connect/faults.ts";
import type { Links } from "../connect/links.ts";
import type { Presence } from "../connect/presence.ts";
import { composed, prepared } from "./statements.ts";

const MAX_TRIES = 3; // connections that were cut together are each found out once
const NONE: readonly SqlValue[] = [];

export function createReader(links: Links, presence: Presence): SqlReader {
  const all = async (
    sql: string,
    values: readonly SqlValue[] = NONE,
    { once = false }: ReadOptions = {},
  ): Promise<readonly SqlRow[]> => {
    const statement = once ? composed(sql) : prepared(sql);
    for (let tries = 1; ; tries += 1) {
      if (presence.condition === "store_unavailable") throw away();
      try {
        const link = await links.pick();
        const { rows } = await link.use(() => link.send(statement, values));
        return rows;
      } catch (error) {
        if (faultOf(error) !== "cut" || tries === MAX_TRIES) {
          throw toStoreError(error, "the store cannot be read");
        }
      }
    }
  };
  return {
    all,
    get: async (sql, values) => (await all(sql, values))[0],
  };
}
