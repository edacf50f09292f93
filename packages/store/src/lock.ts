/**
 * One writer per folder: an exclusive SQLite lock on `lock.db`, held for life. The kernel gives it back when the process ends,
 * however it ends, so nothing is ever stale. Nothing else may open that file: closing any descriptor of it drops the lock.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { StoreError } from "./errors.ts";
import { faultOf } from "./sqlite.js";
import type { SqliteDb, SqliteDriver } from "./sqlite-port.ts";

export interface Lock {
  release(): void;
}

/** Folders that this process holds: two SQLite libraries in one process would not see each other's locks. */
const held = new Set<string>();

/** Takes the lock of the folder, whose path is real. Throws `store_locked`, which names the holder. */
export function takeLock(driver: SqliteDriver, dir: string): Lock {
  const ownerPath = join(dir, "owner.json");
  if (held.has(dir)) throw locked(dir, ownerPath);
  let db: SqliteDb | undefined;
  try {
    db = driver.open(join(dir, "lock.db"));
    db.exec("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    db?.close();
    if (faultOf(error) === "BUSY") throw locked(dir, ownerPath);
    throw error;
  }
  const lock = db;
  const owner = { pid: process.pid, host: hostname(), startedAt: new Date().toISOString() };
  try {
    writeFileSync(ownerPath, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  } catch (error) {
    letGo(lock);
    throw error;
  }
  held.add(dir);
  return {
    release() {
      held.delete(dir);
      rmSync(ownerPath, { force: true });
      letGo(lock);
    },
  };
}

/** Gives the lock back before the handle is collected, which may be later than `close`. */
function letGo(db: SqliteDb): void {
  db.exec("ROLLBACK; PRAGMA locking_mode=NORMAL");
  db.prepare("SELECT count(*) AS n FROM sqlite_master").get([]);
  db.close();
}

function locked(dir: string, ownerPath: string): StoreError {
  let holder = "another process";
  try {
    const { pid, host, startedAt } = JSON.parse(readFileSync(ownerPath, "utf8"));
    holder = `process ${Number(pid)} on ${String(host)}, since ${String(startedAt)}`;
  } catch {
    // the holder has only just begun: nobody is named
  }
  return new StoreError(
    "store_locked",
    `${dir} is in use by ${holder}; stop it, or talk to it with --server`,
  );
}
