/** The store of several servers: every table of Millrace over PostgreSQL. */
import { type SharedStore, type StoreParts, sharedStoreOver } from "@millrace/store/sql";
import { keepParts } from "./dispatch/dispatcher.ts";
import { openParts, type PostgresDatabaseOptions } from "./open-database.ts";

/** Options of `openPostgresStore`. */
export type PostgresStoreOptions = PostgresDatabaseOptions & StoreParts;

/**
 * Opens the store, which other servers may have open too; makes its tables when there are none. Throws `StoreError`: `store_too_new`,
 * `store_corrupt` (the schema is that of another program), `store_wrong_key`, `store_locked` (servers with another executor are at
 * work), `store_unavailable`; `TypeError` for an address or a key that is none.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<SharedStore> {
  const { keepsContent, ...rest } = options;
  const { database, calls } = await openParts(rest);
  const store = sharedStoreOver(database, { keepsContent });
  keepParts(store, calls);
  return store;
}
