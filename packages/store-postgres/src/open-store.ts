/** The store of several servers: every table of Millrace over PostgreSQL. */
import { type Store, type StoreParts, storeOver } from "@millrace/store/sql";
import { openPostgresDatabase, type PostgresDatabaseOptions } from "./open-database.ts";

/** What `openPostgresStore` takes. */
export type PostgresStoreOptions = PostgresDatabaseOptions & StoreParts;

/**
 * Opens the store, which other servers may have open too; makes its tables when there are none. Throws `StoreError`: `store_too_new`,
 * `store_corrupt` (the schema is that of another program), `store_wrong_key`, `store_unavailable`; `TypeError` for an address or a key
 * that is none.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { keepsContent, ...rest } = options;
  return storeOver(await openPostgresDatabase(rest), { keepsContent });
}
