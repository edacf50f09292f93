/** Differences of PostgreSQL from SQLite. */
import type { Dialect } from "@millrace/store/sql";
import { KEY_LOCKS } from "./schema/names.ts";
import { ADD_TO_FEED } from "./sql/steps.ts";

export const DIALECT: Dialect = {
  isHeld: "is_at_work(holder)",
  newEpoch: { value: "nextval('epoch')" },
  addToFeed: ADD_TO_FEED,
  lastSeq: "last_seq",
  lastOfFeed: "SELECT pos FROM feed_head",
  lock: `SELECT pg_advisory_xact_lock(${KEY_LOCKS}, hashtext(current_schema() || ?))`,
  joined: (column) => `string_agg(${column}, '')`,
  member: (column, name) => `(${column}::json ->> '${name}')`,
  // as `json`, which keeps members as they are written: `jsonb` refuses strings with NUL
  withMember: (column, name) =>
    `(SELECT json_object_agg(m.key, m.value)::text FROM (SELECT e.key, e.value FROM json_each(${column}::json) e ` +
    `WHERE e.key <> '${name}' UNION ALL SELECT '${name}', to_json(?::text)) m)`,
};
