/** SQLite behind the port of a store: a file that processes of one machine write, or memory. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { StoreError } from "../errors.ts";
import type { Condition, Database, Dialect } from "../sql/port.ts";
import type { RunNumbers } from "../sql/run-numbers.ts";
import { ADD_TO_FEED } from "../writer/units.js";
import type { Writer } from "../writer/writer.ts";
import { type Reader, toStoreError } from "./reader.ts";
import { LAST_SEQ } from "./schema.ts";

/** Parts of an open database. `now`: epoch milliseconds, by which leases run out. */
export interface SqliteParts {
  readonly kind: "memory" | "sqlite";
  readonly reader: Reader;
  readonly writer: Pick<Writer, "write"> & Partial<Pick<Writer, "watchRoom" | "watchOthers">>;
  readonly epoch: number;
  /** Name of the opening; absent: nobody else can see the store, or it is only read. */
  readonly holder?: string;
  readonly openingOf?: Database["openingOf"];
  /** Numbers of runs that nobody else gives; absent: nobody else gives any. */
  readonly numbers?: RunNumbers;
  readonly key: Uint8Array | null;
  readonly now: () => number;
  readonly condition: () => Condition;
  readonly close: () => Promise<void>;
  readonly lost?: Promise<Condition>;
  readonly announce?: (url: string) => void;
}

/** A store that cannot be lost. */
const NEVER: Promise<Condition> = new Promise(() => {});

const VACUUM_PAGES = 128; // given back at once: 1 MiB

export function sqliteDatabase(parts: SqliteParts): Database {
  const { kind, reader, writer, epoch, key, now, condition, close, openingOf, numbers } = parts;
  const { lost = NEVER, announce = () => {}, holder = null } = parts;
  const pragma = (name: string): number => Number(reader.get(`PRAGMA ${name}`)?.[name]);
  let lastRun = Number(
    reader.get("SELECT seq FROM sqlite_sequence WHERE name = 'run'")?.["seq"] ?? 0,
  );
  return {
    kind,
    dialect: dialectOf(holder === null ? `epoch >= ${epoch}` : IS_OPEN),
    epoch,
    holder,
    ...(openingOf && { openingOf }),
    isOrdered: true,
    cursorKey: String(reader.get("SELECT value FROM meta WHERE key = 'cursorKey'")?.["value"]),
    key,
    now,
    ...reader.asPort(),
    write: (ops, options) => writer.write(ops, options),
    nextRun() {
      if (numbers !== undefined) return numbers.next();
      lastRun += 1;
      return lastRun;
    },
    watch: (told) => writer.watchOthers?.(() => told("*")) ?? (() => {}),
    alone: (_name, work) => work(),
    get condition() {
      return condition();
    },
    lost,
    watchRoom: (told) => writer.watchRoom?.(told) ?? (() => {}),
    bytesInUse: async () => (pragma("page_count") - pragma("freelist_count")) * pragma("page_size"),
    async giveBack() {
      for (let left = pragma("freelist_count"); left > 0; ) {
        await writer.write([{ exec: `PRAGMA incremental_vacuum(${VACUUM_PAGES})` }]);
        const free = pragma("freelist_count");
        if (free >= left) return; // other writers are as fast: the next pass continues
        left = free;
      }
    },
    async backup(path) {
      refuseExisting(path);
      // Under a name of its own until it is whole, and nobody else's to read while it grows.
      const part = `${path}.part-${randomUUID()}`;
      try {
        writeFileSync(part, "", { mode: 0o600, flag: "wx" });
        reader.once("VACUUM INTO ?", [part]);
        flush(part); // SQLite leaves that to its user
        publish(part, path);
      } catch (error) {
        if (StoreError.isInstance(error) && error.code === "store_corrupt") throw error;
        throw toStoreError((error as Error).cause ?? error, `${path} cannot be written`);
      } finally {
        rmSync(part, { force: true });
      }
    },
    announce,
    close,
  };
}

function refuseExisting(path: string): void {
  if (existsSync(path)) throw pathExists(path);
}

function pathExists(path: string): StoreError {
  return new StoreError("path_exists", `${path} exists already; a backup never overwrites`);
}

/** Gives a whole file its name. Where another process has used the name meanwhile, that file stays. */
function publish(part: string, path: string): void {
  try {
    linkSync(part, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw pathExists(path);
    refuseExisting(path); // a file system without hard links: nothing there refuses to overwrite
    renameSync(part, path);
  }
}

/** What was written is on the disk when this returns. */
function flush(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Said by the file; the lock of the opening says more. */
const IS_OPEN = "EXISTS (SELECT 1 FROM opening WHERE opening.id = holder)";

function dialectOf(isHeld: string): Dialect {
  return {
    isHeld,
    newEpoch: {
      before: "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch'",
      value: "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'epoch')",
    },
    addToFeed: ADD_TO_FEED,
    lastOfFeed: "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'feed'), 0) AS pos",
    lastSeq: LAST_SEQ,
    lock: "SELECT ?", // transactions follow each other anyway
    joined: (column) => `CAST(string_agg(${column}, '') AS BLOB)`,
    member: (column, name) => `json_extract(${column}, '$.${name}')`,
    withMember: (column, name) => `json_set(${column}, '$.${name}', ?)`,
  };
}
