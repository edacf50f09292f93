/**
 * The journal port on SQLite.
 *   J1  Whatever a call has written is on disk when its promise resolves.
 *   J2  Only the owner of a run appends: epoch and last `seq` are compared and set in the transaction of the events.
 *   J3  An owner of an earlier opening of the store is gone, because only one process writes here.
 */

import { setImmediate } from "node:timers/promises";
import type {
  EncodedEvent,
  Journal,
  Json,
  RunHeader,
  StartRows,
  StoredEvent,
} from "@millrace/contracts";
import { canonicalJson } from "@millrace/contracts/kit";
import { StoreError } from "../errors.ts";
import { isInFeed } from "../runs/feed.ts";
import { digestOfText } from "../runs/graphs.ts";
import { creation, EPOCH, headerOf, refusedStart } from "../runs/run-header.ts";
import type { Reader } from "../sqlite/reader.ts";
import type { SqlRow, SqlValue } from "../sqlite/sqlite-port.ts";
import type { Op } from "../writer/unit.ts";
import { change, Refusal, type Writer } from "../writer/writer.ts";
import type { PrivateValues } from "./private-values.ts";
import { createSeals } from "./seal.ts";
import { sideRows } from "./side-rows.ts";

const PAGE = 512; // events of one page of `read`
const INLINE_BYTES = 65_536; // larger values lie in `blob`, out of the way of scans
const RELEASED = 0; // end of a lease that was given back
const MAX_NUMBERS = 10_000; // run numbers that are remembered

const NEXT_EPOCH = "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch'";

/** The journal of a store, which has more tables to write to. */
export interface StoreJournal extends Journal {
  /**
   * Creates the run, and in the same transaction `rows`: all of it or nothing. Throws `run_exists`, `key_used`,
   * `already_fired`, `signature_used`.
   */
  create(header: RunHeader, rows?: StartRows): Promise<{ epoch: number }>;
  /**
   * Creates a run whose id is new, and does not wait for it: what is appended to it meanwhile is stored with it or after it, or not at
   * all. `stored` resolves when the run is, and rejects as `create` does; its appends then reject with `lease_lost`.
   */
  begin(header: RunHeader): { readonly epoch: number; readonly stored: Promise<void> };
  /**
   * Calls `told` with the events appended to a run, after their commit and in order, until the returned function is called: the same bytes
   * that were stored, so that readers need not read them again.
   */
  follow(runId: string, told: (events: readonly EncodedEvent[]) => void): () => void;
}

/** Dependencies of the journal. `opened`: epoch of this opening. */
export interface JournalParts {
  readonly reader: Reader;
  readonly writer: Pick<Writer, "write"> & Partial<Pick<Writer, "watchRoom">>;
  readonly opened: number;
  readonly privates: PrivateValues;
  readonly now: () => number;
  /** Whether what models said is kept when a run has ended; default true. */
  readonly keepsContent?: (() => boolean) | undefined;
  /** Told the kinds of the events that the feed of all runs has got. */
  readonly publish?: (kinds: readonly string[]) => void;
}

