/** The interface between a store and its database, and the store over it. */
export { openedRow, resealedRow } from "../journal/private-values.ts";
export { storable } from "../sqlite/sqlite.js";
export { openStoreSource, type StoreSource } from "../sqlite/store-source.ts";
export {
  type SharedStore,
  type Store,
  type StoreParts,
  sharedStoreOver,
  storeOver,
} from "../store.ts";
export type {
  Condition,
  Database,
  Dialect,
  Lines,
  Op,
  OpResult,
  ReadOptions,
  SqlReader,
  SqlRow,
  SqlValue,
  SqlWriter,
  Statement,
  WriteOptions,
} from "./port.ts";
export { Refusal, refusal } from "./refusal.ts";
export { RunNumbers } from "./run-numbers.ts";
