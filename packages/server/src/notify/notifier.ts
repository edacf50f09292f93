/**
 * Tells of failed runs. All that it knows is in the store: it may stop anywhere and be another one at the next start.
 *   M1  A failed run is untold until the message or the count that it goes into is stored with that.
 *   M2  A message is sent by the server that has claimed it. One whose sender died is claimed again: a receiver may get it twice, with the
 *       same id.
 *   M3  A run that tells of a failure is not told of when it fails itself.
 *   M4  A receiver that does not answer, and a run that cannot be read, do not delay other messages.
 */
import { createHash } from "node:crypto";
import type { Json } from "@millrace/contracts";
import type { Host } from "@millrace/engine";
import type { OutboxChange, OutboxRow, Store } from "@millrace/store";
import type { ServerLimits } from "../config/limits.ts";
import { readSettings } from "../config/settings.ts";
import { newId } from "../http/index.ts";
import type { Logger, Metrics } from "../ports.ts";
import { createLoop, type Loop, settled } from "../schedules/loop.ts";
import { kindOf, SEND_MS, type SendFault, type SendParts, send } from "./send.ts";
import {
  endWindow,
  type Failure,
  type FailureWindow,
  type Message,
  noteFailure,
  type Told,
} from "./windows.ts";

/** Tells of the failed runs of a store; woken when one has failed here. */
export type Notifier = Pick<Loop, "start" | "wake" | "close">;

export interface NotifierOptions extends Omit<SendParts, "store"> {
  readonly store: Pick<Store, "outbox" | "runs" | "settings" | "templates">;
  /** Epoch milliseconds, and timers. */
  readonly clock: Pick<Host, "now" | "setTimer">;
  readonly random: (bytes: number) => Uint8Array;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly limits: Pick<
    ServerLimits,
    "notifyRetryMs" | "notifyMaxRetryMs" | "notifyGiveUpMs" | "notifyMaxQueued"
  >;
  /** Where people look at a run; null: not known. */
  readonly urlOf: (runId: string) => string | null;
}

/** A message on its way, as the outbox has it. */
type Delivery = {
  readonly to: string;
  readonly message: Message;
  readonly madeAt: number;
  readonly attempts: number;
};

/** Pause between two searches for messages of other servers. */
const IDLE_MS = 300_000;
const FAILED_MS = 10_000; // after a failure of the store
/** Whoever has claimed a message has it for so long. */
const CLAIM_MS = 2 * SEND_MS;
/** Runs of a pass; also messages on their way at once. */
const BATCH = 16;
/** Messages on their way to one receiver. */
const MAX_TO_ONE = 2;
/** Due rows of a pass: beyond the messages to a receiver that is slow there are those to others. */
const DUE_ROWS = 256;
/** How long nobody looks again for what has to wait for others on their way; the end of one wakes. */
const BUSY_MS = 1_000;
/** How long a run that could not be told is left alone. */
const BROKEN_MS = 60_000;
const WINDOW = "window ";

