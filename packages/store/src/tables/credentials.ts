/**
 * Credentials that the servers of a store share.
 *   C1  Each is sealed under the key of the store and bound to its account: in another row it does not open.
 *   C2  Who changes one takes its lease, so that two servers do not renew one token at the same time. A lease whose owner died runs out.
 */
import { randomUUID } from "node:crypto";
import { StoreError } from "../errors.ts";
import { seal, unseal } from "../journal/private-values.ts";
import { change } from "../sql/change.ts";
import type { Database } from "../sql/port.ts";

/** A lease that was taken. */
export interface CredentialLease {
  /** Renews it; false: somebody else has it by now. */
  held(): Promise<boolean>;
  release(): Promise<void>;
}

/** The credentials of a store that servers share, by account. */
export interface SharedCredentials {
  /** Undefined: there is none. Rejects with `store_corrupt` when it does not open with the key. */
  get(account: string): Promise<string | undefined>;
  set(account: string, value: string): Promise<void>;
  /** Whether there was one. */
  delete(account: string): Promise<boolean>;
  list(): Promise<string[]>;
  /** Takes the lease of this name; undefined: somebody has it. */
  lease(name: string): Promise<CredentialLease | undefined>;
}

/** A request to a token endpoint ends before. */
const LEASE_MS = 30_000;

export function createSharedCredentials(db: Database): SharedCredentials {
  const keyOf = (): Uint8Array => {
    if (db.key !== null) return db.key;
    throw new StoreError("store_read_only", "the store is open without its key");
  };
  return {
    async get(account) {
      const row = await db.get("SELECT nonce, body FROM credential WHERE account = ?", [account]);
      if (row === undefined) return undefined;
      const sealed = { nonce: row["nonce"] as Uint8Array, body: row["body"] as Uint8Array };
      const value = unseal(keyOf(), boundTo(account), sealed);
      if (typeof value === "string") return value;
      throw new StoreError("store_corrupt", "a credential does not open with the key of the store");
    },
    async set(account, value) {
      const { nonce, body } = seal(keyOf(), boundTo(account), value);
      await change(db, {
        sql:
          "INSERT INTO credential(account, nonce, body) VALUES(?, ?, ?) " +
          "ON CONFLICT(account) DO UPDATE SET nonce = excluded.nonce, body = excluded.body",
        values: [account, nonce, body],
      });
    },
    delete: async (account) =>
      (await change(db, { sql: "DELETE FROM credential WHERE account = ?", values: [account] })) ===
      1,
    async list() {
      const rows = await db.all("SELECT account FROM credential ORDER BY account");
      return rows.map(({ account }) => String(account));
    },
    async lease(name) {
      const owner = randomUUID();
      const now = db.now();
      const taken = await change(db, {
        sql:
          "INSERT INTO lease(name, owner, until) VALUES(?, ?, ?) " +
          "ON CONFLICT(name) DO UPDATE SET owner = excluded.owner, until = excluded.until WHERE lease.until <= ?",
        values: [name, owner, now + LEASE_MS, now],
      });
      if (taken !== 1) return undefined;
      return {
        async held() {
          const sql = "UPDATE lease SET until = ? WHERE name = ? AND owner = ?";
          return (await change(db, { sql, values: [db.now() + LEASE_MS, name, owner] })) === 1;
        },
        async release() {
          const sql = "DELETE FROM lease WHERE name = ? AND owner = ?";
          await change(db, { sql, values: [name, owner] });
        },
      };
    },
  };
}

/** No run has an id that is empty, so nothing that was sealed for a run opens here. */
function boundTo(account: string): string {
  return `\ncredential\n${account}`;
}
