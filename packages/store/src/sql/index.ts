/** What a database needs to stand behind a store, and the store over it. */
export { type Store, type StoreParts, storeOver } from "../store.ts";
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
