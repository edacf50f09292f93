/**
 * The journal port over a database.
 *   J1  Whatever a call has written is stored when its promise resolves.
 *   J2  Only the owner of a run appends: epoch and last `seq` are compared in the transaction of the events.
 *   J3  The database knows whether an owner is gone: `isHeld` of its dialect, and `openingOf`.
 */

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
import { feedTopic, inFeed } from "../runs/feed.ts";
import { digestOfText } from "../runs/graphs.ts";
import { creation, headerOf, refusedStart } from "../runs/run-header.ts";
import { change } from "../sql/change.ts";
import { type Database, Lines, type Op, type SqlRow } from "../sql/port.ts";
import { Refusal } from "../sql/refusal.ts";
import { createFollowers, runTopic } from "./followers.ts";
import { pagesOf } from "./pages.ts";
import type { PrivateValues } from "./private-values.ts";
import { createSeals, type KeepsContent } from "./seal.ts";
import { addSideRows, type SideRows } from "./side-rows.ts";
import { parsedValue, valueRows } from "./step-values.ts";

const RELEASED = 0; // end of a lease that was given back
const MAX_NUMBERS = 10_000; // run numbers that are remembered

/** The journal of a store, which has more tables to write to. */
export interface StoreJournal extends Journal {
  /**
   * Creates the run, and in the same transaction `rows`: all of it or nothing. Throws `run_exists`, `key_used`,
   * `already_fired`, `signature_used`. `isFree`: nobody has the run yet, and any server of a shared store may take it.
   */
  create(
    header: RunHeader,
    rows?: StartRows,
    options?: { readonly isFree?: boolean },
  ): Promise<{ epoch: number }>;
  /**
   * Creates a run whose id is new, and does not wait for it: what is appended to it meanwhile is stored with it or after it, or not at
   * all. `stored` resolves when the run is, and rejects as `create` does; its appends then reject with `lease_lost`.
   */
  begin(header: RunHeader): { readonly epoch: number; readonly stored: Promise<void> };
  /**
   * Calls `told` with the events of a run after the position `after`, each once and in order, until the returned function is called.
   * What this process appends is told after its commit, with the bytes that were stored, so that readers need not read them again;
   * what other processes of a shared store append follows soon.
   */
  follow(runId: string, after: number, told: (events: readonly EncodedEvent[]) => void): () => void;
}

/** Dependencies of the journal. */
export interface JournalParts {
  readonly db: Database;
  readonly privates: PrivateValues;
  /** Whether what models said is kept when a run has ended; default true. */
  readonly keepsContent?: KeepsContent | undefined;
  /** Told the kinds of the events that the feed of all runs has got. */
  readonly publish?: (kinds: readonly string[]) => void;
}

