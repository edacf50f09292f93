/**
 * The file before anything is served from it: whose it is, which version, whether it is whole; then migrations and the start
 * of a new epoch. Nothing is ever deleted or repaired.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { chmodSync, existsSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { StoreError } from "../errors.ts";
import { toStoreError } from "./reader.ts";
import { APPLICATION_ID, MIGRATIONS, type Migration, type SlicedMigration } from "./schema.ts";
import type { SqliteDb, SqliteDriver, SqlValue } from "./sqlite-port.ts";

/** Settings of every write connection. The writer runs checkpoints itself, so that no awaited COMMIT includes one. */
export const WRITE_PRAGMAS: string =
  "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;" +
  "PRAGMA journal_size_limit=67108864; PRAGMA wal_autocheckpoint=0";

const KEPT_BACKUPS = 2;

export interface PrepareOptions {
  readonly migrations?: readonly Migration[];
  /** Throws where another process has the file open. Called before the tables are changed. */
  readonly checkAlone?: () => void;
  /** Whether no other process has the file open: one that has would have seen that it is damaged. Default true. */
  readonly isAlone?: boolean;
  /** Part of the transaction that begins the epoch. */
  readonly enter?: (db: SqliteDb) => void;
  /** How long another writer is waited for. */
  readonly busyTimeoutMs?: number;
}

/**
 * Prepares the file for writing and answers the epoch of this opening. Throws `store_too_new`, `store_corrupt` and `store_busy`. Processes
 * call it one after the other.
 */
export function prepareFile(
  driver: SqliteDriver,
  path: string,
  {
    migrations = MIGRATIONS,
    checkAlone,
    isAlone = true,
    enter,
    busyTimeoutMs,
  }: PrepareOptions = {},
): number {
  let db: SqliteDb | undefined;
  try {
    db = driver.open(path);
    if (busyTimeoutMs !== undefined) db.exec(`PRAGMA busy_timeout=${busyTimeoutMs}`);
    chmodSync(path, 0o600);
    const version = checkFile(db, path, migrations.length);
    if (version === 0) db.exec("PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL");
    const mode = value(db, "PRAGMA journal_mode=WAL");
    if (mode !== "wal") {
      throw new StoreError(
        "store_unavailable",
        `${dirname(path)} cannot share memory (journal mode ${String(mode)}); choose a folder on a local disk`,
      );
    }
    db.exec(WRITE_PRAGMAS);
    if (version > 0 && isAlone && meta(db, "cleanShutdown") !== "1") quickCheck(db, path);
    if (version < migrations.length) checkAlone?.();
    migrate(db, path, { version, migrations });
    return begin(db, enter);
  } catch (error) {
    const failed = toStoreError(error, `${path} cannot be opened`);
    const isDamaged = failed.code === "store_corrupt" && failed !== error;
    throw isDamaged ? damaged(path, failed.cause) : failed;
  } finally {
    db?.close();
  }
}

/** Makes the tables of a database in memory and answers the epoch of its only opening. */
export function prepareMemory(db: SqliteDb): number {
  db.exec("PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF");
  migrate(db, ":memory:", { version: 0, migrations: MIGRATIONS });
  return begin(db);
}

/** The epoch of this opening, which is unclean until `close` says otherwise. */
function begin(db: SqliteDb, enter?: (db: SqliteDb) => void): number {
  return transaction(db, () => {
    db.exec(
      "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch';" +
        "UPDATE meta SET value = '0' WHERE key = 'cleanShutdown'",
    );
    enter?.(db);
    return Number(meta(db, "epoch"));
  });
}

/** The version of the file, 0 for a new one. Throws `store_corrupt` for the file of another program, `store_too_new`. */
export function checkFile(db: SqliteDb, path: string, newest: number = MIGRATIONS.length): number {
  const application = value(db, "PRAGMA application_id");
  const version = Number(value(db, "PRAGMA user_version"));
  const isEmpty = value(db, "SELECT count(*) FROM sqlite_master") === 0;
  if (application !== APPLICATION_ID && !(isEmpty && application === 0)) {
    throw new StoreError(
      "store_corrupt",
      `${path} is the database of another program; move it away`,
    );
  }
  if (version > newest) {
    throw new StoreError(
      "store_too_new",
      `${path} has version ${version}, this program knows ${newest}; use a newer millrace`,
    );
  }
  return version;
}

