/**
 * Who has a folder open.
 *   L1  Whoever writes in it holds a lock on a file of its own, `<opening>.open`, for life; the one server of the folder also holds
 *       `lock.db`. The kernel gives locks back when a process ends, however it ends, so nothing is ever stale.
 *   L2  Nothing else opens a file whose lock this process holds: closing any descriptor of it would drop the lock.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { StoreError } from "./errors.ts";
import type { Opening } from "./sql/port.ts";
import { faultOf } from "./sqlite/sqlite.js";
import type { SqliteDb, SqliteDriver } from "./sqlite/sqlite-port.ts";

const OWNER = "owner.json";
const SERVER = "lock.db";
const OPEN = ".open";

export interface Lock {
  release(): void;
}

/** The lock of the server of a folder. */
export interface ServerLock extends Lock {
  /** Writes the address of this process, for other processes. */
  announce(url: string): void;
}

/** The server of a folder. `url`: where it can be talked to. */
export interface Holder extends Opening {
  readonly url?: string;
}

/** The server of the folder, from its `owner.json`; null: none, or a process of this machine that has ended. */
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

/** Files whose lock this process holds: two SQLite libraries in one process would not see each other's locks. */
const held = new Set<string>();

/** Takes the lock of a file, which is made; waits for it at most `waitMs`. Undefined: another one has it. */
function lockFile(driver: SqliteDriver, path: string, waitMs: number): Lock | undefined {
  if (held.has(path)) return undefined;
  let db: SqliteDb | undefined;
  try {
    if (!existsSync(path)) writeFileSync(path, "", { mode: 0o600, flag: "a" });
    db = driver.open(path);
    // Without a journal, which would want room on a disk that is full.
    db.exec(`PRAGMA busy_timeout=${waitMs}; PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE`);
  } catch (error) {
    db?.close();
    if (faultOf(error) === "BUSY") return undefined;
    throw error;
  }
  const lock = db;
  held.add(path);
  return {
    release() {
      if (!held.delete(path)) return;
      lock.exec("ROLLBACK"); // at once: the handle may be collected later
      lock.close();
    },
  };
}

/** Whether a process, this one included, holds the lock of a file. */
function isLocked(driver: SqliteDriver, path: string): boolean {
  if (held.has(path)) return true;
  if (!existsSync(path)) return false;
  const db = driver.open(path);
  try {
    // A shared lock: two that look at the same time take neither for the holder.
    db.exec("PRAGMA busy_timeout=0");
    db.prepare("SELECT count(*) AS n FROM sqlite_master").get([]);
    return false;
  } catch (error) {
    if (faultOf(error) === "BUSY") return true;
    throw error;
  } finally {
    db.close();
  }
}

/** Whether the folder has a server, or a process of a version that let in one writer alone. */
export function isServed(driver: SqliteDriver, dir: string): boolean {
  return isLocked(driver, join(dir, SERVER));
}

/** Makes this process the server of the folder, whose path is real. Throws `store_locked`, which names the one that is there. */
export function takeServerLock(driver: SqliteDriver, dir: string): ServerLock {
  const lock = lockFile(driver, join(dir, SERVER), 0);
  if (lock === undefined) throw servedError(dir);
  const ownerPath = join(dir, OWNER);
  const tell = (url?: string): void => {
    const owner = { ...thisProcess(), ...(url !== undefined && { url }) };
    writeFileSync(ownerPath, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  };
  try {
    tell();
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    announce: tell,
    release() {
      rmSync(ownerPath, { force: true });
      lock.release();
    },
  };
}

/** This process, as messages of other processes describe it. */
export function thisProcess(): Opening {
  const startedAt = new Date(Date.now() - process.uptime() * 1_000).toISOString();
  return { pid: process.pid, host: hostname(), startedAt };
}

/** Lets one process after the other open the folder. Undefined: it was not its turn within `waitMs`. */
export function takeTurn(driver: SqliteDriver, dir: string, waitMs: number): Lock | undefined {
  return lockFile(driver, join(dir, "turn.db"), waitMs);
}

/** Holds the lock of an opening, whose name no other opening of the folder ever has. */
export function holdOpening(driver: SqliteDriver, dir: string, id: string): Lock {
  const path = join(dir, `${id}${OPEN}`);
  const lock = lockFile(driver, path, 0) as Lock;
  return {
    release() {
      rmSync(path, { force: true });
      lock.release();
    },
  };
}

/** Whether the process of an opening still has the folder open. */
export function isOpen(driver: SqliteDriver, dir: string, id: string): boolean {
  return isLocked(driver, join(dir, `${id}${OPEN}`));
}

/** The openings of the folder that are there; what others have left is deleted. To be called by whose turn it is. */
export function openingsOf(driver: SqliteDriver, dir: string): readonly string[] {
  const ids = readdirSync(dir).flatMap((name) =>
    name.endsWith(OPEN) ? [name.slice(0, -OPEN.length)] : [],
  );
  return ids.filter((id) => {
    if (isOpen(driver, dir, id)) return true;
    rmSync(join(dir, `${id}${OPEN}`), { force: true });
    return false;
  });
}

/** A process for people. */
export function sayOpening({ pid, host, startedAt }: Opening): string {
  return `process ${pid} on ${host}, since ${startedAt}`;
}

function servedError(dir: string): StoreError {
  const holder = readHolder(dir);
  const who = holder === null ? "another process" : sayOpening(holder); // one that has only just begun is not named yet
  const url = holder?.url;
  const help = url === undefined ? "stop it first" : `stop it, or talk to it with --server ${url}`;
  return new StoreError("store_locked", `${dir} is served by ${who}; ${help}`);
}