export function createJournal(parts: JournalParts): StoreJournal {
  const { reader, writer, opened, privates, now, publish, keepsContent = () => true } = parts;
  const seals = createSeals(reader, keepsContent);
  const numbers = new Map<string, number>();
  const followers = new Map<string, Set<(events: readonly EncodedEvent[]) => void>>();
  const timed = new Set(reader.all("SELECT DISTINCT run FROM timer").map(({ run }) => Number(run)));
  const remember = (runId: string, no: number): number => {
    const [oldest = ""] = numbers.size < MAX_NUMBERS ? [] : numbers.keys();
    numbers.delete(oldest); // never one that was just begun, which the file may not have yet
    numbers.set(runId, no);
    return no;
  };
  let lastNo = Number(
    reader.get("SELECT seq FROM sqlite_sequence WHERE name = 'run'")?.["seq"] ?? 0,
  );
  const nextNo = (): number => {
    lastNo += 1;
    return lastNo;
  };
  const know = ({ runId, graph }: RunHeader, no: number): void => {
    seals.begin(remember(runId, no), graph);
  };
  const stored = async (header: RunHeader, no: number, rows?: StartRows): Promise<void> => {
    try {
      const ops = creation(header, { no, epoch: opened, rows, privates, now: now() });
      await writer.write(ops, { quiet: true });
    } catch (error) {
      throw refusedStart(error, header.runId);
    }
  };
  const numberOf = (runId: string): number => {
    const known = numbers.get(runId);
    if (known !== undefined) return known;
    const row = reader.get("SELECT no FROM run WHERE id = ?", [runId]);
    if (row === undefined) throw new StoreError("not_found", `there is no run ${runId}`);
    return remember(runId, Number(row["no"]));
  };

  return {
    async create(header, rows) {
      const no = nextNo();
      await stored(header, no, rows);
      know(header, no);
      return { epoch: opened };
    },

    begin(header) {
      const no = nextNo();
      know(header, no);
      return { epoch: opened, stored: stored(header, no) };
    },

    async append(runId, expectedSeq, events, { epoch, sync }) {
      const run = numberOf(runId);
      const last = events.at(-1)?.seq ?? expectedSeq;
      const isInOrder = events.every(({ seq }, index) => seq === expectedSeq + 1 + index);
      if (!isInOrder) throw lost(runId);
      const isEnd = events.at(-1)?.kind === "summary";
      if (!isEnd) seals.see(run, events);
      const sealing = isEnd ? seals.end(run, events) : [];
      const sealed = "then" in sealing ? await sealing : sealing; // without withholding it is written in this turn
      const ops: Op[] = [
        {
          sql: "UPDATE run SET last_seq = ? WHERE no = ? AND id = ? AND epoch = ? AND last_seq = ?",
          rows: [[last, run, runId, epoch, expectedSeq]],
          need: "lease_lost",
        },
        ...(events.length === 0 ? [] : [{ lines: { run, events } }]),
        ...sideRows(run, events, timed),
        ...sealed,
      ];
      try {
        await writer.write(ops, { sync, quiet: true });
      } catch (error) {
        const isLost = StoreError.isInstance(error) && error.code === "lease_lost";
        throw isLost || error instanceof Refusal ? lost(runId) : error;
      }
      for (const told of followers.get(runId) ?? []) told(events);
      publish?.(events.map(({ kind }) => kind).filter(isInFeed));
    },

    follow(runId, told) {
      const all = followers.get(runId) ?? new Set();
      followers.set(runId, all.add(told));
      return () => {
        all.delete(told);
        if (all.size === 0 && followers.get(runId) === all) followers.delete(runId);
      };
    },

    async *read(runId, after) {
      const row = reader.get("SELECT no, last_seq FROM run WHERE id = ?", [runId]);
      if (row === undefined) throw new StoreError("not_found", `there is no run ${runId}`);
      const part = { run: Number(row["no"]), after, end: Number(row["last_seq"]) };
      for (const page of pages(reader, part)) {
        yield page;
        if (page.length === PAGE) await setImmediate(); // a long log is no reason for others to wait
      }
    },

    async putValue(runId, name, value, { private: hidden = false, kept = false } = {}) {
      const run = numberOf(runId);
      const ref = digestOfText(canonicalJson(value)); // as the engine names its references
      if (hidden) await writer.write([privates.put(runId, name, value, { kept })]);
      else await writer.write(valueRows({ run, name, ref, value }));
      return ref;
    },

    async getValue(runId, ref) {
      const row = reader.get(
        "SELECT value, (SELECT body FROM blob WHERE digest = s.ref) AS body FROM step_value s WHERE run = ? AND ref = ? LIMIT 1",
        [numberOf(runId), ref],
      );
      return row === undefined ? undefined : parsedValue(row);
    },

    async load(runId, { private: hidden = true } = {}) {
      const row = reader.get("SELECT * FROM run WHERE id = ?", [runId]);
      if (row === undefined) return null;
      const run = Number(row["no"]);
      const events: StoredEvent[] = [];
      const end = row["pruned"] === 0 ? Number(row["last_seq"]) : 0; // a pruned log cannot be continued
      for (const page of pages(reader, { run, after: 0, end })) events.push(...page);
      return {
        ...headerOf(row, reader, hidden ? privates : null),
        events,
        steps: stepsOf(run),
        privateValues: hidden ? privates.all(run, runId) : {},
      };
    },

    async lease(runId, owner, ttlMs) {
      for (;;) {
        const row = reader.get("SELECT epoch, owner, lease_until FROM run WHERE id = ?", [runId]);
        if (row === undefined) throw new StoreError("not_found", `there is no run ${runId}`);
        const until = row["lease_until"] as number | null;
        const isOurs =
          Number(row["epoch"]) >= opened && row["owner"] === owner && until !== RELEASED;
        const isLive = Number(row["epoch"]) >= opened && (until === null || until > now());
        if (isLive && row["owner"] !== owner) return null;
        const where = "WHERE id = ? AND epoch = ? AND lease_until IS ?";
        const values: SqlValue[] = [owner, now() + ttlMs, runId, row["epoch"] as number, until];
        const take: Op = {
          sql: `UPDATE run SET owner = ?, lease_until = ?${isOurs ? "" : `, epoch = ${EPOCH}`} ${where} RETURNING epoch`,
          rows: [values],
          need: "lease_lost",
          get: true,
        };
        try {
          const results = await writer.write(
            isOurs ? [take] : [{ sql: NEXT_EPOCH, rows: [[]] }, take],
          );
          return { epoch: Number((results.at(-1) as SqlRow)["epoch"]) };
        } catch (error) {
          // another caller was faster: check again
          if (!StoreError.isInstance(error) || error.code !== "lease_lost") throw error;
        }
      }
    },

    async release(runId, epoch) {
      const run = numberOf(runId);
      const sql = "UPDATE run SET lease_until = ? WHERE no = ? AND epoch = ?";
      await change(writer, sql, [RELEASED, run, epoch]);
    },

    watchRoom: (told) => writer.watchRoom?.(told) ?? (() => {}),
  };

  function stepsOf(run: number): { [name: string]: Json } {
    const rows = reader.all(
      "SELECT key, value, (SELECT body FROM blob WHERE digest = s.ref) AS body FROM step_value s WHERE run = ?",
      [run],
    );
    return Object.fromEntries(rows.map((row) => [String(row["key"]), parsedValue(row)]));
  }
}

