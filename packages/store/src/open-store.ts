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
import { createJournal, type JournalParts, type StoreJournal } from "./journal/journal.ts";
import { installationKey, KEY_BYTES, PrivateValues } from "./journal/private-values.ts";
import { type Lock, takeLock } from "./lock.ts";
import {
  createRetention,
  type RetentionLimits,
  type RetentionReport,
} from "./retention/retention.ts";
import { type Confirmations, createConfirmations } from "./runs/confirmations.ts";
import { type Cursors, createCursors } from "./runs/cursor.ts";
import { createFeed, type Feed } from "./runs/feed.ts";
import { createRuns, type Runs } from "./runs/runs.ts";
import { checkFile, prepareFile, prepareMemory, WRITE_PRAGMAS } from "./sqlite/database-file.ts";
import { chooseDriver, type DriverName } from "./sqlite/driver.ts";
import { Reader, toStoreError } from "./sqlite/reader.ts";
import { faultOf } from "./sqlite/sqlite.js";
import type { SqliteDriver } from "./sqlite/sqlite-port.ts";
import { type Connections, createConnections } from "./tables/connections.ts";
import { createHubs, type Hubs } from "./tables/hubs.ts";
import { createIdempotency, type Idempotency } from "./tables/idempotency.ts";
import { createSchedules, type Schedules } from "./tables/schedules.ts";
import { createSettings, type SettingsTable } from "./tables/settings.ts";
import { createTemplates, type Templates } from "./tables/templates.ts";
import { createWebhooks, type Webhooks } from "./tables/webhooks.ts";
import { type Condition, createMemoryWriter, Writer, writerUrl } from "./writer/writer.ts";

/** What `openStore` takes. `now`: epoch milliseconds, by which leases run out; default the machine's clock. */
export interface OpenStoreOptions {
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
  /** Asked when a run ends: false withholds what models said in it, as `auditContent: "none"` does. Default: true. */
  readonly keepsContent?: (() => boolean) | undefined;
}

/** What `openMemoryStore` takes. */
export type MemoryStoreOptions = Omit<OpenStoreOptions, "dir" | "readonly" | "workerUrl">;

const OPTIONS: OptionNames<OpenStoreOptions> = {
  ...{ dir: true, readonly: true, driver: true, workerUrl: true, now: true, keepsContent: true },
};

/** The tables of a store besides runs. */
export interface Tables {
  readonly connections: Connections;
  readonly hubs: Hubs;
  readonly idempotency: Idempotency;
  readonly schedules: Schedules;
  readonly settings: SettingsTable;
  readonly templates: Templates;
  readonly webhooks: Webhooks;
}

/** An open data directory. */
export interface Store extends Tables {
  /** `sqlite`: the store outlives its process. */
  readonly kind: "memory" | "sqlite";
  /** The log of every run. `create` takes the rows that begin with a run. */
  readonly journal: StoreJournal;
  readonly runs: Runs;
  readonly confirmations: Confirmations;
  readonly feed: Feed;
  /** Signs positions in lists; its key is that of the store, so that cursors outlive a process. */
  readonly cursors: Cursors;
  /**
   * `ok`; `store_full`: the disk is full, writes wait until there is room; `store_read_only` and `store_unavailable`: nothing
   * is written any more, and the process should end and start again.
   */
  readonly condition: Condition;
  /** Resolves when nothing is written any more, before `close` was asked for: with `condition`. */
  readonly lost: Promise<Condition>;
  /**
   * Deletes rows older than `limits`, by default those of `RETENTION`, and frees their space. The log of an ended run goes
   * first and leaves a `snapshot` and its `summary`; live runs and templates stay. Concurrent calls share one pass.
   */
  retain(limits?: Partial<RetentionLimits>): Promise<RetentionReport>;
  /**
   * Writes one consistent copy of the database to `path`, without the key of the private values. Throws `path_exists` when
   * there is something already.
   */
  backup(path: string): Promise<void>;
  /** Writes the address of this process to `owner.json`; does nothing for a store in memory. */
  announce(url: string): void;
  /** Writes the queue, marks the end as clean, and releases the lock. Idempotent. */
  close(): Promise<void>;
  /** `close()`, for `await using store = await openStore(…)`. */
  [Symbol.asyncDispose](): Promise<void>;
}

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
  const opened = prepareMemory(db);
  const reader = new Reader(db);
  const writer = createMemoryWriter(db);
  const privates = new PrivateValues(reader, randomBytes(KEY_BYTES));
  const { now = Date.now, keepsContent } = options;
  return storeOver(
    { reader, writer, opened, privates, now, keepsContent },
    { kind: "memory", condition: () => "ok", close: async () => reader.close() },
  );
}

/** A store that cannot be lost. */
const NEVER: Promise<Condition> = new Promise(() => {});

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
    const opened = prepareFile(driver, path);
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
    const privates = new PrivateValues(reading, key);
    return storeOver(
      { reader: reading, writer, opened, privates, now, keepsContent },
      {
        kind: "sqlite",
        condition: () => writer.condition,
        lost: writer.lost,
        announce: (address) => held.announce(address),
        close,
      },
    );
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
    return storeOver(
      {
        reader,
        writer: { write: refuse },
        opened: 0,
        privates: new PrivateValues(reader, key),
        now,
      },
      {
        kind: "sqlite",
        condition: () => "store_read_only",
        close: async () => reader.close(),
      },
    );
  } catch (error) {
    throw toStoreError(error, `${path} cannot be read`);
  }
}

/** The objects of a store, and how it stands. */
function storeOver(
  parts: JournalParts,
  own: {
    readonly kind: Store["kind"];
    readonly condition: () => Condition;
    readonly lost?: Promise<Condition>;
    readonly announce?: Store["announce"];
    readonly close: () => Promise<void>;
  },
): Store {
  const { reader, writer, privates, now } = parts;
  const { kind, condition, lost = NEVER, announce = () => {}, close } = own;
  const secret = reader.get("SELECT value FROM meta WHERE key = 'cursorKey'")?.["value"];
  const cursors = createCursors(Buffer.from(String(secret), "hex"));
  const feed = createFeed(reader);
  return {
    journal: createJournal({ ...parts, publish: (kinds) => feed.publish(kinds) }),
    feed,
    cursors,
    runs: createRuns({ reader, writer, cursors, privates }),
    confirmations: createConfirmations(reader, cursors),
    retain: createRetention({ reader, writer, now }),
    connections: createConnections(reader, writer),
    hubs: createHubs(reader, writer),
    idempotency: createIdempotency(reader, writer, now),
    schedules: createSchedules(reader, writer),
    settings: createSettings(reader, writer),
    templates: createTemplates(reader, writer, now),
    webhooks: createWebhooks(reader, writer),
    kind,
    get condition() {
      return condition();
    },
    lost,
    announce,
    backup: (target) => backUp(reader, target),
    close,
    [Symbol.asyncDispose]: close,
  };
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

async function backUp(reader: Reader, path: string): Promise<void> {
  if (existsSync(path)) {
    throw new StoreError("path_exists", `${path} exists already; a backup never overwrites`);
  }
  reader.once("VACUUM INTO ?", [path]);
  chmodSync(path, 0o600);
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
