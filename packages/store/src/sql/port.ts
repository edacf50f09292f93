/**
 * The database under a store, as one small port: reads, transactions, and what differs between databases. Everything else of a
 * store is the same for all of them and lies above (`storeOver`).
 *   Q1  SQL is what SQLite 3.45 and PostgreSQL 15 both take; values are bound at `?`, in order.
 *   Q2  Integers are numbers, times are epoch milliseconds, JSON is text. No other types occur.
 *   Q3  A read sees every transaction whose `write` has resolved, of whichever process.
 */
import type { EncodedEvent } from "@millrace/contracts";

/** Value of a column: NULL, INTEGER, TEXT, or BLOB. */
export type SqlValue = null | number | string | Uint8Array;

/** One row, by column name. */
export interface SqlRow {
  readonly [column: string]: SqlValue;
}

/** How a statement is read. `once`: it was composed for this call, and is not worth keeping prepared. */
export interface ReadOptions {
  readonly once?: boolean;
}

/** Reads what is committed. Rejects with `StoreError` `store_unavailable` when there is no connection. */
export interface SqlReader {
  /** The first row. */
  get(sql: string, values?: readonly SqlValue[]): Promise<SqlRow | undefined>;
  all(sql: string, values?: readonly SqlValue[], options?: ReadOptions): Promise<readonly SqlRow[]>;
}

/**
 * Events that the owner of a run appends: the log ends with the last one then, as `lastSeq` of the dialect says, and each is a row of
 * `journal` with `run`, `seq`, `kind`, `ts` (of the event), `line`. Refused with `lease_lost` when the run has another epoch, or another last event than `after`.
 * No literal: ADR 0092.
 */
export class Lines {
  /** Number of the run. */
  readonly run: number;
  readonly runId: string;
  readonly epoch: number;
  readonly after: number;
  /** They follow each other, the first one follows `after`. */
  readonly events: readonly EncodedEvent[];

  constructor({ run, runId, epoch, after, events }: Lines) {
    this.run = run;
    this.runId = runId;
    this.epoch = epoch;
    this.after = after;
    this.events = events;
  }
}

/**
 * One statement, run for each of `rows`, all of which have as many values; no rows: it is not run. `need`: code of the refusal when all
 * of its rows together have changed or found nothing. `get`: the row that it finds or returns is its result.
 */
export interface Statement {
  readonly sql: string;
  readonly rows: readonly (readonly SqlValue[])[];
  readonly need?: string;
  readonly get?: true;
  readonly lines?: never;
}

/** Part of a transaction. A transaction appends to one run at most once, before anything else. */
export type Op = Statement | { readonly lines: Lines };

/** Number of changed rows of an operation; with `get` the row, of the last of `rows`. */
export type OpResult = number | SqlRow | undefined;

/** How a transaction is written. */
export interface WriteOptions {
  /** False: it may wait some milliseconds for others that are committed with it. Default true. */
  readonly sync?: boolean;
  /** The results are not asked for: the answer is empty. Default false. */
  readonly quiet?: boolean;
  /** Changed topics, for `watch` in other processes: announced after the commit, and only then. */
  readonly topics?: readonly string[];
}

/** Writes transactions. */
export interface SqlWriter {
  /**
   * Writes all of `ops`, in order, in one transaction; resolves after its COMMIT with a result for each. When a statement with `need`
   * changes nothing, or a constraint is broken, nothing is written and the promise rejects with what `refusal` makes of the code.
   * Rejects with `StoreError` `store_full`, `store_busy`, `store_read_only`, `store_unavailable`.
   */
  write(ops: readonly Op[], options?: WriteOptions): Promise<readonly OpResult[]>;
}

/** A process that has a database open. */
export interface Opening {
  readonly pid: number;
  readonly host: string;
  /** ISO 8601. */
  readonly startedAt: string;
}

/** `ok`; `store_full`: writes wait for room; else nothing is written any more. */
export type Condition = "ok" | "store_full" | "store_read_only" | "store_unavailable";

