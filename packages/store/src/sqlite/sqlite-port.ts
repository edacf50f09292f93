/** SQLite as one small port, whichever library is behind it. */

import type { SqlRow, SqlValue } from "../sql/port.ts";

export type { SqlRow, SqlValue } from "../sql/port.ts";

/** A prepared statement; `values` are bound in order. */
export interface Stmt {
  run(values: readonly SqlValue[]): { readonly changes: number };
  get(values: readonly SqlValue[]): SqlRow | undefined;
  all(values: readonly SqlValue[]): readonly SqlRow[];
}
/** One connection. */
export interface SqliteDb {
  exec(sql: string): void;
  prepare(sql: string): Stmt;
  close(): void;
}
/** A library that opens database files. */
export interface SqliteDriver {
  readonly name: "node" | "libsql";
  open(path: string, options?: { readonly readonly?: boolean }): SqliteDb;
}
/** Primary result codes that the store tells apart. @see https://www.sqlite.org/rescode.html */
export type Fault =
  | "BUSY"
  | "LOCKED"
  | "READONLY"
  | "IOERR"
  | "CORRUPT"
  | "FULL"
  | "CANTOPEN"
  | "CONSTRAINT"
  | "NOTADB";
