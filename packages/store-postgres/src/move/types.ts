/** Options and result of moving a store. */
import type { RowsDigest } from "./digest.ts";

/** The store that is moved: the folder of a store in SQLite. */
export interface MoveSource {
  readonly dir: string;
}

/** Where it is moved to. `url` and `schema` as of `openPostgresStore`; `key`: 32 bytes, for all servers of the new store. */
export interface MoveTarget {
  readonly url: string;
  readonly key: Uint8Array;
  readonly schema?: string;
}

/** How it is moved. */
export interface MoveOptions {
  /** Compares and copies nothing. Default false. */
  readonly check?: boolean;
  /** Ends the move after the rows that are being written. */
  readonly signal?: AbortSignal;
  /** Called after so many rows of a table were written. */
  readonly progress?: (table: string, rows: number) => void;
}

/** A table in both stores. */
export interface ComparedTable {
  readonly table: string;
  readonly source: RowsDigest;
  readonly target: RowsDigest;
  readonly isEqual: boolean;
}

/** Result of a move. `copied`: rows that this call has written. */
export interface MoveReport {
  readonly tables: readonly ComparedTable[];
  readonly copied: number;
  /** All tables are. */
  readonly isEqual: boolean;
}
