/** Runs as lists and commands show them, read from the rows that the journal keeps beside the events. */
import {
  type Page,
  type Run,
  type RunFilter,
  type RunHeader,
  type RunQuery,
  type RunState,
  type RunSummary,
  viewToJson,
} from "@millrace/contracts";
import { foldedLog } from "../journal/pages.ts";
import type { PrivateValues } from "../journal/private-values.ts";
import { deletion } from "../retention/deletion.ts";
import { change } from "../sql/change.ts";
import type { Database, Opening, SqlRow, SqlValue } from "../sql/port.ts";
import { confirmationOf } from "./confirmations.ts";
import type { Cursors } from "./cursor.ts";
import { acknowledgement, headerOf } from "./run-header.ts";
import { createSummaries, summaryRows } from "./run-summaries.ts";

const MAX_LIMIT = 200;
const SLICE = 500; // runs that one transaction of `prune` deletes: other writers come in between

/** The runs of a store. */
export interface Runs {
  /** One page, newest first. Rejects with `bad_cursor` for a cursor of another filter, `RangeError` for a `limit` outside 1 to 200. */
  list(query: RunQuery): Promise<Page<RunSummary>>;
  /** A run without its nodes, which costs one look; null: there is none. */
  summary(runId: string): Promise<RunSummary | null>;
  /** A run with its nodes, as the fold of its log, and confirmations; null: there is none. */
  get(runId: string): Promise<Run | null>;
  /**
   * The header of a run; null: there is no such run. `private` false: secret inputs read `[redacted]`, else their key is
   * needed: rejects with `store_corrupt` where it is another one.
   */
  header(runId: string, options?: { private?: boolean }): Promise<RunHeader | null>;
  /** Ids of the runs that have not ended and that no other process of this machine works on, oldest first; a start resumes them. */
  live(): Promise<readonly string[]>;
  /** Acknowledges failed runs; returns how many were not acknowledged. */
  acknowledge(
    which: { readonly runIds: readonly string[] } | { readonly template?: string | undefined },
  ): Promise<number>;
  /** The other process of this machine that works on a run; null: none does, or the run has ended. */
  worker(runId: string): Promise<Opening | null>;
  /** Deletes an ended run with all that belongs to it. `live`: it has not ended and stays; `absent`: there is none. */
  delete(runId: string): Promise<"deleted" | "live" | "absent">;
  /** Deletes the ended runs that fit: ended before `before` (ISO 8601), in one of the states; absent: all that have ended. */
  prune(filter: {
    readonly before?: string;
    readonly status?: readonly RunState[];
  }): Promise<{ readonly deleted: number }>;
}

