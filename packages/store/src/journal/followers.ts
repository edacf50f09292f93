/**
 * Followers of runs, and their notification.
 *   F1  Followers get appends of this process after the commit, from memory.
 *   F2  What another process appends is read and told when its topic comes, or with the next look of `Database.watch`, which is one
 *       statement for all runs that are followed.
 *   F3  A follower gets every event after its position, each once and in order, from any process.
 */
import type { EncodedEvent } from "@millrace/contracts";
import { UnorderedMap } from "@millrace/contracts/kit";
import type { Database } from "../sql/port.ts";
import { eventOf, readPage } from "./pages.ts";

const TOPIC = "run:";
const LOOK = 256; // runs that one statement looks for
const READERS = 4; // runs that are read at one time: the others get more with each read

type Told = (events: readonly EncodedEvent[]) => void;

/** The followers of the runs of one journal. */
export interface Followers {
  /** Calls `told` with what follows the position `after`, until the answer is called. */
  add(runId: string, after: number, told: Told): () => void;
  /** Events that this process has committed. */
  publish(runId: string, events: readonly EncodedEvent[]): void;
}

/** The topic that a transaction announces to other processes when it appends to a run. */
export function runTopic(runId: string): string {
  return `${TOPIC}${runId}`;
}

/** No literal: ADR 0092. */
class Follower {
  readonly told: Told;
  /** `seq` of the last event that it has. */
  at: number;

  constructor(told: Told, at: number) {
    this.told = told;
    this.at = at;
  }
}

export function createFollowers(db: Database): Followers {
  const followed = new UnorderedMap<Set<Follower>>();
  /** Runs that have more than their followers. */
  const behind = new Set<string>();
  const reading = new Set<string>();
  let isLooking = false;

  /** Notifies followers that have all earlier events; false: one has not. */
  const tell = (all: ReadonlySet<Follower>, events: readonly EncodedEvent[]): boolean => {
    const first = events[0]?.seq ?? 0;
    let isWhole = true;
    for (const follower of all) {
      const fresh = follower.at < first ? events : events.slice(follower.at + 1 - first);
      const last = fresh.at(-1);
      if (last === undefined) continue;
      if (fresh[0]?.seq === follower.at + 1) {
        follower.at = last.seq;
        follower.told(fresh);
      } else isWhole = false;
    }
    return isWhole;
  };

  const readOn = (runId: string): void => {
    if (!followed.has(runId)) return;
    behind.add(runId);
    readBehind();
  };

  /** Requests that come while a run is read, or waits for it, share one more read of it. */
  function readBehind(): void {
    for (const runId of behind) {
      if (reading.size >= READERS) return;
      if (reading.has(runId)) continue;
      behind.delete(runId);
      reading.add(runId);
      void tellRest(runId)
        .catch(() => {}) // a database that is away now may be back for the next poll
        .finally(() => {
          reading.delete(runId);
          readBehind();
        });
    }
  }

  async function tellRest(runId: string): Promise<void> {
    for (let isWhole = false; !isWhole; ) {
      const before = [...(followed.get(runId) ?? [])];
      if (before.length === 0) return;
      const after = Math.min(...before.map(({ at }) => at));
      const row = await db.get(`SELECT no, ${db.dialect.lastSeq} AS last FROM run WHERE id = ?`, [
        runId,
      ]);
      const part = { run: Number(row?.["no"] ?? 0), after, end: Number(row?.["last"] ?? 0) };
      const page = await readPage(db, part);
      isWhole = page.isLast;
      const events = page.events.map((stored) => ({ ...stored, event: eventOf(stored.line) }));
      if (!tell(followed.get(runId) ?? new Set(), events)) return; // retention has taken what was not read in time
    }
  }

  /** Reads on in those runs that have more than their followers. */
  async function look(): Promise<void> {
    const ids = followed.keys();
    for (let at = 0; at < ids.length; at += LOOK) {
      const some = ids.slice(at, at + LOOK);
      const rows = await db.all(
        `SELECT id, ${db.dialect.lastSeq} AS last FROM run WHERE id IN (${some.map(() => "?").join(", ")})`,
        some,
        { once: true },
      );
      for (const { id, last } of rows) {
        const followers = [...(followed.get(String(id)) ?? [])];
        if (followers.some((follower) => follower.at < Number(last))) readOn(String(id));
      }
    }
  }

  const readAll = (): void => {
    if (isLooking || followed.size === 0) return;
    isLooking = true;
    void look()
      .catch(() => {}) // a database that is away now may be back for the next look
      .finally(() => {
        isLooking = false;
      });
  };
  db.watch((topic) => {
    if (topic === "*") readAll();
    else if (topic.startsWith(TOPIC)) readOn(topic.slice(TOPIC.length));
  });

  return {
    add(runId, after, told) {
      const all = followed.get(runId) ?? new Set();
      followed.set(runId, all);
      const follower = new Follower(told, after);
      all.add(follower);
      return () => {
        all.delete(follower);
        if (all.size > 0 || followed.get(runId) !== all) return;
        followed.delete(runId);
      };
    },

    publish(runId, events) {
      const all = followed.get(runId);
      if (all !== undefined && !tell(all, events)) readOn(runId);
    },
  };
}
