/** Opens the database under a store: tables, key, session, connections. */
import { randomUUID } from "node:crypto";
import { StoreError } from "@millrace/store";
import { type Condition, type Database, RunNumbers, type SqlReader } from "@millrace/store/sql";
import { addressOf } from "./connect/address.ts";
import { toStoreError } from "./connect/faults.ts";
import { Link } from "./connect/link.ts";
import { Links } from "./connect/links.ts";
import { Presence } from "./connect/presence.ts";
import { DIALECT } from "./dialect.ts";
import type { CallParts } from "./dispatch/options.ts";
import { checkMoved } from "./move/mark.ts";
import { checkExecutor } from "./schema/check-executor.ts";
import { migrate } from "./schema/migrate.ts";
import { channelOf, STALE_MS } from "./schema/names.ts";
import { checkKey } from "./schema/store-key.ts";
import { Session } from "./session.ts";
import { createReader } from "./sql/reader.ts";
import { composed } from "./sql/statements.ts";
import { createWriter } from "./sql/writer.ts";

/** Options of `openPostgresDatabase`. */
export interface PostgresDatabaseOptions {
  /**
   * `postgres://user:password@host:port/database`, with `sslmode` `disable`, `require`, `verify-ca` or `verify-full`, `sslrootcert`,
   * and `search_path` for the schema. It is never shown.
   */
  readonly url: string;
  /** 32 bytes, the same for all servers of the store: see `parseStoreKey`. */
  readonly key: Uint8Array;
  /** The schema of the tables, made when there is none: small letters, digits, underscores. Default: of the URL, else "millrace". */
  readonly schema?: string;
  /** Connections at most, besides the one that lasts; at least 2. Default 10. */
  readonly connections?: number;
  /** Name of the dispatcher, the same for all servers of the store. Absent: this is no server. */
  readonly executor?: string;
  /** How long a write that was begun waits for a database that is away, in milliseconds. Default 30 000. */
  readonly patienceMs?: number;
  /** Epoch milliseconds, by which leases run out. Default: the clock of the database. */
  readonly now?: () => number;
}

const CONNECTIONS = 10;
const PATIENCE_MS = 30_000;
const RUN_BLOCK = 64; // the step of the sequence

/** A database that is away comes back. */
const NEVER: Promise<Condition> = new Promise(() => {});

/**
 * Opens the database. Throws `StoreError`: `store_too_new`, `store_corrupt` (the schema is that of another program), `store_wrong_key`,
 * `store_locked` (servers with another executor are at work), `store_unavailable`; `TypeError` for an address or a key that is none.
 */
export async function openPostgresDatabase(options: PostgresDatabaseOptions): Promise<Database> {
  return (await openParts(options)).database;
}

/** The database, and what a dispatcher has of it. */
export interface OpenedParts {
  readonly database: Database;
  readonly calls: CallParts;
}

