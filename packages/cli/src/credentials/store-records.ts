/**
 * What the store knows of connections, for a run that does not hold it itself.
 *   R1  It is read beside whoever writes it. A store that cannot be read counts as empty: no run needs it.
 *   R2  What the run finds out is noted when nobody else has the store.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ConnectionRecords, storedConnectionRecords } from "@millrace/server/connections";
import { openStore, StoreError } from "@millrace/store";

/** The records of a data folder. */
export function storeRecords(dir: string): ConnectionRecords {
  async function using<T>(
    readonly: boolean,
    work: (records: ConnectionRecords) => Promise<T>,
  ): Promise<T | undefined> {
    if (!existsSync(join(dir, "millrace.db"))) return undefined;
    try {
      const store = await openStore({ dir, readonly });
      try {
        return await work(storedConnectionRecords(store.connections));
      } finally {
        await store.close();
      }
    } catch (error) {
      if (StoreError.isInstance(error)) return undefined;
      throw error;
    }
  }
  return {
    get: (slug) => using(true, (records) => records.get(slug)),
    list: async () => (await using(true, (records) => records.list())) ?? [],
    put: (record) => using(false, (records) => records.put(record)),
    delete: (slug) => using(false, (records) => records.delete(slug)),
  };
}
