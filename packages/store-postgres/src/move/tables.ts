/** The tables of a store that are moved, in an order in which every row finds the rows that it refers to. */

/** A table as it is copied and compared. */
export interface MovedTable {
  readonly name: string;
  /** Its primary key, by which it is read in pages. */
  readonly key: readonly string[];
  /** The other columns that say the same in every store. */
  readonly rest: readonly string[];
  /** Rows of a page: few where one may be large. */
  readonly page: number;
}

const ROWS = 512;
const LARGE_ROWS = 32;
const BLOBS = 4;

function table(name: string, key: string, rest: string, page: number = ROWS): MovedTable {
  return { name, key: key.split(" "), rest: rest === "" ? [] : rest.split(" "), page };
}

/** `run` is without what says who has it now: `owner`, `lease_until`, `holder`, `bell_at`. */
export const TABLES: readonly MovedTable[] = [
  table("graph", "digest", "json", LARGE_ROWS),
  table(
    "run",
    "no",
    "id flow_id graph template template_version status trigger source inputs options token_id retry_of last_seq epoch " +
      "created_at started_at ended_at summary pruned untold unacknowledged",
    LARGE_ROWS,
  ),
  table("run_tag", "key value run", ""),
  table("journal", "run seq", "kind ts line"),
  table("step_value", "run key", "ref value"),
  table("private_value", "run node attempt", "nonce body", LARGE_ROWS),
  table("blob", "digest", "bytes media_type body", BLOBS),
  table("run_blob", "run digest", ""),
  table(
    "confirmation",
    "run id",
    "node status prompt schema tool deadline by value comment requested_at resolved_at",
  ),
  table("timer", "run node attempt", "fire_at"),
  table("feed", "pos", "run seq"),
  table("template", "slug", "version name description tags source updated_at"),
  table("template_version", "slug version", "digest text graph created_at", LARGE_ROWS),
  table("schedule", "id", "body enabled next_at last_fire last_error"),
  table("schedule_fire", "schedule fire_time", "run outcome"),
  table("idempotency", "scope key", "fingerprint state answer expires_at", LARGE_ROWS),
  table("setting", "path", "json"),
  table("hub", "id", "body serial"),
  table("hub_item", "hub item", "body", LARGE_ROWS),
  table("webhook", "id", "token_hash body"),
  table("webhook_seen", "hash", "expires_at"),
  table("outbox", "id", "body due_at rev"),
  table("connection", "slug", "status scope expires_at body"),
];

/** Tables that only servers of a shared store fill. */
export const SHARED_TABLES: readonly string[] = [
  ...["inbox", "key_claim", "drive_call"],
  ...["credential", "lease"],
];

/** All columns, the primary key first. */
export function columnsOf({ key, rest }: MovedTable): readonly string[] {
  return [...key, ...rest];
}
