/**
 * Deletes old rows. One pass works in transactions so small that other writers hardly wait; a live run,
 * a template and a schedule are never too old.
 */
import type { Settings } from "@millrace/contracts";
import { checkOptions } from "@millrace/contracts/options";
import type { Database, Op, OpResult, SqlReader, SqlValue, SqlWriter } from "../sql/port.ts";
import { deletion } from "./deletion.ts";
import { pruneRun, type Slices } from "./prune.ts";

/** Limits of one pass; the names are those of the settings. */
export type RetentionLimits = Settings["retention"];

/** Result of one pass. `pruned`: runs that lost their log; `deleted`: runs that are gone; then rows. */
export interface RetentionReport {
  readonly pruned: number;
  readonly deleted: number;
  readonly feed: number;
  readonly fires: number;
  readonly requests: number;
  readonly ms: number;
}

/**
 * Logs of ended runs: 30 days, the newest 10,000 runs, 5 GiB of the file in use, whichever is reached first. Rows of runs with
 * their summaries: 365 days. Feed: 7 days. Fires of schedules: 90 days.
 */
export const RETENTION: RetentionLimits = {
  journalDays: 30,
  journalRuns: 10_000,
  journalBytes: 5_368_709_120,
  runDays: 365,
  feedDays: 7,
  fireDays: 90,
};

const DAY_MS = 86_400_000;
const FEED_ROWS = 100_000; // a reader that was away longer reads the runs instead
const SLICE_ROWS = 500;
const SLICE_MS = 20; // a slice that takes longer makes the next one smaller

/** Creates `Store.retain`. It rejects like every write; finished transactions stay. */
export function createRetention(
  db: Database,
): (limits?: Partial<RetentionLimits>) => Promise<RetentionReport> {
  let pass: Promise<RetentionReport> | undefined;
  return async (limits = {}) => {
    checkOptions("retain", limits, RETENTION); // a limit that is passed over would delete what it keeps
    pass ??= retained(db, { ...RETENTION, ...limits }).finally(() => {
      pass = undefined;
    });
    return pass;
  };
}

/** Of several processes that have the database one makes the pass; the others report nothing. */
async function retained(db: Database, limits: RetentionLimits): Promise<RetentionReport> {
  const done = await db.alone("retention", () => retainOnce(db, limits));
  return done ?? { pruned: 0, deleted: 0, feed: 0, fires: 0, requests: 0, ms: 0 };
}

async function retainOnce(db: Database, limits: RetentionLimits): Promise<RetentionReport> {
  const time = db.now();
  const begun = performance.now();
  const slices = createSlices(db);
  const before = (days: number): number => time - days * DAY_MS;
  const pruned = await pruneOld(db, slices, limits, before(limits.journalDays));
  const deleted = await deleteRuns(db, slices, before(limits.runDays));
  const feed = await trimFeed(db, slices, before(limits.feedDays));
  const rows = (sql: string, values: readonly SqlValue[]) => deleteRows(slices, sql, values);
  const fires = await rows(
    "DELETE FROM schedule_fire WHERE (schedule, fire_time) IN " +
      "(SELECT schedule, fire_time FROM schedule_fire WHERE fire_time < ? LIMIT ?)",
    [before(limits.fireDays)],
  );
  const requests =
    (await rows(
      "DELETE FROM idempotency WHERE (scope, key) IN (SELECT scope, key FROM idempotency WHERE expires_at <= ? LIMIT ?)",
      [time],
    )) +
    (await rows(
      "DELETE FROM webhook_seen WHERE hash IN (SELECT hash FROM webhook_seen WHERE expires_at <= ? LIMIT ?)",
      [time],
    ));
  await db.giveBack();
  return { pruned, deleted, feed, fires, requests, ms: Math.round(performance.now() - begun) };
}

function createSlices(writer: SqlWriter): Slices {
  let rows = SLICE_ROWS;
  return {
    get rows() {
      return rows;
    },
    async write(ops: readonly Op[]): Promise<readonly OpResult[]> {
      const begun = performance.now();
      const results = await writer.write(ops);
      const isSlow = performance.now() - begun > SLICE_MS;
      rows = isSlow ? Math.max(1, rows >> 1) : Math.min(SLICE_ROWS, rows * 2);
      return results;
    },
  };
}

const OLDEST =
  "SELECT no, ended_at FROM run WHERE ended_at IS NOT NULL AND pruned <> 1 ORDER BY ended_at LIMIT 1";
const FIRST_KEPT =
  "SELECT ended_at FROM run WHERE ended_at IS NOT NULL AND pruned <> 1 ORDER BY ended_at DESC LIMIT 1 OFFSET ?";

/** Logs: the longest ended first. */
async function pruneOld(
  db: Database,
  slices: Slices,
  { journalRuns, journalBytes }: RetentionLimits,
  before: number,
): Promise<number> {
  const newest = await db.get(FIRST_KEPT, [journalRuns]);
  const surplus = newest?.["ended_at"] ?? Number.NEGATIVE_INFINITY;
  for (let pruned = 0; ; pruned += 1) {
    const oldest = await db.get(OLDEST);
    if (oldest === undefined) return pruned;
    const endedAt = Number(oldest["ended_at"]);
    const isOld = endedAt < before || endedAt <= Number(surplus);
    if (!isOld && (await db.bytesInUse()) <= journalBytes) return pruned;
    await pruneRun(db, Number(oldest["no"]), slices);
  }
}

/** Rows of runs that have lost their logs. */
async function deleteRuns(reader: Database, slices: Slices, before: number): Promise<number> {
  const sql = "SELECT no FROM run WHERE pruned = 1 AND ended_at < ? ORDER BY ended_at LIMIT ?";
  for (let deleted = 0; ; ) {
    const most = Math.ceil(slices.rows / 10); // a run has rows in several tables
    const numbers = (await reader.all(sql, [before, most])).map(({ no }) => Number(no));
    if (numbers.length === 0) return deleted;
    await slices.write(await deletion(reader, numbers));
    deleted += numbers.length;
  }
}

/** Positions of the feed rise with time, so it is shortened at its beginning. */
async function trimFeed(reader: SqlReader, slices: Slices, before: number): Promise<number> {
  const surplus = await reader.get("SELECT pos FROM feed ORDER BY pos DESC LIMIT 1 OFFSET ?", [
    FEED_ROWS,
  ]);
  const last = Number(surplus?.["pos"] ?? 0);
  for (let trimmed = 0; ; ) {
    const rows = await reader.all(
      "SELECT f.pos, j.ts FROM feed f LEFT JOIN journal j ON j.run = f.run AND j.seq = f.seq ORDER BY f.pos LIMIT ?",
      [slices.rows],
    );
    const kept = rows.findIndex(({ pos, ts }) => Number(pos) > last && Number(ts ?? 0) >= before);
    const gone = rows[(kept < 0 ? rows.length : kept) - 1];
    if (gone === undefined) return trimmed;
    const [changes] = await slices.write([
      { sql: "DELETE FROM feed WHERE pos <= ?", rows: [[gone["pos"] ?? null]] },
    ]);
    trimmed += Number(changes);
    if (kept >= 0) return trimmed;
  }
}

/** Deletes slice by slice; the last value of the statement is how many rows. */
async function deleteRows(
  slices: Slices,
  sql: string,
  values: readonly SqlValue[],
): Promise<number> {
  for (let total = 0; ; ) {
    const most = slices.rows;
    const [changes] = await slices.write([{ sql, rows: [[...values, most]] }]);
    total += Number(changes);
    if (Number(changes) < most) return total;
  }
}
