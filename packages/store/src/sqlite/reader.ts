/** The read connection of the main thread, with statements that are prepared once. */
import { StoreError } from "../errors.ts";
import type { SqlReader, SqlRow, SqlValue } from "../sql/port.ts";
import { faultOf } from "./sqlite.js";
import type { SqliteDb, Stmt } from "./sqlite-port.ts";

export class Reader {
  readonly #db: SqliteDb;
  readonly #prepared = new Map<string, Stmt>();
  #isClosed = false;

  constructor(db: SqliteDb) {
    this.#db = db;
    db.exec("PRAGMA trusted_schema=OFF");
  }

  get(sql: string, values: readonly SqlValue[] = []): SqlRow | undefined {
    return this.#call(() => this.#statement(sql).get(values));
  }

  all(sql: string, values: readonly SqlValue[] = []): readonly SqlRow[] {
    return this.#call(() => this.#statement(sql).all(values));
  }

  /** Runs a statement that is not worth keeping. */
  once(sql: string, values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#call(() => this.#db.prepare(sql).all(values));
  }

  /** The same as a store reads. */
  asPort(): SqlReader {
    return {
      get: async (sql, values) => this.get(sql, values),
      all: async (sql, values = [], { once = false } = {}) =>
        once ? this.once(sql, values) : this.all(sql, values),
    };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#prepared.clear();
    this.#db.close();
  }

  #statement(sql: string): Stmt {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }

  #call<T>(read: () => T): T {
    if (this.#isClosed) throw new StoreError("store_unavailable", "the store is closed");
    try {
      return read();
    } catch (cause) {
      throw toStoreError(cause, "the store cannot be read");
    }
  }
}

/** Converts an error of the driver to a `StoreError`. */
export function toStoreError(cause: unknown, what: string): StoreError {
  if (StoreError.isInstance(cause)) return cause;
  const fault = faultOf(cause);
  const code =
    fault === "CORRUPT" || fault === "NOTADB"
      ? "store_corrupt"
      : fault === "READONLY"
        ? "store_read_only"
        : fault === "FULL"
          ? "store_full"
          : fault === "BUSY"
            ? "store_busy"
            : "store_unavailable";
  const text = cause instanceof Error ? cause.message : String(cause);
  return new StoreError(code, `${what}: ${text}`, { cause });
}