/** SQL that is not the same for all databases. */
export interface Dialect {
  /**
   * Condition on a row of `run`: the opening that it names, by `epoch` and `holder`, is at work, in this process or in another. It says
   * nothing of leases, which are in `owner` and `lease_until`.
   */
  readonly isHeld: string;
  /**
   * Expression of a number that is higher than every `epoch` in use; `before`, a statement without values, runs earlier in the same
   * transaction.
   */
  readonly newEpoch: { readonly before?: string; readonly value: string };
  /**
   * Adds an entry to the feed, with the values `run` and `seq`. Positions that become visible are higher than all that were visible
   * before, or a reader would miss entries.
   */
  readonly addToFeed: string;
  /** The highest position that any entry of the feed ever had; one row, its column `pos`, 0 for none. */
  readonly lastOfFeed: string;
  /**
   * Statement with one value, a text, that runs first in a transaction: of those with the same text, the next one goes on after the COMMIT
   * of the one before.
   */
  readonly lock: string;
  /** Expression of the number of the last event of a row of `run`, which has no other name there; 0: it has not begun. */
  readonly lastSeq: string;
  /** Expression of a member of the JSON object in a column: a string as it is, anything else as JSON text; NULL: there is none. */
  member(column: string, name: string): string;
  /** Aggregate of the bytes of a BLOB column, one after the other in the order of the rows. */
  joined(column: string): string;
  /** Expression of the JSON object in a column with a member set to the string that is bound at its one `?`. */
  withMember(column: string, name: string): string;
}

/**
 * An open database with the tables of a store. Tables and columns are those of the newest version in `schema.ts`; where `holder` is not
 * null, `run` has a column `holder TEXT` besides. Columns that only its own statements name may be added.
 */
export interface Database extends SqlReader, SqlWriter {
  /** `memory`: gone with the process; else it outlives it, and other processes may write to it as well. */
  readonly kind: "memory" | "sqlite" | "postgres";
  readonly dialect: Dialect;
  /** Number of this opening, higher than that of every earlier one: `run.epoch` of what is created here. */
  readonly epoch: number;
  /** Name of this opening in `run.holder`; null where one process has the database, or this one only reads. */
  readonly holder: string | null;
  /**
   * The opening of this name; null: its process is gone, whatever `isHeld` says. Absent where `isHeld` is exact.
   */
  readonly openingOf?: (holder: string) => Opening | null;
  /** Transactions are committed in the order of the calls of `write`. */
  readonly isOrdered: boolean;
  /** The value of `meta` by which positions in lists are signed: 64 hex digits. */
  readonly cursorKey: string;
  /** 32 bytes, which private values are sealed with; null: they can be neither written nor read here. */
  readonly key: Uint8Array | null;
  /** The number of the next run, which no run ever had. */
  nextRun(): number | Promise<number>;
  /** Time by the clock that all openings share, epoch milliseconds. */
  now(): number;
  /**
   * Calls `told` with the topics of transactions of other processes, after their commit, until the answer is called. `*`: everything may
   * have changed. It comes twice a second where topics may be missed, and where there are none soon after whatever others commit.
   */
  watch(told: (topic: string) => void): () => void;
  /** Does `work` while no other process does work of this name; undefined, and `work` is not done: another one is at it. */
  alone<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
  /** How it stands now. */
  readonly condition: Condition;
  /** Resolves when nothing is written any more before `close` was asked for, with `condition`. */
  readonly lost: Promise<Condition>;
  /** Tells whether writes wait, and why where that is known: at once when they do, then at every change, until the answer is called. */
  watchRoom(told: (isFull: boolean, problem?: string) => void): () => void;
  /** Bytes that its rows take. */
  bytesInUse(): Promise<number>;
  /** Gives free room back to the system, in slices. */
  giveBack(): Promise<void>;
  /** Writes one consistent copy to a file. Rejects with `path_exists`, or `store_unavailable` where it is not for us to make one. */
  backup(path: string): Promise<void>;
  /** Tells processes that find the database in use where this one serves; does nothing where there is no such thing. */
  announce(url: string): void;
  /** Writes what waits, then ends. Idempotent. */
  close(): Promise<void>;
}
