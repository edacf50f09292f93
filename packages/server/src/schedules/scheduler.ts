/**
 * Fires schedules. All that it knows is in the store: it may stop anywhere and be another one at the next start.
 *   C1  A fire time and its run are committed together, so it fires once, also when several processes try.
 *   C2  What cannot start now (a full run queue, `overlap: "queue"`, missed times of `catchUp: "all"`) waits as a row, and what
 *       waits of one schedule starts one at a time.
 *   C3  The clock is asked at least once a minute, so one that jumps, or a machine that slept, costs a minute at most.
 */
import { setImmediate } from "node:timers/promises";
import type { Host } from "@millrace/engine";
import type { Store, WaitingFire } from "@millrace/store";
import { inTurn } from "../dispatch/index.ts";
import type { Logger, Scheduler } from "../ports.ts";
import { type DueFire, dueFires, MAX_CAUGHT_UP, nextFireTime } from "./fire-times.ts";
import { createLoop } from "./loop.ts";
import { readSchedule, type StoredSchedule } from "./read-schedule.ts";
import { type FirePorts, startFire } from "./stored-schedule.ts";

export interface SchedulerOptions extends FirePorts {
  readonly store: Pick<Store, "schedules" | "templates" | "settings" | "runs" | "feed">;
  /** Epoch milliseconds, and timers. */
  readonly clock: Pick<Host, "now" | "setTimer">;
  readonly log: Logger;
  /** Longest sleep, where other servers change the same schedules; default a minute. */
  readonly maxSleepMs?: number;
}

/** Longest sleep. A timer of Node over 2^31 - 1 ms fires at once, and none knows that the clock was set. */
const MAX_SLEEP_MS = 60_000;
/** Pause while the run queue is full. */
const FULL_MS = 1_000;
/** Pause after a failure of store or executor: soon enough for a fire to be in time. */
const FAILED_MS = 10_000;

