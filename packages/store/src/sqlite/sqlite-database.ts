/** SQLite behind the port of a store: a file that one process writes, or memory. */
import { chmodSync, existsSync } from "node:fs";
import { StoreError } from "../errors.ts";
import type { Condition, Database, Dialect } from "../sql/port.ts";
import type { Writer } from "../writer/writer.ts";
import type { Reader } from "./reader.ts";

/** What an opening has made. `now`: epoch milliseconds, by which leases run out. */
export interface SqliteParts {
  readonly kind: "memory" | "sqlite";
  readonly reader: Reader;
  readonly writer: Pick<Writer, "write"> & Partial<Pick<Writer, "watchRoom">>;
  readonly epoch: number;
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
  const { kind, reader, writer, epoch, key, now, condition, close } = parts;
  const { lost = NEVER, announce = () => {} } = parts;
  const pragma = (name: string): number => Number(reader.get(`PRAGMA ${name}`)?.[name]);
  let lastRun = Number(
    reader.get("SELECT seq FROM sqlite_sequence WHERE name = 'run'")?.["seq"] ?? 0,
  );
  return {
    kind,
    dialect: dialectOf(epoch),
    epoch,
    holder: null,
    isOrdered: true,
    cursorKey: String(reader.get("SELECT value FROM meta WHERE key = 'cursorKey'")?.["value"]),
    key,
    now,
    get: async (sql, values) => reader.get(sql, values),
    all: async (sql, values = [], { once = false } = {}) =>
      once ? reader.once(sql, values) : reader.all(sql, values),
    write: (ops, options) => writer.write(ops, options),
    nextRun() {
      lastRun += 1;
      return lastRun;
    },
    watch: () => () => {}, // no other process writes
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
      if (existsSync(path)) {
        throw new StoreError("path_exists", `${path} exists already; a backup never overwrites`);
      }
      reader.once("VACUUM INTO ?", [path]);
      chmodSync(path, 0o600);
    },
    announce,
    close,
  };
}

/** An owner of an earlier opening is gone, because only one process writes. */
function dialectOf(epoch: number): Dialect {
  return {
    isHeld: `epoch >= ${epoch}`,
    newEpoch: {
      before: "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch'",
      value: "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'epoch')",
    },
    addToFeed: "INSERT INTO feed(run, seq) VALUES(?, ?)",
    lastOfFeed: "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'feed'), 0) AS pos",
    lock: "SELECT ?", // transactions follow each other anyway
    member: (column, name) => `json_extract(${column}, '$.${name}')`,
    withMember: (column, name) => `json_set(${column}, '$.${name}', ?)`,
  };
}