function lost(runId: string): StoreError {
  return new StoreError("lease_lost", `the run ${runId} has another owner`);
}

/**
 * Pages of the stored events, in order. Where retention has taken the beginning, what follows are its last two events, a
 * snapshot and the summary: a reader never sees a hole in between.
 */
function* pages(
  reader: Reader,
  { run, after, end }: { readonly run: number; readonly after: number; readonly end: number },
): Generator<readonly StoredEvent[], void> {
  const page = (at: number) => reader.all(NEXT_LINES, [run, at, end, PAGE]);
  for (let at = after; at < end; ) {
    const next = page(at);
    const isWhole = next[0]?.["seq"] === at + 1;
    const rows = isWhole ? next : page(Math.max(at, end - 2));
    if (rows.length === 0) return; // a run that was deleted in between
    at = Number(rows.at(-1)?.["seq"]);
    yield rows.map(({ seq, kind, line }) => ({
      seq: seq as number,
      kind: kind as string,
      line: line as Uint8Array,
    }));
  }
}

const NEXT_LINES =
  "SELECT seq, kind, line FROM journal WHERE run = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?";

interface KeptValue {
  readonly run: number;
  readonly name: string;
  readonly ref: string;
  readonly value: Json;
}

function valueRows({ run, name, ref, value }: KeptValue): Op[] {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  const isLarge = bytes > INLINE_BYTES;
  const row: Op = {
    sql: "INSERT OR REPLACE INTO step_value(run, key, ref, value) VALUES(?, ?, ?, ?)",
    rows: [[run, name, ref, isLarge ? null : text]],
  };
  if (!isLarge) return [row];
  return [
    {
      sql: "INSERT INTO blob(digest, bytes, media_type, body) VALUES(?, ?, 'application/json', ?) ON CONFLICT DO NOTHING",
      rows: [[ref, bytes, Buffer.from(text)]],
    },
    {
      sql: "INSERT INTO run_blob(run, digest) VALUES(?, ?) ON CONFLICT DO NOTHING",
      rows: [[run, ref]],
    },
    row,
  ];
}

function parsedValue({ value, body }: SqlRow): Json {
  return JSON.parse(
    value === null ? Buffer.from(body as Uint8Array).toString("utf8") : String(value),
  );
}
