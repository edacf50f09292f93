/**
 * Schedules and their fires.
 *   S1  A fire time fires at most once; a time before the last recorded one never fires.
 *   S2  A fire time that waits has a row of its own, so that it waits through restarts too; only those of a schedule that is
 *       enabled wait.
 */
import type { Json } from "@millrace/contracts";
import { StoreError } from "../errors.ts";
import { attempt } from "../sql/change.ts";
import type { Database, Op, SqlRow } from "../sql/port.ts";

/** A schedule as it is kept; times are epoch milliseconds. `body` is whatever its owner needs to know. */
export interface ScheduleRow {
  readonly id: string;
  readonly body: Json;
  readonly enabled: boolean;
  /** Null: it never fires again. */
  readonly nextAt: number | null;
  readonly lastFire: number | null;
  readonly lastError: string | null;
}

/** Outcome of a fire time. */
export type FireOutcome = "started" | "skipped" | "queued" | "missed" | "error";

/** One fire time. `nextAt`: when the schedule is due again. */
export interface Fire {
  readonly fireTime: number;
  readonly outcome: FireOutcome;
  readonly nextAt: number | null;
  readonly runId?: string;
  readonly error?: string;
}

/** A fire time that waits for its run. */
export interface WaitingFire {
  readonly scheduleId: string;
  readonly fireTime: number;
}

/** Schedules and their fires; times in epoch milliseconds. Writes reject with `StoreError`, as `store_full`. */
export interface Schedules {
  /** All, by id. */
  list(): Promise<readonly ScheduleRow[]>;
  get(id: string): Promise<ScheduleRow | null>;
  /** The enabled ones with `nextAt` at or before `time`, the longest due first. */
  due(time: number): Promise<readonly ScheduleRow[]>;
  /** When the next enabled one is due; null: none ever is. */
  nextDue(): Promise<number | null>;
  /** Creates or changes a schedule; its fires stay. Waiting fires are dropped when it is disabled. */
  put(schedule: Pick<ScheduleRow, "id" | "body" | "enabled" | "nextAt">): Promise<void>;
  /** Drops what waits, too. False: there is none. */
  delete(id: string): Promise<boolean>;
  /** Fire times that were recorded as `queued` and have no run, in the order of their time. */
  waiting(): Promise<readonly WaitingFire[]>;
  /** Ends the waiting of a fire time without a run. False: it did not wait. */
  drop(
    waiting: WaitingFire,
    reason: { readonly outcome: FireOutcome; readonly error?: string },
  ): Promise<boolean>;
  /** A run of the schedule that has not ended; null: there is none. */
  liveRun(id: string): Promise<string | null>;
  /**
   * Records a fire time and moves the schedule on, in one transaction. False: this time, or a later one, has fired already,
   * and nothing was written. Throws `not_found`.
   */
  fire(id: string, fire: Fire): Promise<boolean>;
  /** Fires, newest first. */
  fires(
    id: string,
    limit: number,
  ): Promise<
    readonly {
      readonly fireTime: number;
      readonly outcome: FireOutcome;
      readonly runId: string | null;
    }[]
  >;
}

/** Statements that record a fire time and move the schedule on; refused with `already_fired`. */
export function fireRows(id: string, fire: Fire): Op[] {
  const { fireTime, outcome, nextAt, runId = null, error = null } = fire;
  return [
    {
      sql:
        "UPDATE schedule SET last_fire = ?, next_at = ?, last_error = ? " +
        "WHERE id = ? AND (last_fire IS NULL OR last_fire < ?)",
      rows: [[fireTime, nextAt, error, id, fireTime]],
      need: "already_fired",
    },
    {
      sql: "INSERT INTO schedule_fire(schedule, fire_time, run, outcome) VALUES(?, ?, ?, ?) ON CONFLICT DO NOTHING",
      rows: [[id, fireTime, runId, outcome]],
      need: "already_fired",
    },
  ];
}

/** Statements that let a waiting fire time have its run; refused with `already_fired`. */
export function waitingRows({ scheduleId, fireTime }: WaitingFire, runId: string): Op[] {
  return [
    {
      sql:
        "UPDATE schedule_fire SET outcome = 'started', run = ? " +
        "WHERE schedule = ? AND fire_time = ? AND outcome = 'queued' AND run IS NULL",
      rows: [[runId, scheduleId, fireTime]],
      need: "already_fired",
    },
    { sql: "UPDATE schedule SET last_error = NULL WHERE id = ?", rows: [[scheduleId]] },
  ];
}

