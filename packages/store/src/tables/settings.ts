/** Settings by their path, each a JSON value. */
import type { Json } from "@millrace/contracts";
import type { Reader } from "../sqlite/reader.ts";
import type { Writer } from "../writer/writer.ts";

/** The stored settings by path; a path without a value is absent. */
export interface SettingsTable {
  all(): { readonly [path: string]: Json };
  /** Sets every path of `values` in one transaction; `undefined` takes a path away. */
  set(values: { readonly [path: string]: Json | undefined }): Promise<void>;
}

export function createSettings(reader: Reader, writer: Pick<Writer, "write">): SettingsTable {
  return {
    all() {
      const rows = reader.all("SELECT path, json FROM setting ORDER BY path");
      return Object.fromEntries(rows.map(({ path, json }) => [path, JSON.parse(String(json))]));
    },
    async set(values) {
      const set: string[][] = [];
      const gone: string[][] = [];
      for (const [path, value] of Object.entries(values)) {
        if (value === undefined) gone.push([path]);
        else set.push([path, JSON.stringify(value)]);
      }
      await writer.write([
        { sql: "INSERT OR REPLACE INTO setting(path, json) VALUES(?, ?)", rows: set },
        { sql: "DELETE FROM setting WHERE path = ?", rows: gone },
      ]);
    },
  };
}
