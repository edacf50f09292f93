/** Opens the data directory: lock, file, writer, reader, and the objects over them. */

import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  realpathSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import { StoreError } from "./errors.ts";
import { installationKey, KEY_BYTES } from "./journal/private-values.ts";
import { type Lock, takeLock } from "./lock.ts";
import { checkFile, prepareFile, prepareMemory, WRITE_PRAGMAS } from "./sqlite/database-file.ts";
import { chooseDriver, type DriverName } from "./sqlite/driver.ts";
import { Reader, toStoreError } from "./sqlite/reader.ts";
import { faultOf } from "./sqlite/sqlite.js";
import { sqliteDatabase } from "./sqlite/sqlite-database.ts";
import type { SqliteDriver } from "./sqlite/sqlite-port.ts";
import { type Store, type StoreParts, storeOver } from "./store.ts";
import { createMemoryWriter, Writer, writerUrl } from "./writer/writer.ts";

/** What `openStore` takes. `now`: epoch milliseconds, by which leases run out; default the machine's clock. */
export interface OpenStoreOptions extends StoreParts {
  /** The data directory; made, for its owner alone, when there is none. One process writes in it. */
  readonly dir: string;
  /** Reads beside the process that writes; every write is refused with `store_read_only`. Default false. */
  readonly readonly?: boolean;
  /** Default: `MILLRACE_SQLITE`, else `node:sqlite` where this Node has it, else `libsql`. */
  readonly driver?: DriverName;
  /**
   * The file `@millrace/store/writer-thread`, for a program that was bundled: a URL, or a path from the folder of the process.
   * Default: beside this module.
   */
  readonly workerUrl?: string | URL;
  readonly now?: () => number;
}

/** What `openMemoryStore` takes. */
export type MemoryStoreOptions = Omit<OpenStoreOptions, "dir" | "readonly" | "workerUrl">;

const OPTIONS: OptionNames<OpenStoreOptions> = {
  ...{ dir: true, readonly: true, driver: true, workerUrl: true, now: true, keepsContent: true },
};

const RESERVE_BYTES = 8_388_608; // room for cancels and summaries on a disk that is full

/** File systems without the shared memory or the locks that SQLite needs, by their `statfs` type on Linux. */
const REMOTE: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x65735546, "FUSE"],
]);

/**
 * Opens the store in a folder. Throws `StoreError`: `store_locked` (another process writes there), `store_too_new`,
 * `store_corrupt`, `store_read_only` (the folder cannot be written), `store_unavailable` (no driver, a remote file system, a
 * writer that cannot start; with `readonly` also: nothing there).
 */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  checkOptions("openStore", options, OPTIONS);
  const driver = chooseDriver(options.driver);
  const now = options.now ?? Date.now;
  return options.readonly === true
    ? openForReading(driver, options.dir, now)
    : openForWriting(driver, { ...options, now });
}

/**
 * Opens a store that lies in this process alone and is gone with it: for tests, and for servers that shall leave nothing behind.
 * Throws `store_unavailable` when there is no driver.
 */
export function openMemoryStore(options: MemoryStoreOptions = {}): Store {
  const { dir: _dir, readonly: _readonly, workerUrl: _workerUrl, ...names } = OPTIONS;
  checkOptions("openMemoryStore", options, names);
  const db = chooseDriver(options.driver).open(":memory:");
  const epoch = prepareMemory(db);
  const reader = new Reader(db);
  const { now = Date.now, keepsContent } = options;
  const database = sqliteDatabase({
    kind: "memory",
    reader,
    writer: createMemoryWriter(db),
    epoch,
    key: randomBytes(KEY_BYTES),
    now,
    condition: () => "ok",
    close: async () => reader.close(),
  });
  return storeOver(database, { keepsContent });
}

async function openForWriting(
  driver: SqliteDriver,
  { workerUrl, dir: wanted, now, keepsContent }: OpenStoreOptions & { readonly now: () => number },
): Promise<Store> {
  const dir = makeFolder(wanted);
  const path = join(dir, "millrace.db");
  const reserve = join(dir, "reserve.bin");
  let lock: Lock | undefined;
  let reader: Reader | undefined;
  try {
    const url = writerUrl(workerUrl);
    lock = takeLock(driver, dir);
    const epoch = prepareFile(driver, path);
    const key = installationKey(join(dir, "key"));
    keepReserve(reserve);
    const reading = new Reader(driver.open(path, { readonly: true }));
    reader = reading;
    const writer = new Writer({
      url,
      path,
      driver: driver.name,
      pragmas: WRITE_PRAGMAS,
      reserve,
      reserveBytes: RESERVE_BYTES,
    });
    await writer.ready;
    const held = lock;
    let closed: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      await writer.close();
      reading.close();
      held.release();
    };
    const close = (): Promise<void> => {
      closed ??= end();
      return closed;
    };
    const database = sqliteDatabase({
      kind: "sqlite",
      reader: reading,
      writer,
      epoch,
      key,
      now,
      condition: () => writer.condition,
      lost: writer.lost,
      announce: (address) => held.announce(address),
      close,
    });
    return storeOver(database, { keepsContent });
  } catch (error) {
    reader?.close();
    lock?.release();
    throw refusalOf(error, dir);
  }
}

function openForReading(driver: SqliteDriver, dir: string, now: () => number): Store {
  const path = join(dir, "millrace.db");
  if (!existsSync(path)) throw new StoreError("store_unavailable", `there is no store in ${dir}`);
  const refuse = async (): Promise<never> => {
    throw new StoreError("store_read_only", "the store is open for reading only");
  };
  try {
    const db = driver.open(path, { readonly: true });
    checkFile(db, path);
    const reader = new Reader(db);
    const keyPath = join(dir, "key");
    const key = existsSync(keyPath) ? installationKey(keyPath) : null;
    const database = sqliteDatabase({
      kind: "sqlite",
      reader,
      writer: { write: refuse },
      epoch: 0,
      key,
      now,
      condition: () => "store_read_only",
      close: async () => reader.close(),
    });
    return storeOver(database);
  } catch (error) {
    throw toStoreError(error, `${path} cannot be read`);
  }
}

function makeFolder(wanted: string): string {
  try {
    if (!existsSync(wanted)) {
      makeFolders(wanted);
      chmodSync(wanted, 0o700);
    }
  } catch (error) {
    throw refusalOf(error, wanted);
  }
  const dir = realpathSync(wanted);
  const remote = process.platform === "linux" ? REMOTE.get(statfsSync(dir).type) : undefined;
  if (remote === undefined) return dir;
  throw new StoreError(
    "store_unavailable",
    `${dir} lies on ${remote}, where SQLite cannot lock; choose a folder on a local disk`,
  );
}

/** As `recursive` does it, which never ends below a folder that denies having one although it is there, such as /proc. */
function makeFolders(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolders(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // another process was faster
  }
}

function keepReserve(path: string): void {
  if (existsSync(path)) return;
  try {
    writeFileSync(path, Buffer.alloc(RESERVE_BYTES), { mode: 0o600 });
  } catch {
    rmSync(path, { force: true }); // no room for it: the next start tries again
  }
}

const READ_ONLY: ReadonlySet<unknown> = new Set(["EROFS", "EACCES", "EPERM"]);

function refusalOf(error: unknown, dir: string): StoreError {
  if (StoreError.isInstance(error)) return error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const fault = faultOf(error);
  if (READ_ONLY.has(code) || fault === "READONLY" || fault === "CANTOPEN") {
    return new StoreError("store_read_only", `${dir} cannot be written`, { cause: error });
  }
  return toStoreError(error, `${dir} cannot be opened`);
}