const DROP_ALL =
  "UPDATE schedule_fire SET outcome = 'skipped' WHERE schedule = ? AND outcome = 'queued' AND run IS NULL";

/** Statements that delete a schedule and what waits of it. */
export function scheduleDeletion(id: string): Op[] {
  return [
    { sql: "DELETE FROM schedule WHERE id = ?", rows: [[id]] },
    { sql: DROP_ALL, rows: [[id]] },
  ];
}

/** Topic of changed schedules, for other processes. */
const CHANGED = { topics: ["schedules"] } as const;

export function createSchedules(db: Database): Schedules {
  const one = async (id: string): Promise<ScheduleRow | null> => {
    const row = await db.get("SELECT * FROM schedule WHERE id = ?", [id]);
    return row === undefined ? null : scheduleOf(row);
  };
  return {
    list: async () => (await db.all("SELECT * FROM schedule ORDER BY id")).map(scheduleOf),
    get: one,
    async due(time) {
      const sql = "SELECT * FROM schedule WHERE enabled = 1 AND next_at <= ? ORDER BY next_at, id";
      return (await db.all(sql, [time])).map(scheduleOf);
    },
    async nextDue() {
      const row = await db.get("SELECT min(next_at) AS due FROM schedule WHERE enabled = 1");
      return (row?.["due"] ?? null) as number | null;
    },
    async put({ id, body, enabled, nextAt }) {
      const ops = [
        {
          sql:
            "INSERT INTO schedule(id, body, enabled, next_at) VALUES(?, ?, ?, ?) ON CONFLICT(id) DO UPDATE " +
            "SET body = excluded.body, enabled = excluded.enabled, next_at = excluded.next_at",
          rows: [[id, JSON.stringify(body), enabled ? 1 : 0, nextAt]],
        },
        ...(enabled ? [] : [{ sql: DROP_ALL, rows: [[id]] }]),
      ];
      await db.write(ops, CHANGED);
    },
    async delete(id) {
      const [deleted] = await db.write(scheduleDeletion(id), CHANGED);
      return deleted === 1;
    },
    async waiting() {
      const rows = await db.all(
        "SELECT schedule, fire_time FROM schedule_fire WHERE outcome = 'queued' AND run IS NULL ORDER BY fire_time, schedule",
      );
      return rows.map((row) => ({
        scheduleId: String(row["schedule"]),
        fireTime: Number(row["fire_time"]),
      }));
    },
    async drop({ scheduleId, fireTime }, { outcome, error }) {
      const [dropped] = await db.write([
        {
          sql:
            "UPDATE schedule_fire SET outcome = ? " +
            "WHERE schedule = ? AND fire_time = ? AND outcome = 'queued' AND run IS NULL",
          rows: [[outcome, scheduleId, fireTime]],
        },
        {
          sql: "UPDATE schedule SET last_error = ? WHERE id = ?",
          rows: error === undefined ? [] : [[error, scheduleId]],
        },
      ]);
      return dropped === 1;
    },
    async liveRun(id) {
      const scheduleId = db.dialect.member("source", "scheduleId");
      const row = await db.get(
        `SELECT id FROM run WHERE ended_at IS NULL AND ${scheduleId} = ? LIMIT 1`,
        [id],
      );
      return row === undefined ? null : String(row["id"]);
    },
    async fire(id, fire) {
      if ((await one(id)) === null) throw new StoreError("not_found", `there is no schedule ${id}`);
      return attempt(db, fireRows(id, fire), { code: "already_fired" });
    },
    async fires(id, limit) {
      const rows = await db.all(
        "SELECT * FROM schedule_fire WHERE schedule = ? ORDER BY fire_time DESC LIMIT ?",
        [id, limit],
      );
      return rows.map((row) => ({
        fireTime: Number(row["fire_time"]),
        outcome: row["outcome"] as FireOutcome,
        runId: row["run"] as string | null,
      }));
    },
  };
}

function scheduleOf(row: SqlRow): ScheduleRow {
  return {
    id: String(row["id"]),
    body: JSON.parse(String(row["body"])),
    enabled: row["enabled"] === 1,
    nextAt: row["next_at"] as number | null,
    lastFire: row["last_fire"] as number | null,
    lastError: row["last_error"] as string | null,
  };
}