export function createNotifier(options: NotifierOptions): Notifier {
  const { store, clock, random, log, metrics, limits, urlOf } = options;
  const { outbox } = store;
  const stopped = new AbortController();
  /** Messages on their way from here, by id. */
  const sending = new Map<string, { readonly to: string; readonly work: Promise<void> }>();
  /** Runs that could not be told, with the time of the next try. */
  const broken = new Map<string, number>();
  let isFull = false;
  const loop = createLoop(clock, () =>
    pass().catch((error: unknown) => {
      log.error({ err: error }, "notifications.failed");
      return FAILED_MS;
    }),
  );

  /** Tells what is to be told now; how long to sleep. */
  async function pass(): Promise<number> {
    await checkRoom();
    const found = await outbox.untold(BATCH + broken.size);
    const untold = found.filter((runId) => (broken.get(runId) ?? 0) <= clock.now());
    for (const runId of untold) await tryTell(runId);
    const due = await outbox.due(clock.now(), DUE_ROWS);
    const isWindow = ({ id }: OutboxRow): boolean => id.startsWith(WINDOW);
    const windows = due.filter(isWindow);
    await Promise.all(windows.map(close));
    const waiting: OutboxRow[] = [];
    for (const row of due) if (!isWindow(row) && !(await claim(row))) waiting.push(row);
    if (untold.length >= BATCH || windows.length > 0) loop.wake();
    if (waiting.length > 0) return BUSY_MS;
    const next = (await outbox.nextDue()) ?? Number.POSITIVE_INFINITY;
    const idle = broken.size > 0 ? BROKEN_MS : IDLE_MS;
    return Math.min(idle, Math.max(0, next - clock.now()));
  }

  /** Whether so much waits that failures are only counted. */
  async function checkRoom(): Promise<void> {
    const queued = await outbox.count();
    const wasFull = isFull;
    isFull = queued >= limits.notifyMaxQueued;
    if (isFull && !wasFull) log.warn({ queued }, "notifications.full");
  }

  async function tryTell(runId: string): Promise<void> {
    try {
      if (!(await tell(runId))) loop.wake();
      broken.delete(runId);
    } catch (error) {
      broken.set(runId, clock.now() + BROKEN_MS);
      log.error({ runId, err: error }, "notifications.failed");
    }
  }

  /** False: another server was faster, and the run is looked at again. */
  async function tell(runId: string): Promise<boolean> {
    const { notify } = await readSettings(store.settings);
    const header = await store.runs.header(runId, { private: false });
    const run = await store.runs.summary(runId);
    if (header === null || run === null) return true; // it was deleted
    const to = header.graph.policy?.notify ?? notify.to;
    const isNotice = run.source !== undefined && "failedRunId" in run.source;
    // Who starts a run by hand sees how it ends.
    if (to === null || isNotice || run.trigger === "cli") return outbox.write([], runId);
    const { code = "failed", message = "", node = null } = run.summary?.error ?? {};
    const failure: Failure = {
      ...{ runId, flow: run.flow.id, template: run.template?.slug ?? null, code, message, node },
      ...{ trigger: run.trigger, time: run.endedAt ?? run.createdAt, url: urlOf(runId) },
    };
    // Flows with one id may tell different receivers.
    const receiver = createHash("sha256").update(to).digest("hex").slice(0, 16);
    const id = `${WINDOW}${failure.template ?? `flow ${failure.flow}`} ${receiver}`;
    const row = await outbox.get(id);
    const open = row && { body: row.body as FailureWindow, dueAt: row.dueAt };
    const { windowMs } = notify;
    const told = noteFailure(open, failure, { now: clock.now(), windowMs, to, isFull });
    return outbox.write(changesOf(id, row, told, to), runId);
  }

  async function close(row: OutboxRow): Promise<void> {
    const { windowMs } = (await readSettings(store.settings)).notify;
    const body = row.body as FailureWindow;
    await outbox.write(
      changesOf(row.id, row, endWindow(body, { now: clock.now(), windowMs, isFull }), body.to),
    );
  }

  function changesOf(
    id: string,
    row: OutboxRow | null,
    { window, message }: Told,
    to: string,
  ): OutboxChange[] {
    const changes: OutboxChange[] = [];
    if (row !== null || window !== null) changes.push({ id, rev: row?.rev ?? null, next: window });
    if (message !== null) {
      const now = clock.now();
      const body: Delivery = { to, message, madeAt: now, attempts: 0 };
      const made = newId("msg", { now: () => now, random });
      changes.push({ id: made, rev: null, next: { body, dueAt: now } });
    }
    return changes;
  }

  /** Sends a message, and does not wait for it; false: others have to come first. */
  async function claim(row: OutboxRow): Promise<boolean> {
    const { id, rev } = row;
    const { attempts, ...rest } = row.body as Delivery;
    const toSame = [...sending.values()].filter(({ to }) => to === rest.to).length;
    if (sending.size >= BATCH || toSame >= MAX_TO_ONE || sending.has(id)) return false;
    const delivery = { ...rest, attempts: attempts + 1 };
    const next = { body: delivery as Json, dueAt: clock.now() + CLAIM_MS };
    if (!(await outbox.write([{ id, rev, next }]))) return true; // another server sends it
    const work = deliver({ ...row, ...next, rev: rev + 1 })
      .catch((error: unknown) => log.error({ err: error }, "notifications.failed"))
      .finally(() => {
        sending.delete(id);
        loop.wake();
      });
    sending.set(id, { to: rest.to, work });
    return true;
  }

  async function deliver({ id, rev, body }: OutboxRow): Promise<void> {
    const delivery = body as Delivery;
    const { to, message, attempts } = delivery;
    const now = clock.now();
    const fault = await send({ id, to, message, now, signal: stopped.signal }, options);
    if (fault !== null && stopped.signal.aborted) {
      const unsent: Delivery = { ...delivery, attempts: attempts - 1 }; // it was not the receiver's fault
      await outbox.write([{ id, rev, next: { body: unsent, dueAt: clock.now() } }]);
      return;
    }
    const retryMs = fault === null ? null : pauseOf(fault, delivery);
    const next = retryMs === null ? null : { body, dueAt: clock.now() + retryMs };
    await outbox.write([{ id, rev, next }]);
    note(id, delivery, { fault, retryMs });
  }

  /** Until the next try; null: there is none. */
  function pauseOf({ isFinal }: SendFault, { attempts, madeAt }: Delivery): number | null {
    const { notifyRetryMs, notifyMaxRetryMs, notifyGiveUpMs } = limits;
    const pause = Math.min(notifyRetryMs * 2 ** (attempts - 1), notifyMaxRetryMs);
    const isLate = clock.now() + pause > madeAt + notifyGiveUpMs;
    return isFinal || isLate ? null : pause;
  }

  /** A URL may hold a token: no line has it. */
  function note(
    id: string,
    { to, message: { runId, flow, count }, attempts }: Delivery,
    end: { readonly fault: SendFault | null; readonly retryMs: number | null },
  ): void {
    const { fault, retryMs } = end;
    const kind = kindOf(to);
    const status = fault === null ? "sent" : retryMs === null ? "given_up" : "failed";
    metrics.add("millrace_notifications_total", [kind, status]);
    const fields = { id, kind, runId, flow, count, attempts };
    const { reason, text } = fault ?? {};
    if (fault === null) log.info(fields, "notification.sent");
    else if (retryMs !== null) log.warn({ ...fields, reason, retryMs }, "notification.failed");
    else log.error({ ...fields, reason, text }, "notification.given_up");
  }

  return {
    start: loop.start,
    wake: loop.wake,
    async close() {
      stopped.abort();
      await loop.close();
      await settled([...sending.values()].map(({ work }) => work));
    },
  };
}
