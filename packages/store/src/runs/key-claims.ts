/**
 * Keys of concurrency for the engines of all servers, as rows of `key_claim`: the holders of a key, and its waiters.
 *   K1  A holder is a node of a run. Whoever drives the run next has what the one before had.
 *   K2  Under the lock of its key, who waits takes it when those who have it and those who wait longer leave room. Who waits for a run
 *       that nobody drives does not count.
 *   K3  A claim goes with the end of its run, and is changed only by the server that drives it.
 */
import { createHash } from "node:crypto";
import type { KeyHolder, KeyPlace, KeyPort } from "@millrace/contracts";
import type { Database, Op } from "../sql/port.ts";

const TOPIC = "key:";
const SWEEP_MS = 60_000; // claims of keys that are not asked for again do no harm

interface Waiting {
  readonly holder: string;
  readonly runId: string;
  readonly max: number;
  readonly heldBefore: boolean;
  readonly at: number;
  /** Told after every look whether it has the key. */
  tell(has: boolean): void;
}

/** The waiters of this process for one key. */
interface Key {
  readonly waiting: Set<Waiting>;
  /** Of the look that is at work. */
  looking: Promise<void> | undefined;
  /** Something has changed since it began. */
  isStale: boolean;
}

export function createKeyClaims(db: Database): KeyPort {
  const sql = statementsOf(db);
  const keys = new Map<string, Key>();
  let sweptAt = Number.NEGATIVE_INFINITY;
  let unwatch: (() => void) | undefined;

  const topicOf = (key: string): string =>
    `${TOPIC}${createHash("sha256").update(key).digest("base64url")}`;

  /** Looks for room for all who wait here, in one transaction; once more when something has changed meanwhile. */
  const look = (name: string): void => {
    const key = keys.get(name);
    if (key === undefined) return;
    if (key.looking !== undefined) {
      key.isStale = true;
      return;
    }
    key.isStale = false;
    key.looking = lookOnce(name, key).finally(() => {
      key.looking = undefined;
      if (key.isStale) look(name);
    });
  };

  async function lookOnce(name: string, { waiting }: Key): Promise<void> {
    const all = [...waiting];
    if (all.length === 0) return;
    const ops: Op[] = [
      { sql: db.dialect.lock, rows: [[name]] },
      { sql: sql.freeEnded, rows: [[name]] },
      { sql: sql.ask, rows: all.map((one) => askRow(name, one)) },
      ...all.map(({ holder, runId, heldBefore }) => ({
        sql: heldBefore ? sql.keep : sql.take,
        rows: [[name, holder, runId, db.holder]],
      })),
    ];
    let results: Awaited<ReturnType<Database["write"]>>;
    try {
      results = await db.write(ops);
    } catch {
      for (const one of all) one.tell(false); // the next look tries again
      return;
    }
    const given = all.filter((one) => !waiting.has(one)); // gave up while the look was at work
    for (const one of given) void free(name, one);
    all.forEach((one, index) => {
      if (waiting.has(one)) one.tell(results[ops.length - all.length + index] === 1);
    });
    await sweep();
  }

  const askRow = (name: string, { holder, runId, max, at }: Waiting) => [
    ...[name, holder, max, at],
    ...[runId, db.holder],
  ];

  async function free(name: string, { holder, runId }: Waiting): Promise<void> {
    const rows = [[name, holder, runId, db.holder]];
    await db.write([{ sql: sql.free, rows }], { topics: [topicOf(name)] }).catch(() => {}); // it goes with its run
    look(name);
  }

  async function sweep(): Promise<void> {
    if (performance.now() - sweptAt < SWEEP_MS) return;
    sweptAt = performance.now();
    await db.write([{ sql: sql.freeAllEnded, rows: [[]] }]).catch(() => {});
  }

  const lookAll = (): void => {
    for (const name of keys.keys()) look(name);
  };

  const add = (name: string, one: Waiting): void => {
    const key = keys.get(name) ?? { waiting: new Set(), looking: undefined, isStale: false };
    keys.set(name, key);
    key.waiting.add(one);
    unwatch ??= db.watch((topic) => {
      if (topic === "*") lookAll();
      else if (topic.startsWith(TOPIC)) {
        for (const each of keys.keys()) if (topicOf(each) === topic) look(each);
      }
    });
    look(name);
  };

  /** Whether it still waited. */
  const remove = (name: string, one: Waiting): boolean => {
    const key = keys.get(name);
    if (key?.waiting.delete(one) !== true) return false;
    if (key.waiting.size > 0) return true;
    keys.delete(name);
    if (keys.size > 0) return true;
    unwatch?.();
    unwatch = undefined;
    return true;
  };

  return {
    claim(name, holder, { max, heldBefore }): KeyPlace {
      let answer: (has: boolean) => void = () => {};
      let grant: () => void = () => {};
      const first = new Promise<boolean>((done) => {
        answer = done;
      });
      const granted = new Promise<void>((done) => {
        grant = done;
      });
      const one: Waiting = {
        ...{ holder: textOf(holder), runId: holder.runId, max, heldBefore, at: db.now() },
        tell(has) {
          answer(has);
          if (!has) return;
          remove(name, one);
          grant();
        },
      };
      add(name, one);
      let isOver = false;
      return {
        first,
        granted,
        release() {
          if (isOver) return;
          isOver = true;
          remove(name, one);
          void free(name, one);
        },
        leave() {
          isOver = true;
          remove(name, one);
        },
      };
    },

    async resume(runId, nodes) {
      const kept = new Set(nodes.map((node) => textOf({ runId, node })));
      const rows = await db.all(sql.ofRun, [runId]);
      const stale = rows.filter(({ holder }) => !kept.has(String(holder)));
      if (stale.length === 0) return;
      await db.write(
        [
          {
            sql: sql.free,
            rows: stale.map(({ key = null, holder = null }) => [key, holder, runId, db.holder]),
          },
        ],
        { topics: stale.map(({ key }) => topicOf(String(key))) },
      );
      lookAll();
    },
  };
}

