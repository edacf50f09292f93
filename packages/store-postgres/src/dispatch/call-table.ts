/**
 * The calls of drives that are due, will be, or are at work: the table `drive_call`, one row for a run. `at` says when it is to be called
 * next, `holder` who drives it now; a row that is held and not rung again has no `at`. Each statement is a transaction of its own.
 *   T1  A row is taken by one server, whose later statements name its turn: a server that has lost the row changes nothing.
 *   T2  A ring is kept beside a drive at work, and is due when that ends.
 *   T3  A ring need not outlive a crash of PostgreSQL: the bell of its run does, and is rung again.
 */
import { faultOf } from "../connect/faults.ts";
import { type Answer, Link } from "../connect/link.ts";
import { type Prepared, prepared } from "../sql/statements.ts";

/** A row that this server has taken. */
export interface TakenCall {
  readonly runId: string;
  readonly turn: number;
  /** Drives of this run that failed, one after the other. */
  readonly failures: number;
}

/** Result of a look at the table. */
export interface Look {
  readonly taken: readonly TakenCall[];
  /** Until a row that is free is due, 0 or less for one that is; undefined: there is none. */
  readonly nextMs: number | undefined;
}

/** For so long a server that drives more than its share leaves what is due to others. */
export const FAIR_MS = 50;
/** For so long a run is left to others by the server that could not drive it. */
const LEFT_MS = 250;
/** A delay of centuries is as good as any longer one. */
const MAX_DELAY_MS = 1e13;
/** Rows that are counted when the shares of the servers are made: no server takes as many at once. */
const MAX_COUNTED = 1_000;

const RING = prepared(
  "INSERT INTO drive_call AS c (run, at) VALUES(?, clock_ms() + ?::bigint) " +
    "ON CONFLICT (run) DO UPDATE SET at = least(c.at, excluded.at) RETURNING holder IS NULL AS free",
);
/** A server takes its share of what is due, and what was left to others for long enough. */
const TAKE = prepared(`WITH
  clock AS MATERIALIZED (SELECT clock_ms() AS ms),
  held AS (SELECT count(*) AS n, count(*) FILTER (WHERE holder = ?) AS own FROM drive_call WHERE holder IS NOT NULL),
  due AS (SELECT count(*) AS n, count(*) FILTER (WHERE at <= (SELECT ms FROM clock) - ${FAIR_MS}) AS old FROM
    (SELECT at FROM drive_call WHERE holder IS NULL AND at <= (SELECT ms FROM clock) ORDER BY at LIMIT ${MAX_COUNTED}) d),
  servers AS (SELECT greatest(count(*), 1) AS n FROM server WHERE serves AND is_at_work(id)),
  places AS (SELECT least(?::bigint,
    greatest(due.old, (held.n + due.n + servers.n - 1) / servers.n - held.own, 0)) AS n FROM held, due, servers),
  picked AS (SELECT run FROM drive_call WHERE holder IS NULL AND at <= (SELECT ms FROM clock)
    AND (left_by IS DISTINCT FROM ? OR at <= (SELECT ms FROM clock) - ${LEFT_MS})
    ORDER BY at LIMIT (SELECT n FROM places) FOR UPDATE SKIP LOCKED)
  UPDATE drive_call c SET holder = ?, at = NULL, turn = nextval('drive_turn') FROM picked p WHERE c.run = p.run
  RETURNING c.run, c.turn, c.failures`);
const NEXT = prepared("SELECT min(at) - clock_ms() AS ms FROM drive_call WHERE holder IS NULL");
const END = prepared(
  "DELETE FROM drive_call WHERE run = ? AND holder = ? AND turn = ? AND at IS NULL",
);
/** Of a row that was rung meanwhile. */
const END_RUNG = prepared(
  "UPDATE drive_call SET holder = NULL, failures = 0, left_by = NULL WHERE run = ? AND holder = ? AND turn = ?",
);
const LEAVE = prepared(
  "UPDATE drive_call SET holder = NULL, at = least(at, clock_ms() + ?::bigint), failures = ?, left_by = ? " +
    "WHERE run = ? AND holder = ? AND turn = ?",
);
const SERVE = prepared("UPDATE server SET serves = ? WHERE id = ? AND serves IS DISTINCT FROM ?");
const FREE_DEAD = prepared(
  `WITH other AS MATERIALIZED (SELECT DISTINCT holder FROM drive_call WHERE holder IS NOT NULL AND holder <> ?)
  UPDATE drive_call SET holder = NULL, at = least(at, clock_ms())
  WHERE holder IN (SELECT holder FROM other WHERE NOT is_at_work(holder))`,
);
const HELD = prepared("SELECT run, turn, failures FROM drive_call WHERE holder = ?");

