export type { DriverName } from "./driver.ts";
export { StoreError, type StoreErrorCode } from "./errors.ts";
export { type OpenStoreOptions, openStore, type Store } from "./open-store.ts";
export type { Fault, SqliteDb, SqliteDriver, SqlRow, SqlValue, Stmt } from "./sqlite-port.ts";
export type { Condition } from "./writer.ts";
