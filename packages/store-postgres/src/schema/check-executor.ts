/** Whether the servers of a store agree on what says which of them drives a run. */
import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "@millrace/store";
import type { SqlReader, SqlWriter } from "@millrace/store/sql";
import { SERVER_LOCKS } from "./names.ts";

const AGAIN_MS = 250;

/** The executor of the store; another server that is at work, and whether its session is there now. */
const KNOWN =
  "SELECT m.value AS known, s.name AS other, s.is_there FROM meta m LEFT JOIN " +
  "(SELECT coalesce(url, host) AS name, CASE WHEN EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' " +
  `AND l.classid = ${SERVER_LOCKS} AND l.objid = server.lock::oid AND l.objsubid = 2 ` +
  "AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())) THEN 1 ELSE 0 END AS is_there " +
  "FROM server WHERE id <> ? AND is_at_work(id) ORDER BY 2 DESC LIMIT 1) s ON true WHERE m.key = 'executor'";

/**
 * Compares the executor with that of the store, which the first server sets, and any other one when no server is at work: one that was
 * killed is waited for until it counts as dead. Throws `store_locked` when servers with another executor are at work.
 */
export async function checkExecutor(
  { get, write }: SqlReader & SqlWriter,
  { executor, holder }: { readonly executor: string; readonly holder: string },
): Promise<void> {
  const first = "INSERT INTO meta(key, value) VALUES('executor', ?) ON CONFLICT DO NOTHING";
  const change = "UPDATE meta SET value = ? WHERE key = 'executor' AND value = ?";
  await write([{ sql: first, rows: [[executor]] }]);
  for (;;) {
    const { known, other, is_there: isThere } = (await get(KNOWN, [holder])) ?? {};
    if (known === executor) return;
    if (isThere === 1) {
      const text =
        `servers of this store, such as ${other}, have the executor "${known}", and this one has "${executor}"; ` +
        "stop all of them, and start all with the same serve.executor";
      throw new StoreError("store_locked", text);
    }
    if (other === null) await write([{ sql: change, rows: [[executor, String(known)]] }]);
    else await sleep(AGAIN_MS);
  }
}