function quickCheck(db: SqliteDb, path: string): void {
  const answer = value(db, "PRAGMA quick_check(1)");
  if (answer !== "ok") throw damaged(path, answer);
}

/** What SQLite says of the file, and the copy that an upgrade has left beside it. */
function damaged(path: string, found: unknown): StoreError {
  const text = found instanceof Error ? found.message : String(found);
  const [backup] = backups(path);
  const advice =
    backup === undefined ? "there is no backup beside it" : `the newest backup is ${backup}`;
  return new StoreError("store_corrupt", `${path} is damaged (${text}); ${advice}`);
}

/** The number of a migration whose slices were begun; it goes with the last of them. */
const UNFINISHED = "unfinishedMigration";

function migrate(
  db: SqliteDb,
  path: string,
  { version, migrations }: { readonly version: number; readonly migrations: readonly Migration[] },
): void {
  const begun = version === 0 ? undefined : meta(db, UNFINISHED);
  if (begun !== undefined) finish(db, migrations[Number(begun) - 1] as SlicedMigration);
  if (version > 0 && version < migrations.length) backUp(db, path, version + 1);
  for (let n = version + 1; n <= migrations.length; n += 1) {
    const migration = migrations[n - 1] as Migration;
    const isSliced = typeof migration !== "string";
    transaction(db, () => {
      db.exec(`${isSliced ? migration.begin : migration};PRAGMA user_version=${n}`);
      if (n === 1) {
        db.exec(`PRAGMA application_id=${APPLICATION_ID}`);
        firstMeta(db);
      }
      if (isSliced) insertMeta(db, UNFINISHED, String(n));
    });
    if (isSliced) finish(db, migration);
  }
}

/** The rest of a migration, from wherever it has come to. The WAL is emptied on the way, or it would grow to the size of the table. */
function finish(db: SqliteDb, { slice, end }: SlicedMigration): void {
  const statement = db.prepare(slice);
  while (statement.run([]).changes > 0) db.prepare("PRAGMA wal_checkpoint(PASSIVE)").all([]);
  transaction(db, () => {
    db.exec(end);
    db.prepare("DELETE FROM meta WHERE key = ?").run([UNFINISHED]);
  });
}

function transaction<T>(db: SqliteDb, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    try {
      db.exec("ROLLBACK");
    } catch {
      // SQLite has rolled back already, as it does on a full disk
    }
    throw error;
  }
}

function firstMeta(db: SqliteDb): void {
  insertMeta(db, "epoch", "0");
  insertMeta(db, "cleanShutdown", "0");
  insertMeta(db, "cursorKey", randomBytes(32).toString("hex"));
  insertMeta(db, "installationId", randomUUID());
}

function insertMeta(db: SqliteDb, key: string, value: string): void {
  db.prepare("INSERT INTO meta(key, value) VALUES(?, ?)").run([key, value]);
}

function backUp(db: SqliteDb, path: string, n: number): void {
  const target = `${path}.bak-${n}`;
  rmSync(target, { force: true }); // of a migration that did not come to its end
  db.prepare("VACUUM INTO ?").run([target]);
  chmodSync(target, 0o600);
  for (const old of backups(path).slice(KEPT_BACKUPS)) rmSync(old, { force: true });
}

/** Paths of the backups, newest first. */
function backups(path: string): string[] {
  const dir = dirname(path);
  const prefix = `${basename(path)}.bak-`;
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => name.startsWith(prefix))
    .sort((a, b) => Number(b.slice(prefix.length)) - Number(a.slice(prefix.length)))
    .map((name) => join(dir, name));
}

function meta(db: SqliteDb, key: string): SqlValue | undefined {
  return db.prepare("SELECT value FROM meta WHERE key = ?").get([key])?.["value"];
}

/** The only column of the only row. */
function value(db: SqliteDb, sql: string): SqlValue | undefined {
  const row = db.prepare(sql).get([]);
  return row === undefined ? undefined : Object.values(row)[0];
}