/** The same as `openPostgresDatabase`. */
export async function openParts({
  url,
  key,
  schema: wanted,
  connections = CONNECTIONS,
  patienceMs = PATIENCE_MS,
  executor,
  now,
}: PostgresDatabaseOptions): Promise<OpenedParts> {
  const { config, schema, place } = addressOf(url, wanted);
  const connect = (): Promise<Link> => new Link(config).openToWrite();
  const { epoch, cursorKey } = await prepare();
  const holder = randomUUID();
  /** A connection whose calls end before others take this server for dead. */
  const connectShort = (): Promise<Link> =>
    new Link({ ...config, query_timeout: STALE_MS - 1_000 }).openToWrite();
  const presence: Presence = new Presence(connect, () => {
    for (const links of [writing, reading]) links.cut();
  });
  const failed = (error: unknown): void =>
    presence.leave(toStoreError(error, `${place} cannot be reached`).message);
  const session = new Session({
    id: holder,
    channel: channelOf(schema),
    connect: connectShort,
    silent: failed,
  });
  try {
    await session.open();
  } catch (error) {
    throw toStoreError(error, `${place} cannot be reached`);
  }
  const writers = Math.max(1, Math.ceil(connections / 2));
  const writing = new Links({ connect, max: writers, failed });
  const reading = new Links({ connect, max: Math.max(1, connections - writers), failed });
  const reader = createReader(reading, presence);
  const writer = createWriter({
    links: writing,
    presence,
    max: writers,
    patienceMs,
    told: (topics) => session.tell(topics),
  });
  const numbers = new RunNumbers(async () => {
    const row = await reader.get("SELECT nextval('run_no') AS first");
    return { first: Number(row?.["first"]), count: RUN_BLOCK };
  });
  let closed: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await Promise.all([writing.close(), reading.close(), presence.close()]);
    await session.close();
  };
  const database: Database = {
    kind: "postgres",
    dialect: DIALECT,
    epoch,
    holder,
    isOrdered: false,
    cursorKey,
    key,
    ...reader,
    ...writer,
    nextRun: () => numbers.next(),
    now: now ?? (() => session.now()),
    watch: (told) => session.watch(told),
    alone: (name, work) => session.alone(name, work),
    get condition() {
      return presence.condition;
    },
    lost: NEVER,
    watchRoom: (told) => presence.watch(told),
    bytesInUse: () => bytesInUse(reader),
    giveBack: async () => {}, // PostgreSQL cleans up by itself
    async backup() {
      const text = "a store in PostgreSQL is copied by pg_dump, or by what copies the whole server";
      throw new StoreError("store_unavailable", text);
    },
    announce: (address) => session.announce(address),
    close() {
      closed ??= end();
      return closed;
    },
  };
  const calls: CallParts = {
    connect: connectShort,
    holder,
    hears: () => session.isOpen,
    tell: (topics) => session.tell(topics),
    watch: (told) => session.watch(told),
  };
  if (executor !== undefined) {
    try {
      await checkExecutor(database, { executor, holder });
    } catch (error) {
      await database.close();
      throw error;
    }
  }
  return { database, calls };

  /** Tables and key, and the number of this opening. */
  async function prepare(): Promise<{ epoch: number; cursorKey: string }> {
    let link: Link | undefined;
    try {
      link = await new Link({ ...config, query_timeout: 0 }).openToWrite(); // a migration takes its time
      await migrate(link, { schema, place });
      await checkKey(link, key);
      await checkMoved(link, place);
      const { rows } = await link.send(
        composed(
          "SELECT nextval('epoch') AS epoch, (SELECT value FROM meta WHERE key = 'cursorKey') AS key",
        ),
      );
      return { epoch: Number(rows[0]?.["epoch"]), cursorKey: String(rows[0]?.["key"]) };
    } catch (error) {
      if (error instanceof TypeError) throw error;
      throw toStoreError(error, `${place} cannot be reached`);
    } finally {
      await link?.close();
    }
  }
}

const SMALL_BYTES = 16_777_216; // a table that is scanned in no time
const SAMPLE_PERCENT = 1;

/**
 * Bytes of the rows that live. The size of the table is no answer: PostgreSQL keeps the room of deleted rows for later ones, so that
 * retention would never come to an end. Large tables are estimated.
 */
async function bytesInUse(reader: SqlReader): Promise<number> {
  let bytes = 0;
  for (const table of ["journal", "blob"]) {
    const size = await reader.get("SELECT pg_table_size(?::regclass) AS bytes", [table]);
    const isSmall = Number(size?.["bytes"]) < SMALL_BYTES;
    const sql = isSmall
      ? `SELECT coalesce(sum(pg_column_size(t.*)), 0) AS bytes FROM ${table} t`
      : `SELECT coalesce((SELECT avg(pg_column_size(t.*)) FROM ${table} t TABLESAMPLE SYSTEM (${SAMPLE_PERCENT})), 0) *
          (SELECT n_live_tup FROM pg_stat_user_tables WHERE relid = '${table}'::regclass) AS bytes`;
    bytes += Number((await reader.get(sql))?.["bytes"]);
  }
  return bytes;
}
