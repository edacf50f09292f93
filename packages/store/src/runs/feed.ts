/**
 * The feed: starts, pauses, confirmations and ends of all runs, in the order in which they were committed.
 *   F1  Positions rise without end and are never used twice; they may have gaps where runs were deleted.
 *   F2  A listener is called after its reader can see the rows.
 */
import type { StoredEvent } from "@millrace/contracts";
import type { Database } from "../sql/port.ts";

/** The feed of a store. `seq` of its entries is their position in the feed, not in their run. */
export interface Feed {
  /** Position of the newest entry that there ever was; 0: none yet. */
  last(): Promise<number>;
  /** Position of the oldest entry that is kept; null: none is. */
  first(): Promise<number | null>;
  /** The next entries after a position, a page of at most 256 KiB or one entry; empty: there are none now. */
  read(after: number): Promise<readonly StoredEvent[]>;
  /** Calls `told` with the kinds of new entries, after their commit, until the answer is called. */
  listen(told: (kinds: readonly string[]) => void): () => void;
}

/** A feed that publishes committed rows. */
export interface FeedSource extends Feed {
  publish(kinds: readonly string[]): void;
}

const TOPIC = "feed:";

/** Told when entries of other processes may have been missed: some of every kind. */
const ALL_KINDS: readonly string[] = [
  ...["run.started", "run.paused", "run.resumed", "run.cancelling"],
  ...["confirm.requested", "confirm.resolved", "summary"],
];
const PAGE_ENTRIES = 512;
const PAGE_BYTES = 262_144; // a page costs its reader no more than the longest event may

/** Those of these events that are in the feed. */
export function inFeed<E extends Pick<StoredEvent, "kind">>(events: readonly E[]): readonly E[] {
  return events.some(isInFeed) ? events.filter(isInFeed) : NONE;
}

const NONE: readonly never[] = Object.freeze([]);

function isInFeed({ kind }: Pick<StoredEvent, "kind">): boolean {
  return kind.startsWith("run.") || kind.startsWith("confirm.") || kind === "summary";
}

/** The topic that a transaction announces to other processes when it adds these entries. */
export function feedTopic(entries: readonly Pick<StoredEvent, "kind">[]): string {
  return `${TOPIC}${[...new Set(entries.map(({ kind }) => kind))].join(" ")}`;
}

export function createFeed(db: Database): FeedSource {
  const listeners = new Set<(kinds: readonly string[]) => void>();
  const publish = (kinds: readonly string[]): void => {
    if (kinds.length === 0) return;
    for (const told of [...listeners]) told(kinds);
  };
  db.watch((topic) => {
    if (topic === "*") publish(ALL_KINDS);
    else if (topic.startsWith(TOPIC)) publish(topic.slice(TOPIC.length).split(" "));
  });
  return {
    last: async () => Number((await db.get(db.dialect.lastOfFeed))?.["pos"] ?? 0),
    async first() {
      const row = await db.get("SELECT min(pos) AS pos FROM feed");
      return (row?.["pos"] ?? null) as number | null;
    },
    async read(after) {
      const sizes = await db.all(
        "SELECT f.pos, length(j.line) AS bytes FROM feed f JOIN journal j ON j.run = f.run AND j.seq = f.seq " +
          "WHERE f.pos > ? ORDER BY f.pos LIMIT ?",
        [after, PAGE_ENTRIES],
      );
      let bytes = 0;
      let end = after;
      for (const row of sizes) {
        bytes += Number(row["bytes"]);
        if (end > after && bytes > PAGE_BYTES) break;
        end = Number(row["pos"]);
      }
      if (end === after) return [];
      const rows = await db.all(
        "SELECT f.pos, j.kind, j.line FROM feed f JOIN journal j ON j.run = f.run AND j.seq = f.seq " +
          "WHERE f.pos > ? AND f.pos <= ? ORDER BY f.pos",
        [after, end],
      );
      return rows.map((row) => ({
        seq: Number(row["pos"]),
        kind: String(row["kind"]),
        line: row["line"] as Uint8Array,
      }));
    },
    listen(told) {
      listeners.add(told);
      return () => void listeners.delete(told);
    },
    publish,
  };
}
