/**
 * One writer per folder: an exclusive SQLite lock on `lock.db`, held for life. The kernel gives it back when the process ends,
 * however it ends, so nothing is ever stale. Nothing else may open that file: closing any descriptor of it drops the lock.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { StoreError } from "./errors.ts";
import { faultOf } from "./sqlite/sqlite.js";
import type { SqliteDb, SqliteDriver } from "./sqlite/sqlite-port.ts";

const OWNER = "owner.json";

export interface Lock {
  /** Writes the address of this process, for processes that find the folder locked. */
  announce(url: string): void;
  release(): void;
}

/** The process that writes in a folder. `url`: where it can be talked to, when it serves. */
export interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly startedAt: string;
  readonly url?: string;
}

/** The holder of the folder, from its `owner.json`; null: none, or a process of this machine that has ended. */
export function readHolder(dir: string): Holder | null {
  try {
    const { pid, host, startedAt, url } = JSON.parse(readFileSync(join(dir, OWNER), "utf8"));
    const holder = { pid: Number(pid), host: String(host), startedAt: String(startedAt) };
    if (holder.host === hostname() && !isAlive(holder.pid)) return null;
    return { ...holder, ...(typeof url === "string" && { url }) };
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // it exists and belongs to another user
  }
}

/** Folders that this process holds: two SQLite libraries in one process would not see each other's locks. */
const held = new Set<string>();

/** Takes the lock of the folder, whose path is real. Throws `store_locked`, which names the holder. */
export function takeLock(driver: SqliteDriver, dir: string): Lock {
  const ownerPath = join(dir, OWNER);
  if (held.has(dir)) throw locked(dir);
  let db: SqliteDb | undefined;
  try {
    db = driver.open(join(dir, "lock.db"));
    db.exec("PRAGMA busy_timeout=0; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    db?.close();
    if (faultOf(error) === "BUSY") throw locked(dir);
    throw error;
  }
  const lock = db;
  const owner = { pid: process.pid, host: hostname(), startedAt: new Date().toISOString() };
  const tell = (more: { readonly url?: string }): void => {
    writeFileSync(ownerPath, `${JSON.stringify({ ...owner, ...more })}\n`, { mode: 0o600 });
  };
  try {
    tell({});
  } catch (error) {
    letGo(lock);
    throw error;
  }
  held.add(dir);
  return {
    announce: (url) => tell({ url }),
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

function locked(dir: string): StoreError {
  const holder = readHolder(dir);
  // One that has only just begun is not named yet.
  const who =
    holder === null
      ? "another process"
      : `process ${holder.pid} on ${holder.host}, since ${holder.startedAt}`;
  const url = holder?.url;
  const help =
    url === undefined
      ? "wait until it has ended, or stop it"
      : `stop it, or talk to it with --server ${url}`;
  return new StoreError("store_locked", `${dir} is in use by ${who}; ${help}`);
}
