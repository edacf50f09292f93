/**
 * Requests to the servers that drive runs, and their answers: how the servers of one store talk about a run.
 *   N1  A request is stored with the bell of its run, so that the run is driven and the request is read.
 *   N2  Requests of a run are read in the order in which they were stored.
 */
import { randomUUID } from "node:crypto";
import type { AbortSignalLike, Json, JsonObject } from "@millrace/contracts";
import { UnorderedMap } from "@millrace/contracts/kit";
import { StoreError } from "../errors.ts";
import { change } from "../sql/change.ts";
import type { Database } from "../sql/port.ts";

/** A request without an answer. */
export interface PendingRequest {
  readonly id: string;
  readonly message: JsonObject;
}

/** The inbox of all runs of a store that servers share. */
export interface Inbox {
  /** Stores a request to the driver of a run; answers its id. Rejects with `not_found`: there is no such run. */
  send(runId: string, message: JsonObject): Promise<string>;
  /** The requests of a run that have no answer yet. */
  pending(runId: string): Promise<readonly PendingRequest[]>;
  answer(request: { readonly id: string; readonly runId: string }, answer: Json): Promise<void>;
  /** The answer to a request; undefined: there is none yet. */
  answerOf(id: string): Promise<Json | undefined>;
  /**
   * Says when a run may have a new request or answer, until it is closed. `waitsFor`: what is told even where a notice is lost: that there
   * are requests, by one statement for all runs that are listened to; or that there may be an answer.
   */
  news(runId: string, waitsFor: "requests" | "answers", signal: AbortSignalLike): InboxNews;
  /**
   * Calls `obey` when there may be requests to a run of this process, one call after the other, until the signal aborts. `isNew`: nobody can
   * have said anything yet. Never rejects: a store that is away may be back for the next call.
   */
  obeyUntil(
    signal: AbortSignalLike,
    work: { readonly runId: string; readonly isNew?: boolean; obey(): Promise<void> },
  ): Promise<void>;
}

/** Tells when to look again; what comes during a look is not missed. */
export interface InboxNews {
  /** Resolves when something may be new since the last call, the signal aborts, or after `ms`. */
  next(ms?: number): Promise<void>;
  close(): void;
}

const TOPIC = "inbox:";
const ALL_OPEN =
  "SELECT DISTINCT r.id FROM inbox i JOIN run r ON r.no = i.run WHERE i.answer IS NULL";

/** No literal: ADR 0092. */
class Listener {
  readonly told: () => void;
  readonly waitsFor: "requests" | "answers";

  constructor(told: () => void, waitsFor: Listener["waitsFor"]) {
    this.told = told;
    this.waitsFor = waitsFor;
  }
}

const NOBODY: readonly Listener[] = [];

/** The inbox over a database. What it cannot store or read rejects with `StoreError`. */
export function createInbox(db: Database): Inbox {
  const listeners = new UnorderedMap<readonly Listener[]>();
  const tell = (runId: string): void => {
    for (const { told } of listeners.get(runId) ?? NOBODY) told();
  };
  let isLooking = false;
  /** Notices may have been lost. */
  const look = (): void => {
    const all = listeners.values().flat();
    for (const { told, waitsFor } of all) if (waitsFor === "answers") told();
    if (isLooking || !all.some(({ waitsFor }) => waitsFor === "requests")) return;
    isLooking = true;
    void db
      .all(ALL_OPEN)
      .then((rows) => {
        for (const { id } of rows) tell(String(id));
      })
      .catch(() => {}) // a database that is away now may be back for the next look
      .finally(() => {
        isLooking = false;
      });
  };
  let unwatch = (): void => {};
  const listen = (
    runId: string,
    told: () => void,
    { waitsFor }: Pick<Listener, "waitsFor">,
  ): (() => void) => {
    if (listeners.size === 0) {
      unwatch = db.watch((topic) => {
        if (topic === "*") look();
        else if (topic.startsWith(TOPIC)) tell(topic.slice(TOPIC.length));
      });
    }
    const listener = new Listener(told, waitsFor);
    listeners.set(runId, (listeners.get(runId) ?? NOBODY).concat(listener));
    return () => {
      const all = listeners.get(runId) ?? NOBODY;
      const others = all.filter((one) => one !== listener);
      if (others.length === all.length) return;
      if (others.length > 0) listeners.set(runId, others);
      else listeners.delete(runId);
      if (listeners.size === 0) unwatch();
    };
  };
  const news: Inbox["news"] = (runId, waitsFor, signal) => {
    let isNew = false;
    let wake = (): void => {};
    const told = (): void => {
      isNew = true;
      wake();
    };
    const unlisten = listen(runId, told, { waitsFor });
    signal.addEventListener("abort", told);
    return {
      async next(ms) {
        if (!isNew && !signal.aborted) {
          const timer = ms === undefined ? undefined : setTimeout(() => wake(), ms);
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          clearTimeout(timer);
        }
        isNew = false;
      },
      close() {
        unlisten();
        signal.removeEventListener("abort", told);
      },
    };
  };
  return {
    async send(runId, message) {
      const id = randomUUID();
      const now = db.now();
      try {
        await db.write(
          [
            {
              sql: "UPDATE run SET bell_at = ? WHERE id = ?",
              rows: [[now, runId]],
              need: "not_found",
            },
            {
              sql: "INSERT INTO inbox(run, id, message, created_at) VALUES((SELECT no FROM run WHERE id = ?), ?, ?, ?)",
              rows: [[runId, id, JSON.stringify(message), now]],
            },
          ],
          { topics: [`${TOPIC}${runId}`] },
        );
      } catch (error) {
        const { code } = Object(error) as { code?: unknown };
        throw code === "not_found" ? new StoreError(code, `there is no run ${runId}`) : error;
      }
      tell(runId);
      return id;
    },

    async pending(runId) {
      const rows = await db.all(
        "SELECT i.id, i.message FROM inbox i JOIN run r ON r.no = i.run WHERE r.id = ? AND i.answer IS NULL ORDER BY i.no",
        [runId],
      );
      return rows.map(({ id, message }) => ({
        id: String(id),
        message: JSON.parse(String(message)) as JsonObject,
      }));
    },

    async answer({ id, runId }, answer) {
      await change(db, {
        sql: "UPDATE inbox SET answer = ?, answered_at = ? WHERE id = ? AND answer IS NULL",
        values: [JSON.stringify(answer), db.now(), id],
        topics: [`${TOPIC}${runId}`],
      });
      tell(runId);
    },

    async answerOf(id) {
      const row = await db.get("SELECT answer FROM inbox WHERE id = ?", [id]);
      const text = row?.["answer"] ?? null;
      return text === null ? undefined : JSON.parse(String(text));
    },

    news,

    obeyUntil: (signal, { runId, isNew = false, obey }) =>
      new Promise((ended) => {
        let isDue = !isNew;
        let isAtWork = false;
        const work = async (): Promise<void> => {
          isAtWork = true;
          while (isDue && !signal.aborted) {
            isDue = false;
            await obey().catch(() => {});
          }
          isAtWork = false;
          if (signal.aborted) end();
        };
        const told = (): void => {
          isDue = true;
          if (!isAtWork) void work();
        };
        const unlisten = listen(runId, told, { waitsFor: "requests" });
        const end = (): void => {
          unlisten();
          signal.removeEventListener("abort", told);
          ended();
        };
        signal.addEventListener("abort", told);
        if (isDue || signal.aborted) void work();
      }),
  };
}