/** Runs as rows of `run`, with their values and lists. `db` is open; what it throws passes through. */
export function createRuns(parts: {
  readonly db: Database;
  readonly cursors: Cursors;
  readonly privates: PrivateValues;
}): Runs {
  const { db, cursors, privates } = parts;
  const summariesOf = createSummaries(db);
  const selected = summaryRows(db.dialect);
  const one = async (
    runId: string,
  ): Promise<{ readonly run: number; readonly summary: RunSummary } | null> => {
    const row = await db.get(`${selected} WHERE id = ?`, [runId]);
    const [summary] = row === undefined ? [] : await summariesOf([row]);
    return summary === undefined ? null : { run: Number(row?.["no"]), summary };
  };
  const workerOf = ({ holder, lease_until: until }: SqlRow): Opening | null => {
    const isElsewhere = typeof holder === "string" && holder !== db.holder && until !== 0;
    return isElsewhere ? (db.openingOf?.(holder) ?? null) : null;
  };
  return {
    async list(query) {
      const { limit, cursor } = query;
      if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
        throw new RangeError(`limit is a whole number from 1 to ${MAX_LIMIT}, not ${limit}`);
      }
      const filter = normal(query);
      const { where, values } = conditionsOf(query);
      if (cursor !== undefined) {
        where.push("(created_at, no) < (?, ?)");
        values.push(...(cursors.read(filter, cursor) as readonly number[]));
      }
      // each state by its own index: together they would be sorted, however many there are; what is sorted has no more than its key
      const found = [...new Set(query.status ?? [undefined])].map((status) => {
        const all = status === undefined ? where : [...where, "status = ?"];
        return db.all(
          `${selected} WHERE no IN (SELECT no FROM run ${all.length > 0 ? `WHERE ${all.join(" AND ")}` : ""}
           ORDER BY created_at DESC, no DESC LIMIT ?)`,
          [...values, ...(status === undefined ? [] : [status]), limit + 1],
          { once: true },
        );
      });
      const rows = (await Promise.all(found)).flat();
      rows.sort(byTime).splice(limit + 1);
      const items = await summariesOf(rows.slice(0, limit));
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      const key = last === undefined ? undefined : [Number(last["created_at"]), Number(last["no"])];
      return { items, nextCursor: key === undefined ? null : cursors.write(filter, key) };
    },

    async summary(runId) {
      return (await one(runId))?.summary ?? null;
    },

    async get(runId) {
      const found = await one(runId);
      if (found === null) return null;
      const { run, summary } = found;
      const view = await foldedLog(db, { run, runId, end: summary.lastSeq });
      const nodes = viewToJson(view).nodes.map(
        ({ node, state, attempt }) => [node, { state, attempt }] as const,
      );
      const asked = await db.all(
        "SELECT * FROM confirmation WHERE run = ? ORDER BY CAST(substr(id, 2) AS INTEGER)",
        [run],
      );
      return {
        ...summary,
        nodes: Object.fromEntries(nodes),
        confirmations: asked.map((each) => confirmationOf(runId, each)),
      };
    },

    async header(runId, { private: hidden = true } = {}) {
      const row = await db.get("SELECT * FROM run WHERE id = ?", [runId]);
      return row === undefined ? null : headerOf(row, db, hidden ? privates : null);
    },

    async live() {
      const columns = db.openingOf === undefined ? "id" : "id, holder, lease_until";
      const rows = await db.all(`SELECT ${columns} FROM run WHERE ended_at IS NULL ORDER BY no`);
      return rows.filter((row) => workerOf(row) === null).map(({ id }) => String(id));
    },

    async worker(runId) {
      const row = await db.get("SELECT * FROM run WHERE id = ? AND ended_at IS NULL", [runId]);
      return row === undefined ? null : workerOf(row);
    },

    async acknowledge(which) {
      if ("runIds" in which) return Number((await db.write([acknowledgement(which.runIds)]))[0]);
      const { template } = which;
      return change(db, {
        sql: `UPDATE run SET unacknowledged = NULL WHERE unacknowledged = 1${template === undefined ? "" : " AND template = ?"}`,
        values: template === undefined ? [] : [template],
      });
    },

    async delete(runId) {
      const row = await db.get("SELECT no, ended_at FROM run WHERE id = ?", [runId]);
      if (row === undefined) return "absent";
      if (row["ended_at"] === null) return "live";
      await db.write(await deletion(db, [Number(row["no"])]));
      return "deleted";
    },

    async prune({ before, status }) {
      const where = ["ended_at IS NOT NULL"];
      const values: SqlValue[] = [];
      if (before !== undefined) {
        where.push("ended_at < ?");
        values.push(timeOf(before));
      }
      if (status !== undefined) {
        where.push(`status IN (${status.map(() => "?").join(", ")})`);
        values.push(...status);
      }
      const sql = `SELECT no FROM run WHERE ${where.join(" AND ")} ORDER BY no LIMIT ${SLICE}`;
      for (let deleted = 0; ; ) {
        const numbers = (await db.all(sql, values, { once: true })).map(({ no }) => Number(no));
        if (numbers.length === 0) return { deleted };
        await db.write(await deletion(db, numbers));
        deleted += numbers.length;
      }
    },
  };
}

/** The filter in canonical form and without its page; cursors are bound to it. */
function normal(filter: RunFilter): unknown {
  const { status, template, flow, retryOf, tags, since, until, trigger, unacknowledged } = filter;
  return [
    status === undefined ? null : [...status].sort(),
    template ?? null,
    Object.entries(tags ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)),
    since ?? null,
    until ?? null,
    trigger ?? null,
    // Cursors that were given out before these were asked for stay good.
    ...(flow === undefined && retryOf === undefined ? [] : [flow ?? null, retryOf ?? null]),
    ...(unacknowledged === undefined ? [] : [{ unacknowledged }]),
  ];
}

function conditionsOf(filter: RunFilter): {
  readonly where: string[];
  readonly values: SqlValue[];
} {
  const { template, flow, retryOf, tags, since, until, trigger, unacknowledged } = filter;
  const where: string[] = [];
  const values: SqlValue[] = [];
  const add = (sql: string, ...bound: SqlValue[]): void => {
    where.push(sql);
    values.push(...bound);
  };
  if (template !== undefined) add("template = ?", template);
  if (flow !== undefined) add("flow_id = ?", flow);
  if (retryOf !== undefined) add("retry_of = ?", retryOf);
  if (trigger !== undefined) add("trigger = ?", trigger);
  if (since !== undefined) add("created_at >= ?", timeOf(since));
  if (until !== undefined) add("created_at <= ?", timeOf(until));
  if (unacknowledged !== undefined) {
    add(unacknowledged ? "unacknowledged = 1" : "unacknowledged IS NULL");
  }
  for (const [name, value] of Object.entries(tags ?? {})) {
    add("no IN (SELECT run FROM run_tag WHERE key = ? AND value = ?)", name, value);
  }
  return { where, values };
}

function byTime(a: SqlRow, b: SqlRow): number {
  const key = (row: SqlRow, name: string): number => Number(row[name]);
  return key(b, "created_at") - key(a, "created_at") || key(b, "no") - key(a, "no");
}

function timeOf(iso: string): number {
  const ms = Date.parse(iso);
  if (Number.isNaN(ms)) throw new RangeError(`"${iso}" is not a time of ISO 8601`);
  return ms;
}
