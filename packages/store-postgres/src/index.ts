export { createPostgresDispatcher } from "./dispatch/dispatcher.ts";
export type { DispatcherLog, PostgresDispatcherOptions } from "./dispatch/options.ts";
export { type InspectOptions, inspectPostgresStore, type StoreInspection } from "./inspect.ts";
export type { RowsDigest } from "./move/digest.ts";
export { moveStore } from "./move/move-store.ts";
export type {
  ComparedTable,
  MoveOptions,
  MoveReport,
  MoveSource,
  MoveTarget,
} from "./move/types.ts";
export { openPostgresDatabase, type PostgresDatabaseOptions } from "./open-database.ts";
export { openPostgresStore, type PostgresStoreOptions } from "./open-store.ts";
export { parseStoreKey, storeKeyId } from "./schema/store-key.ts";
