/** Requests that were seen, by scope and key: the first one works, the others get its answer. */
import type { Json } from "@millrace/contracts";
import { change } from "../sql/change.ts";
import type { Database, Op, SqlRow } from "../sql/port.ts";

/**
 * `new`: the caller works and then calls `finish` or `abandon`; `working`: somebody does, `since` this time in epoch milliseconds, or did
 * when its process died; `mismatch`: the key belongs to other arguments.
 */
export type Seen =
  | { readonly state: "new" }
  | { readonly state: "working"; readonly since: number }
  | { readonly state: "mismatch" }
  | { readonly state: "done"; readonly answer: Json };

/** One request. `fingerprint` is the SHA-256 of its arguments. */
export interface IdempotentRequest {
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: Uint8Array;
  /** How long it is remembered, in milliseconds; default 24 hours. */
  readonly ttlMs?: number;
}

/**
 * Requests with a key: a repeated request is served once. All calls reject with `StoreError`: `store_full`,
 * `store_read_only` or `store_unavailable`.
 */
export interface Idempotency {
  /** The answer of `begin` without beginning; null: the key is new. */
  find(request: IdempotentRequest): Promise<Seen | null>;
  /** Of all calls with the same scope and key, at any time and after a restart, exactly one gets `new`. */
  begin(request: IdempotentRequest): Promise<Seen>;
  /** Takes over work that a dead process began at `since`. False: another process was faster, or it has ended. */
  takeOver(request: IdempotentRequest, since: number): Promise<boolean>;
  finish(scope: string, key: string, answer: Json): Promise<void>;
  /** Forgets a request that has no answer worth keeping. */
  abandon(scope: string, key: string): Promise<void>;
  /** Deletes keys older than their `ttlMs`; returns how many. */
  expire(): Promise<number>;
}

const TTL_MS = 86_400_000;

/** Statements that store a request and its answer in the transaction of its effects; refused with `key_used`. */
export function requestRows(request: IdempotentRequest, answer: Json, now: number): Op[] {
  const { scope, key, fingerprint, ttlMs = TTL_MS } = request;
  return [
    { sql: FORGET, rows: [[scope, key, now]] },
    {
      sql:
        "INSERT INTO idempotency(scope, key, fingerprint, state, answer, expires_at) VALUES(?, ?, ?, 'done', ?, ?) " +
        "ON CONFLICT DO NOTHING",
      rows: [[scope, key, fingerprint, JSON.stringify(answer), now + ttlMs]],
      need: "key_used",
    },
  ];
}

const FORGET = "DELETE FROM idempotency WHERE scope = ? AND key = ? AND expires_at <= ?";

export function createIdempotency(db: Database): Idempotency {
  const now = (): number => db.now();
  return {
    async find({ scope, key, fingerprint, ttlMs = TTL_MS }) {
      const row = await db.get(
        "SELECT fingerprint, state, answer, expires_at FROM idempotency WHERE scope = ? AND key = ? AND expires_at > ?",
        [scope, key, now()],
      );
      return row === undefined ? null : seenOf(row, { fingerprint, ttlMs });
    },
    async begin({ scope, key, fingerprint, ttlMs = TTL_MS }) {
      for (;;) {
        const results = await db.write([
          { sql: FORGET, rows: [[scope, key, now()]] },
          {
            sql:
              "INSERT INTO idempotency(scope, key, fingerprint, state, expires_at) VALUES(?, ?, ?, 'working', ?) " +
              "ON CONFLICT DO NOTHING",
            rows: [[scope, key, fingerprint, now() + ttlMs]],
          },
          {
            sql: "SELECT fingerprint, state, answer, expires_at FROM idempotency WHERE scope = ? AND key = ?",
            rows: [[scope, key]],
            get: true,
          },
        ]);
        if (results[1] === 1) return { state: "new" };
        // one that another process has abandoned between the two is new
        if (results[2] !== undefined) return seenOf(results[2] as SqlRow, { fingerprint, ttlMs });
      }
    },
    async takeOver({ scope, key, ttlMs = TTL_MS }, since) {
      const sql =
        "UPDATE idempotency SET expires_at = ? WHERE scope = ? AND key = ? AND state = 'working' AND expires_at = ?";
      return (await change(db, { sql, values: [now() + ttlMs, scope, key, since + ttlMs] })) === 1;
    },
    async finish(scope, key, answer) {
      const sql = "UPDATE idempotency SET state = 'done', answer = ? WHERE scope = ? AND key = ?";
      await change(db, { sql, values: [JSON.stringify(answer), scope, key] });
    },
    async abandon(scope, key) {
      const sql = "DELETE FROM idempotency WHERE scope = ? AND key = ?";
      await change(db, { sql, values: [scope, key] });
    },
    expire: () =>
      change(db, { sql: "DELETE FROM idempotency WHERE expires_at <= ?", values: [now()] }),
  };
}

function seenOf(
  { fingerprint: known, state, answer, expires_at: expiresAt }: SqlRow,
  { fingerprint, ttlMs }: { readonly fingerprint: Uint8Array; readonly ttlMs: number },
): Seen {
  if (Buffer.compare(known as Uint8Array, fingerprint) !== 0) return { state: "mismatch" };
  return state === "done"
    ? { state: "done", answer: JSON.parse(String(answer)) }
    : { state: "working", since: Number(expiresAt) - ttlMs };
}
