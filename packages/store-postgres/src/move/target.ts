/** The database that a store is moved to: one connection, which nobody else moves with at the same time. */
import { StoreError } from "@millrace/store";
import { addressOf } from "../connect/address.ts";
import { Link } from "../connect/link.ts";
import { migrate } from "../schema/migrate.ts";
import { WORK_LOCKS } from "../schema/names.ts";
import { MIGRATIONS } from "../schema/schema.ts";
import { checkKey } from "../schema/store-key.ts";
import { composed } from "../sql/statements.ts";
import { SHARED_TABLES, TABLES } from "./tables.ts";
import type { MoveTarget } from "./types.ts";

/** A call without an answer for this long counts as cut: a page of rows, or the tables of a store. */
const CALL_MS = 300_000;

export interface Target {
  readonly link: Link;
  /** Host and database, for messages. */
  readonly place: string;
  readonly key: Uint8Array;
}

/** Connects. With `check` nothing is made: there must be a store. Rejects with errors of the driver, `StoreError`, `TypeError`. */
export async function openTarget(
  { url, key, schema: wanted }: MoveTarget,
  isCheck: boolean,
): Promise<Target> {
  const { config, schema, place } = addressOf(url, wanted);
  const link = await new Link({ ...config, query_timeout: CALL_MS }).openToWrite();
  try {
    if (isCheck) await checkVersion(link, { schema, place });
    else await migrate(link, { schema, place });
    await checkKey(link, key);
    const lock = composed(
      "SELECT pg_try_advisory_lock(?, hashtext(current_schema() || 'move')) AS taken",
    );
    const { rows } = await link.send(lock, [WORK_LOCKS]);
    if (rows[0]?.["taken"] === 1) return { link, place, key };
    throw new StoreError(
      "store_locked",
      `another move to ${place} is at work; wait until it has ended`,
    );
  } catch (error) {
    await link.close();
    throw error;
  }
}

/** Throws where a store has rows of its own, or servers. */
export async function checkEmpty({ link, place }: Target): Promise<void> {
  const names = [...TABLES.map(({ name }) => name), ...SHARED_TABLES];
  const parts = names.map(
    (name) => `SELECT '${name}' AS name WHERE EXISTS (SELECT 1 FROM "${name}")`,
  );
  const { rows } = await link.send(composed(parts.join(" UNION ALL ")));
  if (rows.length > 0) {
    const full = rows.map(({ name }) => String(name)).join(", ");
    const text = `the store in ${place} is not empty: it has rows in ${full}; choose another database or schema`;
    throw new StoreError("path_exists", text);
  }
  const { rows: servers } = await link.send(
    composed("SELECT count(*) AS count FROM server WHERE is_at_work(id)"),
  );
  if (servers[0]?.["count"] === 0) return;
  throw new StoreError("store_locked", `servers use the store in ${place}; stop them first`);
}

async function checkVersion(
  link: Link,
  { schema, place }: { readonly schema: string; readonly place: string },
): Promise<void> {
  const there = await link.send(composed("SELECT to_regclass(?) IS NOT NULL AS yes"), [
    `${schema}.migration`,
  ]);
  if (there.rows[0]?.["yes"] !== 1) {
    throw new StoreError("store_unavailable", `there is no store in ${place}`);
  }
  const { rows } = await link.send(composed("SELECT max(version) AS version FROM migration"));
  const version = Number(rows[0]?.["version"] ?? 0);
  if (version === MIGRATIONS.length) return;
  const text = `the store in ${place} has version ${version}, this program has ${MIGRATIONS.length}`;
  throw new StoreError(version > MIGRATIONS.length ? "store_too_new" : "store_unavailable", text);
}
