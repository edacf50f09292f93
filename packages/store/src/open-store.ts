/** Opens the data directory: locks, file, writer, reader, and the objects over them. */

import { randomBytes, randomUUID } from "node:crypto";
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
import {
  holdOpening,
  type Lock,
  openingsOf,
  type ServerLock,
  takeServerLock,
  takeTurn,
} from "./lock.ts";
import { RunNumbers } from "./sql/run-numbers.ts";
import { checkFile, prepareFile, prepareMemory, WRITE_PRAGMAS } from "./sqlite/database-file.ts";
import { chooseDriver, type DriverName } from "./sqlite/driver.ts";
import {
  enterFile,
  firstNumber,
  type OpeningsPlace,
  openingOf,
  RUN_NUMBERS,
  sayOthers,
  TAKE_NUMBERS,
} from "./sqlite/openings.ts";
import { Reader, toStoreError } from "./sqlite/reader.ts";
import { MIGRATIONS } from "./sqlite/schema.ts";
import { faultOf } from "./sqlite/sqlite.js";
import { sqliteDatabase } from "./sqlite/sqlite-database.ts";
import type { SqliteDriver, SqlRow } from "./sqlite/sqlite-port.ts";
import { type Store, type StoreParts, storeOver } from "./store.ts";
import { createMemoryWriter, Writer, writerUrl } from "./writer/writer.ts";

/** Options of `openStore`. `now`: epoch milliseconds, by which leases run out; default the machine's clock. */
export interface OpenStoreOptions extends StoreParts {
  /** The data directory; made, for its owner alone, when there is none. Processes of one machine may write in it at the same time. */
  readonly dir: string;
  /** Only reads; every write is refused with `store_read_only`. Default false. */
  readonly readonly?: boolean;
  /** Opens it as the server of the folder, of which there is one. Default false. */
  readonly serves?: boolean;
  /**
   * How long this process waits for others that write, in milliseconds; afterwards a write is refused with `store_busy`, except events and
   * values of live runs, which wait on. Default 5,000.
   */
  readonly busyTimeoutMs?: number | undefined;
  /** Default: `MILLRACE_SQLITE`, else `node:sqlite` where this Node has it, else `libsql`. */
  readonly driver?: DriverName;
  /**
   * The file `@millrace/store/writer-thread`, for a program that was bundled: a URL, or a path from the folder of the process.
   * Default: beside this module.
   */
  readonly workerUrl?: string | URL;
  readonly now?: () => number;
}

export type MemoryStoreOptions = Pick<OpenStoreOptions, "driver" | "now" | "keepsContent">;

const MEMORY_OPTIONS = { driver: true, now: true, keepsContent: true } as const;
const OPTIONS: OptionNames<OpenStoreOptions> = {
  ...{ ...MEMORY_OPTIONS, dir: true, readonly: true, serves: true, busyTimeoutMs: true },
  workerUrl: true,
};

const BUSY_MS = 5_000;

const RESERVE_BYTES = 8_388_608; // room for cancels and summaries on a disk that is full
const OPENING_BYTES = 1_048_576; // an opening that fails with less room than this failed for want of it

/** File systems without the shared memory or the locks that SQLite needs, by their `statfs` type on Linux. */
const REMOTE: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x65735546, "FUSE"],
]);

/**
 * Opens the store in a folder. Throws `StoreError`: `store_locked` (with `serves`, or where its tables are to be changed and another
 * process has it open), `store_busy` (others write for too long), `store_too_new`, `store_corrupt`, `store_read_only` (the folder cannot be written), `store_unavailable` (no driver, a remote file system, a
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
  checkOptions("openMemoryStore", options, MEMORY_OPTIONS);
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
  options: OpenStoreOptions & { readonly now: () => number },
): Promise<Store> {
  const { workerUrl, dir: wanted, now, keepsContent } = options;
  const dir = makeFolder(wanted);
  const path = join(dir, "millrace.db");
  const reserve = join(dir, "reserve.bin");
  let entered: Entered | undefined;
  let reader: Reader | undefined;
  try {
    const url = writerUrl(workerUrl);
    const { isFull, ...own } = enterWithRoom(driver, dir, { ...options, reserve });
    entered = own;
    const { epoch, holder, key, opening, server, firstRun, busyTimeoutMs } = own;
    if (!isFull) keepReserve(reserve);
    const reading = new Reader(driver.open(path, { readonly: true }));
    reader = reading;
    const place: OpeningsPlace = { driver, dir, reader: reading };
    const writer = new Writer({
      url,
      path,
      driver: driver.name,
      pragmas: `PRAGMA busy_timeout=${busyTimeoutMs}; ${WRITE_PRAGMAS}`,
      opening: holder,
      busyText: () => busyText(path, busyTimeoutMs, sayOthers(place, holder)),
      reserve,
      reserveBytes: RESERVE_BYTES,
      isFull,
    });
    await writer.ready;
    let closed: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      await writer.close();
      reading.close();
      opening.release();
      server?.release();
    };
    const close = (): Promise<void> => {
      closed ??= end();
      return closed;
    };
    const takeNumbers = async () => {
      const [row] = await writer.write([{ sql: TAKE_NUMBERS, rows: [[]], get: true }]);
      return { first: firstNumber(row as SqlRow), count: RUN_NUMBERS };
    };
    const database = sqliteDatabase({
      kind: "sqlite",
      reader: reading,
      writer,
      epoch,
      holder,
      openingOf: (id) => openingOf(place, id),
      numbers: new RunNumbers(takeNumbers, { first: firstRun, count: RUN_NUMBERS }),
      key,
      now,
      condition: () => writer.condition,
      lost: writer.lost,
      announce: (address) => server?.announce(address),
      close,
    });
    return storeOver(database, { keepsContent });
  } catch (error) {
    reader?.close();
    entered?.opening.release();
    entered?.server?.release();
    throw refusalOf(error, dir);
  }
}

/** An opening of a folder that stands in its file. */
interface Entered {
  readonly epoch: number;
  readonly holder: string;
  readonly firstRun: number;
  readonly key: Uint8Array;
  readonly opening: Lock;
  readonly server: ServerLock | undefined;
  readonly busyTimeoutMs: number;
}