export class CallTable {
  readonly #connect: () => Promise<Link>;
  readonly #holder: string;
  #link: Promise<Link> | undefined;
  #answers = true;
  #isClosed = false;

  /** `holder`: the name of this opening. */
  constructor({
    connect,
    holder,
  }: {
    readonly connect: () => Promise<Link>;
    readonly holder: string;
  }) {
    this.#connect = connect;
    this.#holder = holder;
  }

  /** Whether the last statement was answered. */
  get answers(): boolean {
    return this.#answers;
  }

  /** Resolves when the ring is kept, with whether nobody drives the run. */
  async ring(runId: string, delayMs: number): Promise<boolean> {
    const [{ rows }] = await this.#send([[RING, [runId, whole(delayMs)]]]);
    return rows[0]?.["free"] === 1;
  }

  /** Takes at most so many rows that are due. */
  async take(max: number): Promise<Look> {
    const me = this.#holder;
    const [taken, next] = await this.#send([
      [TAKE, [me, max, me, me]],
      [NEXT, []],
    ]);
    const ms = next.rows[0]?.["ms"] ?? null;
    return { taken: callsOf(taken), nextMs: ms === null ? undefined : Number(ms) };
  }

  /** Marks this server as alive, frees the rows of dead servers, and returns the rows of this one. */
  async keepUp(): Promise<readonly TakenCall[]> {
    const me = this.#holder;
    const [, , held] = await this.#send([
      [SERVE, ["t", me, "t"]],
      [FREE_DEAD, [me]],
      [HELD, [me]],
    ]);
    return callsOf(held);
  }

  /** The drive has ended. True: the run was rung meanwhile, and is due. */
  async end({ runId, turn }: TakenCall): Promise<boolean> {
    const row = [runId, this.#holder, turn];
    const [, rung] = await this.#send([
      [END, row],
      [END_RUNG, row],
    ]);
    return rung.count > 0;
  }

  /** The run is to be called again after so long. `isRefused`: rather by another server. */
  async leave(
    { runId, turn }: TakenCall,
    {
      delayMs,
      failures,
      isRefused,
    }: { readonly delayMs: number; readonly failures: number; readonly isRefused: boolean },
  ): Promise<void> {
    const me = this.#holder;
    const values = [whole(delayMs), failures, isRefused ? me : null, runId, me, turn];
    await this.#send([[LEAVE, values]]);
  }

  /** Marks this server as stopped. Never rejects: without the mark it soon counts as dead. */
  async close(): Promise<void> {
    await this.#send([[SERVE, ["f", this.#holder, "f"]]]).catch(() => {});
    this.#isClosed = true;
    const link = await this.#link?.catch(() => undefined);
    await link?.close();
  }

  async #send<
    const T extends readonly (readonly [Prepared, readonly (string | number | null)[]])[],
  >(statements: T): Promise<{ readonly [At in keyof T]: Answer }> {
    if (this.#isClosed) throw new Error("closed");
    try {
      const link = await this.#open();
      const answers = await Promise.all(statements.map((one) => link.send(one[0], one[1])));
      this.#answers = true;
      return answers as { readonly [At in keyof T]: Answer };
    } catch (error) {
      if (faultOf(error) === "cut") this.#answers = false;
      throw error;
    }
  }

  /** The connection; a new one when the last one is gone. */
  async #open(): Promise<Link> {
    for (;;) {
      this.#link ??= this.#begin();
      const opening = this.#link;
      const link = await opening.catch((error: unknown) => error);
      if (link instanceof Link && link.isOpen) return link;
      if (this.#link === opening) this.#link = undefined;
      if (!(link instanceof Link)) throw link;
    }
  }

  async #begin(): Promise<Link> {
    const link = await this.#connect();
    void link.run("SET synchronous_commit = off"); // T3
    return link;
  }
}

const whole = (ms: number): number => Math.min(Math.max(0, Math.ceil(ms)), MAX_DELAY_MS);

function callsOf({ rows }: Answer): readonly TakenCall[] {
  return rows.map(({ run, turn, failures }) => ({
    runId: String(run),
    turn: Number(turn),
    failures: Number(failures),
  }));
}
