/** Settings by their path, each a JSON value. */
import type { Json } from "@millrace/contracts";
import { cached } from "../sql/cached.ts";
import type { Database } from "../sql/port.ts";

/** The stored settings by path; a path without a value is absent. */
export interface SettingsTable {
  /** The same object until something was set; it is not for changing. */
  all(): Promise<{ readonly [path: string]: Json }>;
  /** As `all`, with what another process has set until now. */
  allNow(): Promise<{ readonly [path: string]: Json }>;
  /** Sets every path of `values` in one transaction; `undefined` takes a path away. */
  set(values: { readonly [path: string]: Json | undefined }): Promise<void>;
}

const TOPIC = "settings";

export function createSettings(db: Database): SettingsTable {
  const kept = cached(db, TOPIC, async () => {
    const rows = await db.all("SELECT path, json FROM setting ORDER BY path");
    return Object.fromEntries(rows.map(({ path, json }) => [path, JSON.parse(String(json))]));
  });
  return {
    all: () => kept.get(),
    allNow() {
      kept.drop();
      return kept.get();
    },
    async set(values) {
      const set: string[][] = [];
      const gone: string[][] = [];
      for (const [path, value] of Object.entries(values)) {
        if (value === undefined) gone.push([path]);
        else set.push([path, JSON.stringify(value)]);
      }
      const upsert =
        "INSERT INTO setting(path, json) VALUES(?, ?) ON CONFLICT(path) DO UPDATE SET json = excluded.json";
      const ops = [
        { sql: upsert, rows: set },
        { sql: "DELETE FROM setting WHERE path = ?", rows: gone },
      ];
      try {
        await db.write(ops, { topics: [TOPIC] });
      } finally {
        kept.drop();
      }
    },
  };
}