/** Enters, on a full disk with the room of the reserve: runs can be read, cancelled and pruned there. */
function enterWithRoom(
  driver: SqliteDriver,
  dir: string,
  { reserve, ...options }: OpenStoreOptions & { readonly reserve: string },
): Entered & { readonly isFull: boolean } {
  try {
    return { ...enter(driver, dir, options), isFull: false };
  } catch (error) {
    const { code } = refusalOf(error, dir);
    const { bavail, bsize } = statfsSync(dir);
    const isFull = FOR_WANT_OF_ROOM.has(code) && bavail * bsize < OPENING_BYTES;
    if (!isFull) throw error;
    if (!existsSync(reserve)) {
      const text = `the disk of ${dir} is full; make room, and start again`;
      throw new StoreError("store_full", text, { cause: error });
    }
    rmSync(reserve);
    return { ...enter(driver, dir, options), isFull };
  }
}

/** Opens the file for writing, one process after the other. */
function enter(
  driver: SqliteDriver,
  dir: string,
  { serves = false, busyTimeoutMs = BUSY_MS }: OpenStoreOptions,
): Entered {
  const path = join(dir, "millrace.db");
  const server = serves ? takeServerLock(driver, dir) : undefined;
  let opening: Lock | undefined;
  let turn: Lock | undefined;
  let guard: Lock | undefined; // of the tables: a version that knows no other lock stays out while they change
  try {
    turn = takeTurn(driver, dir, busyTimeoutMs);
    if (turn === undefined) {
      throw new StoreError("store_busy", busyText(path, busyTimeoutMs, "another process opens it"));
    }
    const isNew = !existsSync(path);
    const alive = openingsOf(driver, dir);
    const holder = randomUUID();
    opening = holdOpening(driver, dir, holder);
    let firstRun = 0;
    const epoch = prepareFile(driver, path, {
      isAlone: alive.length === 0,
      checkAlone() {
        if (!serves && !isNew) guard = takeServerLock(driver, dir);
        if (alive.length > 0) throw new StoreError("store_locked", inUseText(dir));
      },
      enter(db) {
        firstRun = enterFile(db, { id: holder, alive });
      },
      busyTimeoutMs,
    });
    const key = installationKey(join(dir, "key"));
    return { epoch, holder, firstRun, key, opening, server, busyTimeoutMs };
  } catch (error) {
    opening?.release();
    server?.release();
    throw error;
  } finally {
    guard?.release();
    turn?.release();
  }
}

function busyText(path: string, ms: number, who: string): string {
  const others = who === "" ? "" : ` (${who})`;
  return `${path}: another process wrote for more than ${ms} ms${others}; wait until it has ended, or raise busyTimeoutMs`;
}

function inUseText(dir: string): string {
  return `${dir} is from an earlier version, and other processes have it open; stop them, so that its tables can be changed`;
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
    const isOld = reader.get("PRAGMA user_version")?.["user_version"] !== MIGRATIONS.length;
    const place = { driver, dir: realpathSync(dir), reader };
    const database = sqliteDatabase({
      kind: "sqlite",
      reader,
      ...(!isOld && { openingOf: (id: string) => openingOf(place, id) }),
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

/** Codes of openings that may have failed because the disk is full. */
const FOR_WANT_OF_ROOM: ReadonlySet<string> = new Set(["store_full", "store_unavailable"]);

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