/** Makes a scheduler that sleeps until `start`. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { store, executor, clock, log, maxSleepMs = MAX_SLEEP_MS } = options;
  const { schedules } = store;
  /** Of schedules that may overlap: the run of the fire that waited last. */
  const caughtUp = new Map<string, string>();
  let unlisten: (() => void) | undefined;
  let hasWaiting = false;
  let sleepMs = maxSleepMs;
  const loop = createLoop(clock, async () => {
    sleepMs = maxSleepMs;
    await pass().catch(noteFailure);
    return sleepMs;
  });

  function noteFailure(error: unknown): void {
    log.error({ err: error }, "schedule.failed");
    sleepMs = Math.min(sleepMs, FAILED_MS);
  }

  /** Fires what is due, starts what waits, and sets how long to sleep. */
  async function pass(): Promise<void> {
    const failed = new Set<string>();
    for (const { id } of await schedules.due(clock.now())) {
      if (loop.isClosed) return;
      await inTurn(schedules, () => fireDue(id)).catch((error: unknown) => {
        failed.add(id);
        noteFailure(error);
      });
      await setImmediate(); // many may be due at once, and requests are answered in between
    }
    const ids = new Set((await schedules.waiting()).map(({ scheduleId }) => scheduleId));
    for (const id of ids) {
      if (loop.isClosed) return;
      await inTurn(schedules, () => startWaiting(id)).catch(noteFailure);
    }
    for (const id of caughtUp.keys()) if (!ids.has(id)) caughtUp.delete(id);
    hasWaiting = ids.size > 0;
    if (failed.size > 0) return; // they are due, and shall not be tried at once
    const due = (await schedules.nextDue()) ?? Number.POSITIVE_INFINITY;
    sleepMs = Math.min(sleepMs, Math.max(0, due - clock.now()));
  }

  async function fireDue(id: string): Promise<void> {
    const now = clock.now();
    const row = await schedules.get(id);
    if (row === null || !row.enabled || row.nextAt === null || row.nextAt > now) return;
    const stored = readSchedule(row);
    const { rule, schedule } = stored;
    const state = { rule, catchUp: schedule.catchUp, nextAt: row.nextAt, lastFire: row.lastFire };
    const fires = dueFires(state, now);
    for (const fire of fires) {
      if (loop.isClosed) return;
      await fireOne(stored, fire);
    }
    if (fires.length === 0) {
      const nextAt = nextFireTime(rule, Math.max(now, row.lastFire ?? now));
      await schedules.put({ ...row, nextAt });
    }
  }

  async function fireOne({ schedule }: StoredSchedule, due: DueFire): Promise<void> {
    const { id } = schedule;
    const { fireTime, nextAt } = due;
    const count = (await schedules.waiting()).filter(({ scheduleId }) => scheduleId === id).length;
    const wanted = outcomeOf(schedule, due, {
      count,
      isLive: (await schedules.liveRun(id)) !== null,
    });
    if (wanted !== "started") {
      await schedules.fire(id, { fireTime, nextAt, outcome: wanted });
      if (wanted !== "queued") {
        const isFull = due.kind === "late" && schedule.catchUp === "all";
        const reason = wanted === "missed" ? wanted : isFull ? "full" : "overlap";
        log.info({ scheduleId: id, fireTime, reason }, "schedule.skipped");
      }
      return;
    }
    const rows = { fire: { scheduleId: id, fireTime, nextAt, outcome: wanted } } as const;
    const result = await startFire(schedule, fireTime, rows, { store, executor });
    if (!("refused" in result) || result.refused === "fired") return;
    if (result.refused === "full") {
      const outcome = count < MAX_CAUGHT_UP ? "queued" : "skipped";
      await schedules.fire(id, { fireTime, nextAt, outcome });
      if (outcome === "skipped") {
        log.info({ scheduleId: id, fireTime, reason: "full" }, "schedule.skipped");
      }
      return;
    }
    log.warn({ scheduleId: id, reason: result.message }, "schedule.error");
    await schedules.fire(id, { fireTime, nextAt, outcome: "error", error: result.message });
  }

  /** Starts the fire of a schedule that has waited longest, if it may. */
  async function startWaiting(id: string): Promise<void> {
    const row = await schedules.get(id);
    const first = (await schedules.waiting()).find(({ scheduleId }) => scheduleId === id);
    if (row === null || first === undefined) return;
    const { schedule } = readSchedule(row);
    const before = caughtUp.get(id);
    const isBlocked =
      schedule.overlap === "allow"
        ? before !== undefined && (await store.runs.live()).includes(before)
        : (await schedules.liveRun(id)) !== null;
    if (!isBlocked) await startOne(schedule, first);
  }

  async function startOne(
    schedule: StoredSchedule["schedule"],
    waiting: WaitingFire,
  ): Promise<void> {
    const result = await startFire(schedule, waiting.fireTime, { waiting }, { store, executor });
    if ("ref" in result) {
      caughtUp.set(schedule.id, result.ref.runId);
      loop.wake(); // the end of a short run may have been announced already
    } else if (result.refused === "full") sleepMs = Math.min(sleepMs, FULL_MS);
    else if (result.refused === "error") {
      log.warn({ scheduleId: schedule.id, reason: result.message }, "schedule.error");
      await schedules.drop(waiting, { outcome: "error", error: result.message });
      loop.wake();
    }
  }

  return {
    start() {
      unlisten ??= store.feed.listen((kinds) => {
        if ((hasWaiting || loop.isBusy) && kinds.includes("summary")) loop.wake();
      });
      loop.start();
    },
    wake: loop.wake,
    close() {
      unlisten?.();
      return loop.close();
    },
  };
}

/** Outcome of a fire time. `count`: how many of its schedule wait; `isLive`: a run of it has not ended. */
function outcomeOf(
  { overlap, catchUp }: StoredSchedule["schedule"],
  { kind }: DueFire,
  { count, isLive }: { readonly count: number; readonly isLive: boolean },
): "started" | "queued" | "skipped" | "missed" {
  if (kind === "missed") return "missed";
  if (kind === "late" && catchUp === "all") return count < MAX_CAUGHT_UP ? "queued" : "skipped";
  if (overlap === "allow" || (count === 0 && !isLive)) return "started";
  return overlap === "queue" && count === 0 ? "queued" : "skipped";
}
