/**
 * A store in a folder as it stands, to be copied elsewhere. Its file is open for reading only, and the lock of the folder is held, so that
 * nobody writes to it meanwhile.
 */
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../errors.ts";
import { installationKey } from "../journal/private-values.ts";
import {
  isServed,
  type Lock,
  openingsOf,
  readHolder,
  sayOpening,
  takeServerLock,
  takeTurn,
} from "../lock.ts";
import type { SqlReader } from "../sql/port.ts";
import { checkFile } from "./database-file.ts";
import { chooseDriver, type DriverName } from "./driver.ts";
import { Reader, toStoreError } from "./reader.ts";
import { LAST_SEQ } from "./schema.ts";

const TURN_MS = 1_000;

/** A store that stands still. Its tables are those of `schema.ts`. */
export interface StoreSource extends SqlReader {
  /** The key of its private values; null: the folder has none. */
  readonly key: Uint8Array | null;
  /** As in the dialect. */
  readonly lastSeq: string;
  /** Ends the reading and gives the folder back. Idempotent. */
  close(): void;
}

/**
 * Opens the store in a folder. Throws `StoreError`: `store_locked` (a process writes there), `store_too_new`, `store_corrupt`,
 * `store_unavailable` (there is none, or no driver).
 */
export function openStoreSource(dir: string, driverName?: DriverName): StoreSource {
  const driver = chooseDriver(driverName);
  if (!existsSync(join(dir, "millrace.db"))) {
    throw new StoreError("store_unavailable", `there is no store in ${dir}`);
  }
  const folder = realpathSync(dir);
  const path = join(folder, "millrace.db");
  const held: Lock[] = [];
  const letGo = (): void => {
    for (const lock of held) lock.release();
  };
  try {
    // With both nobody can write: neither a server nor a command opens the folder meanwhile.
    if (isServed(driver, folder)) throw inUse(folder);
    held.push(takeServerLock(driver, folder));
    const turn = takeTurn(driver, folder, TURN_MS);
    if (turn !== undefined) held.push(turn);
    if (turn === undefined || openingsOf(driver, folder).length > 0) throw inUse(folder);
    const db = driver.open(path, { readonly: true });
    const reader = new Reader(db);
    checkFile(db, path);
    const keyPath = join(folder, "key");
    let isClosed = false;
    return {
      ...reader.asPort(),
      lastSeq: LAST_SEQ,
      key: existsSync(keyPath) ? installationKey(keyPath) : null,
      close() {
        if (isClosed) return;
        isClosed = true;
        reader.close();
        letGo();
      },
    };
  } catch (error) {
    letGo();
    throw toStoreError(error, `${path} cannot be read`);
  }
}

function inUse(dir: string): StoreError {
  const holder = readHolder(dir);
  const who = holder === null ? "another process" : sayOpening(holder);
  const text = `${dir} is in use by ${who}; stop it first, because what it writes meanwhile would be missing`;
  return new StoreError("store_locked", text);
}
