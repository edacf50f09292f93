export { openPostgresDatabase, type PostgresDatabaseOptions } from "./open-database.ts";
export { parseStoreKey, storeKeyId } from "./schema/store-key.ts";