/** The journal of the runs of a database: their starts, appends, reads and leases. Throws `StoreError`, such as `not_found`. */
export function createJournal(parts: JournalParts): StoreJournal {
  const { db, privates, publish, keepsContent = () => true } = parts;
  const { dialect } = db;
  const seals = createSeals(db, keepsContent);
  const followers = createFollowers(db);
  /** Of runs that have not ended. */
  const numbers = new Map<string, number>();
  /** The newest write of each run that is on its way, where transactions do not follow the order of their calls. */
  const tails = new Map<string, Promise<unknown>>();
  const side: SideRows = { dialect, untimed: new Set() };
  const remember = (runId: string, no: number): number => {
    const [oldest = ""] = numbers.size < MAX_NUMBERS ? [] : numbers.keys();
    side.untimed.delete(numbers.get(oldest) ?? -1); // it may end at another server without a notification
    numbers.delete(oldest); // never one that was just begun, which the file may not have yet
    numbers.set(runId, no);
    return no;
  };
  const know = ({ runId, graph }: RunHeader, no: number): void => {
    side.untimed.add(no);
    seals.begin(remember(runId, no), graph);
  };
  const stored = async (
    header: RunHeader,
    no: number,
    { rows, isFree = false }: { readonly rows?: StartRows | undefined; readonly isFree?: boolean },
  ): Promise<void> => {
    const { epoch, holder } = db;
    try {
      const ops = creation(header, { no, epoch, holder, isFree, rows, privates, now: db.now() });
      await db.write(ops, { quiet: true });
    } catch (error) {
      throw refusedStart(error, header.runId);
    }
  };
  const learnNumber = async (runId: string): Promise<number> => {
    const row = await db.get("SELECT no FROM run WHERE id = ?", [runId]);
    if (row === undefined) throw new StoreError("not_found", `there is no run ${runId}`);
    return remember(runId, Number(row["no"]));
  };
  /** At once where it is known, so that what is written in one turn is sent in one message. */
  const numberOf = (runId: string): number | Promise<number> =>
    numbers.get(runId) ?? learnNumber(runId);
  /** Writes of one run follow each other, at once where the database sees to it. */
  const inOrder = <T>(runId: string, work: () => Promise<T>, waits = !db.isOrdered): Promise<T> => {
    const before = tails.get(runId);
    if (before === undefined && !waits) return work();
    const done = before === undefined ? work() : before.then(work);
    const settled = done
      .catch(() => {})
      .then(() => {
        if (tails.get(runId) === settled) tails.delete(runId);
      });
    tails.set(runId, settled);
    return done;
  };
  const isEnd = ({ events }: Lines): boolean => events.at(-1)?.kind === "summary";
  /** No `async` function: what such a one keeps takes room in each append that waits. */
  const write = (lines: Lines, ops: readonly Op[], sync: boolean): Promise<void> => {
    const { runId, events } = lines;
    const fed = inFeed(events);
    const topics = fed.length === 0 ? [runTopic(runId)] : [runTopic(runId), feedTopic(fed)];
    return db.write(ops, { sync, quiet: true, topics }).then(
      () => {
        if (isEnd(lines)) numbers.delete(runId); // most often it is asked for no more
        followers.publish(runId, events);
        if (fed.length > 0) publish?.(fed.map(({ kind }) => kind));
      },
      (error) => {
        throw refusedAppend(error, runId);
      },
    );
  };
  /** Rejects with `lease_lost` where the events do not follow. */
  const appendLines = (lines: Lines, sync: boolean): Promise<void> => {
    const { run, runId, after, events } = lines;
    if (!events.every(({ seq }, at) => seq === after + 1 + at)) return Promise.reject(lost(runId));
    const ops: Op[] = [{ lines }];
    addSideRows(ops, lines, side);
    const fed = inFeed(events);
    if (fed.length > 0) {
      ops.push({ sql: dialect.addToFeed, rows: fed.map(({ seq }) => [run, seq]) });
    }
    if (!isEnd(lines)) {
      seals.see(run, events);
      return write(lines, ops, sync);
    }
    const sealed = seals.end(run, events); // without withholding they are written in this turn
    return "then" in sealed
      ? sealed.then((more) => write(lines, [...ops, ...more], sync))
      : write(lines, [...ops, ...sealed], sync);
  };
  const append: Journal["append"] = (runId, after, events, { epoch, sync }) => {
    const run = numbers.get(runId);
    if (run !== undefined)
      return appendLines(new Lines({ run, runId, epoch, after, events }), sync);
    return learnNumber(runId).then((no) =>
      appendLines(new Lines({ run: no, runId, epoch, after, events }), sync),
    );
  };

  return {
    async create(header, rows, options) {
      const next = db.nextRun();
      const no = typeof next === "number" ? next : await next;
      await stored(header, no, { rows, ...options });
      know(header, no);
      return { epoch: db.epoch };
    },

    begin(header) {
      const next = db.nextRun();
      const begun = (no: number): Promise<void> => {
        know(header, no);
        return stored(header, no, {});
      };
      const whole = (): Promise<void> =>
        typeof next === "number" ? begun(next) : next.then(begun);
      const waits = !db.isOrdered || typeof next !== "number";
      return { epoch: db.epoch, stored: inOrder(header.runId, whole, waits) };
    },

    append(runId, after, events, options) {
      const isNext = db.isOrdered && !tails.has(runId);
      return isNext
        ? append(runId, after, events, options)
        : inOrder(runId, () => append(runId, after, events, options));
    },

    follow: (runId, after, told) => followers.add(runId, after, told),

    async *read(runId, after) {
      const row = await db.get(`SELECT no, ${dialect.lastSeq} AS last FROM run WHERE id = ?`, [
        runId,
      ]);
      if (row === undefined) throw new StoreError("not_found", `there is no run ${runId}`);
      yield* pagesOf(db, { run: Number(row["no"]), after, end: Number(row["last"]) });
    },

    async putValue(runId, name, value, { private: hidden = false, kept = false } = {}) {
      const ref = digestOfText(canonicalJson(value)); // as the engine names its references
      await inOrder(runId, async () => {
        const no = numberOf(runId);
        const run = typeof no === "number" ? no : await no;
        if (hidden) await db.write([privates.put(runId, name, value, { kept })]);
        else await db.write(valueRows({ run, name, ref, value }));
      });
      return ref;
    },

    async getValue(runId, ref) {
      const row = await db.get(
        "SELECT value, (SELECT body FROM blob WHERE digest = s.ref) AS body FROM step_value s WHERE run = ? AND ref = ? LIMIT 1",
        [await numberOf(runId), ref],
      );
      return row === undefined ? undefined : parsedValue(row);
    },

    async load(runId, { private: hidden = true } = {}) {
      const row = await db.get(`SELECT *, ${dialect.lastSeq} AS last FROM run WHERE id = ?`, [
        runId,
      ]);
      if (row === undefined) return null;
      const run = Number(row["no"]);
      const events: StoredEvent[] = [];
      const end = row["pruned"] === 0 ? Number(row["last"]) : 0; // a pruned log cannot be continued
      for await (const page of pagesOf(db, { run, after: 0, end })) events.push(...page);
      return {
        ...(await headerOf(row, db, hidden ? privates : null)),
        events,
        steps: await stepsOf(run),
        privateValues: hidden ? await privates.all(run, runId) : {},
      };
    },

    async lease(runId, owner, ttlMs) {
      for (;;) {
        const row = await db.get(
          `SELECT *, CASE WHEN ${dialect.isHeld} THEN 1 ELSE 0 END AS held FROM run WHERE id = ?`,
          [runId],
        );
        if (row === undefined) throw new StoreError("not_found", `there is no run ${runId}`);
        const until = row["lease_until"] as number | null;
        const isHeld = row["held"] === 1 && until !== RELEASED;
        const isOurs = isHeld && row["owner"] === owner;
        if (!isOurs && isHeld && isLive(row)) return null;
        try {
          const results = await db.write(taking(row, { runId, owner, ttlMs, isOurs }));
          if (!isOurs) {
            const no = remember(runId, Number(row["no"]));
            if ((results.at(-1) as SqlRow)["is_timed"] === 1)
              side.untimed.delete(no); // its earlier owner has set timers
            else side.untimed.add(no);
            if (db.kind !== "memory") seals.forget(no); // its earlier owner may have called models
          }
          return { epoch: Number((results.at(isOurs ? -1 : -2) as SqlRow)["epoch"]) };
        } catch (error) {
          // another caller was faster: check again
          if (!StoreError.isInstance(error) || error.code !== "lease_lost") throw error;
        }
      }
    },

    async release(runId, epoch) {
      const run = await numberOf(runId);
      const sql = "UPDATE run SET lease_until = ? WHERE no = ? AND epoch = ?";
      await change(db, { sql, values: [RELEASED, run, epoch] });
    },

    watchRoom: (told) => db.watchRoom(told),
  };

  /** Whether whoever holds a run still has it. Where the system says that the process is there, no lease of it runs out. */
  function isLive(row: SqlRow): boolean {
    const holder = row["holder"];
    if (db.openingOf !== undefined && typeof holder === "string" && holder !== db.holder) {
      return db.openingOf(holder) !== null;
    }
    const until = row["lease_until"] as number | null;
    return until === null || until > db.now();
  }

  /** Takes a run that is still as it was read, or renews its lease. */
  function taking(row: SqlRow, { runId, owner, ttlMs, isOurs }: Taking): Op[] {
    const { before, value } = dialect.newEpoch;
    const now = db.now();
    const mark = db.holder === null ? "" : ", holder = ?, bell_at = ?";
    const taken = isOurs ? "" : `, epoch = ${value}${mark}`;
    const take: Op = {
      sql: `UPDATE run SET owner = ?, lease_until = ?${taken} WHERE id = ? AND epoch = ? AND lease_until IS NOT DISTINCT FROM ? RETURNING epoch`,
      rows: [
        [
          ...[owner, now + ttlMs],
          ...(isOurs || db.holder === null ? [] : [db.holder, now]),
          ...[runId, row["epoch"] ?? null, row["lease_until"] ?? null],
        ],
      ],
      need: "lease_lost",
      get: true,
    };
    if (isOurs) return [take];
    // a statement of its own, which sees what the last owner wrote until the run was taken
    const timers: Op = {
      sql: "SELECT CASE WHEN EXISTS (SELECT 1 FROM timer t JOIN run r ON r.no = t.run WHERE r.id = ?) THEN 1 ELSE 0 END AS is_timed",
      rows: [[runId]],
      get: true,
    };
    return [...(before === undefined ? [] : [{ sql: before, rows: [[]] }]), take, timers];
  }

  async function stepsOf(run: number): Promise<{ [name: string]: Json }> {
    const rows = await db.all(
      "SELECT key, value, (SELECT body FROM blob WHERE digest = s.ref) AS body FROM step_value s WHERE run = ?",
      [run],
    );
    return Object.fromEntries(rows.map((row) => [String(row["key"]), parsedValue(row)]));
  }
}

interface Taking {
  readonly runId: string;
  readonly owner: string;
  readonly ttlMs: number;
  /** It is a renewal. */
  readonly isOurs: boolean;
}

function refusedAppend(error: unknown, runId: string): unknown {
  const isLost = StoreError.isInstance(error) && error.code === "lease_lost";
  return isLost || error instanceof Refusal ? lost(runId) : error;
}

function lost(runId: string): StoreError {
  return new StoreError("lease_lost", `the run ${runId} has another owner`);
}
