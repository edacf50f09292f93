export { openPostgresDatabase, type PostgresDatabaseOptions } from "./open-database.ts";
export { openPostgresStore, type PostgresStoreOptions } from "./open-store.ts";
export { parseStoreKey, storeKeyId } from "./schema/store-key.ts";
