/**
 * When runs are to be driven, as a hint beside the dispatcher: a ring that was lost is made up for.
 *   B1  A run that has not ended and is to be driven has a bell; one that waits for people without a deadline has none.
 *   B2  Who takes a run sets its bell: should it die, the run is found. A bell of a run that a living server drives is never late, however old it is.
 */
import type { Database } from "../sql/port.ts";

/** A run that is to be driven and is not. */
export interface LateRun {
  readonly runId: string;
  /** Whether a server has begun to drive it, and neither left it nor is alive. */
  readonly isOrphan: boolean;
}

/** The bells of the runs of a store that servers share. */
export interface Bells {
  /**
   * When a run that was left here is to be driven, epoch milliseconds; null: when somebody asks. A run with a request that has no answer
   * keeps its bell, and so does one that another server has taken.
   */
  set(runId: string, at: number | null): Promise<void>;
  /** Ends the lease of a run that was lost here without its end, so that it is driven before the lease runs out. */
  giveBack(runId: string): Promise<void>;
  /**
   * Runs whose bell is late by more than so many milliseconds and that no living server drives, at most `maxOrphans` orphans among them.
   * Each is named to one caller, and again when it is late once more.
   */
  takeLate(lateMs: number, options: { readonly maxOrphans: number }): Promise<readonly LateRun[]>;
  /** How many runs have not begun. */
  waiting(): Promise<number>;
}

const MAX_LATE = 1_000; // of one look: what a dispatcher that comes back can take at once

/** Bells as rows of `run`: when somebody has to look at a run again. `db` is open; what it throws passes through. */
export function createBells(db: Database): Bells {
  return {
    async set(runId, at) {
      const isLeft = "id = ? AND holder = ? AND lease_until = 0";
      await db.write([
        // waits for a request that is about to be stored, which the look of a single statement would miss
        { sql: `UPDATE run SET bell_at = bell_at WHERE ${isLeft}`, rows: [[runId, db.holder]] },
        {
          sql:
            `UPDATE run SET bell_at = ? WHERE ${isLeft} ` +
            "AND NOT EXISTS (SELECT 1 FROM inbox i WHERE i.run = run.no AND i.answer IS NULL)",
          rows: [[at, runId, db.holder]],
        },
      ]);
    },

    async giveBack(runId) {
      const sql = "UPDATE run SET lease_until = 0 WHERE id = ? AND holder = ? AND ended_at IS NULL";
      await db.write([{ sql, rows: [[runId, db.holder]] }]);
    },

    async takeLate(lateMs, { maxOrphans }) {
      const now = db.now();
      const isLeft = "(holder IS NULL OR lease_until = 0)";
      const rows = await db.all(
        `SELECT id, bell_at, CASE WHEN ${isLeft} THEN 0 ELSE 1 END AS orphan FROM run ` +
          `WHERE ended_at IS NULL AND bell_at < ? AND (${isLeft} OR (? > 0 AND NOT ${db.dialect.isHeld})) ` +
          "ORDER BY bell_at LIMIT ?",
        [now - lateMs, maxOrphans, MAX_LATE],
      );
      let left = maxOrphans;
      const mine = rows.filter(({ orphan }) => {
        if (orphan === 1) left -= 1;
        return orphan === 0 || left >= 0;
      });
      const taken = await Promise.all(
        mine.map(async ({ id, bell_at: bellAt, orphan }) => {
          const [changed] = await db.write([
            {
              sql: "UPDATE run SET bell_at = ? WHERE id = ? AND bell_at = ?",
              rows: [[now, id ?? null, bellAt ?? null]],
            },
          ]);
          return changed === 1 ? [{ runId: String(id), isOrphan: orphan === 1 }] : [];
        }),
      );
      return taken.flat();
    },

    async waiting() {
      const row = await db.get(
        `SELECT count(*) AS count FROM run WHERE ended_at IS NULL AND ${db.dialect.lastSeq} = 0`,
      );
      return Number(row?.["count"] ?? 0);
    },
  };
}
