/**
 * Who follows runs, and what they are told.
 *   F1  What this process appends is told after its commit, from memory.
 *   F2  What another process appends is read and told when its topic comes, or at latest after `POLL_MS`: no event twice, none left out.
 */
import type { EncodedEvent } from "@millrace/contracts";
import type { Database } from "../sql/port.ts";
import { eventOf } from "./seal.ts";

const TOPIC = "run:";
const POLL_MS = 500; // a topic may be lost with its connection
const PAGE = 512;

type Told = (events: readonly EncodedEvent[]) => void;

/** The followers of the runs of one journal. */
export interface Followers {
  /** Calls `told` with what follows from now on, until the answer is called. */
  add(runId: string, told: Told): () => void;
  /** Events that this process has committed. */
  publish(runId: string, events: readonly EncodedEvent[]): void;
}

/** What a transaction tells other processes that appends to a run. */
export function runTopic(runId: string): string {
  return `${TOPIC}${runId}`;
}

interface Followed {
  readonly all: Set<Told>;
  /** `seq` of the last event that was told, or was there at the beginning. */
  at: number;
  /** Of reading on: one at a time. */
  reading: Promise<void>;
}

export function createFollowers(db: Database): Followers {
  const followed = new Map<string, Followed>();
  const isShared = db.kind === "postgres";
  let poll: ReturnType<typeof setInterval> | undefined;

  const tell = (entry: Followed, events: readonly EncodedEvent[]): void => {
    const fresh = isShared ? events.filter(({ seq }) => seq > entry.at) : events;
    const last = fresh.at(-1);
    if (last === undefined) return;
    entry.at = last.seq;
    for (const told of entry.all) told(fresh);
  };

  const readOn = (runId: string): void => {
    const entry = followed.get(runId);
    if (entry === undefined) return;
    // a database that is away now may be back for the next poll
    entry.reading = entry.reading.then(() => tellRest(runId, entry)).catch(() => {});
  };

  async function tellRest(runId: string, entry: Followed): Promise<void> {
    for (let isWhole = false; !isWhole && entry.all.size > 0; ) {
      const rows = await db.all(
        "SELECT j.seq, j.kind, j.line FROM journal j JOIN run r ON r.no = j.run WHERE r.id = ? AND j.seq > ? ORDER BY j.seq LIMIT ?",
        [runId, entry.at, PAGE],
      );
      isWhole = rows.length < PAGE;
      tell(
        entry,
        rows.map(({ seq, kind, line }) => ({
          seq: Number(seq),
          kind: String(kind),
          line: line as Uint8Array,
          event: eventOf(line),
        })),
      );
    }
  }

  async function begin(runId: string, entry: Followed): Promise<void> {
    const row = await db.get("SELECT last_seq FROM run WHERE id = ?", [runId]);
    entry.at = Math.max(entry.at, Number(row?.["last_seq"] ?? 0));
  }

  if (isShared) {
    db.watch((topic) => {
      if (topic === "*") for (const runId of followed.keys()) readOn(runId);
      else if (topic.startsWith(TOPIC)) readOn(topic.slice(TOPIC.length));
    });
  }

  return {
    add(runId, told) {
      let entry = followed.get(runId);
      if (entry === undefined) {
        entry = { all: new Set(), at: 0, reading: Promise.resolve() };
        followed.set(runId, entry);
        if (isShared) {
          entry.reading = begin(runId, entry).catch(() => {});
          poll ??= setInterval(() => {
            for (const each of followed.keys()) readOn(each);
          }, POLL_MS).unref();
        }
      }
      const { all } = entry;
      all.add(told);
      return () => {
        all.delete(told);
        if (all.size > 0 || followed.get(runId)?.all !== all) return;
        followed.delete(runId);
        if (followed.size > 0) return;
        clearInterval(poll);
        poll = undefined;
      };
    },

    publish(runId, events) {
      const entry = followed.get(runId);
      if (entry !== undefined) tell(entry, events);
    },
  };
}