function textOf({ runId, node }: KeyHolder): string {
  return JSON.stringify({ run: runId, node });
}

interface Statements {
  readonly ask: string;
  readonly take: string;
  readonly keep: string;
  readonly free: string;
  readonly freeEnded: string;
  readonly freeAllEnded: string;
  readonly ofRun: string;
}

function statementsOf({ dialect }: Database): Statements {
  const runOf = (claim: string): string => dialect.member(`${claim}.holder`, "run");
  const isMine = "EXISTS (SELECT 1 FROM run WHERE run.id = ? AND run.holder = ?)";
  const isDriven = (claim: string): string =>
    `EXISTS (SELECT 1 FROM run WHERE run.id = ${runOf(claim)} AND run.ended_at IS NULL ` +
    `AND (run.lease_until IS NULL OR run.lease_until <> 0) AND ${dialect.isHeld})`;
  const isEnded = `NOT EXISTS (SELECT 1 FROM run WHERE run.id = ${runOf("key_claim")} AND run.ended_at IS NULL)`;
  const those = "SELECT count(*) FROM key_claim o WHERE o.key = key_claim.key";
  const isEarlier =
    "(o.created_at < key_claim.created_at OR (o.created_at = key_claim.created_at AND o.holder < key_claim.holder))";
  const one = "WHERE key = ? AND holder = ?";
  return {
    ask:
      "INSERT INTO key_claim(key, holder, max, granted, created_at) " +
      "SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), 0, CAST(? AS BIGINT) " +
      `WHERE ${isMine} ON CONFLICT(key, holder) DO UPDATE SET max = excluded.max WHERE key_claim.max <> excluded.max`,
    take:
      `UPDATE key_claim SET granted = 1 ${one} AND ${isMine} AND (granted = 1 OR ` +
      `(${those} AND o.granted = 1) + (${those} AND o.granted = 0 AND ${isEarlier} AND ${isDriven("o")}) < ` +
      `(SELECT min(o.max) FROM key_claim o WHERE o.key = key_claim.key AND (o.granted = 1 OR ${isDriven("o")})))`,
    keep: `UPDATE key_claim SET granted = 1 ${one} AND ${isMine}`,
    free: `DELETE FROM key_claim ${one} AND ${isMine}`,
    freeEnded: `DELETE FROM key_claim WHERE key = ? AND ${isEnded}`,
    freeAllEnded: `DELETE FROM key_claim WHERE ${isEnded}`,
    ofRun: `SELECT key, holder FROM key_claim WHERE ${runOf("key_claim")} = ?`,
  };
}
