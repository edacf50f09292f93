/**
 * Fire times of a schedule, in epoch milliseconds. They do not depend on the current time.
 *   T1  A local time that a clock change skips fires at the end of the gap; one that comes twice fires the first time.
 *   T2  A pattern of every so many minutes, hours or seconds follows the time that really passes.
 *   T3  `everyMs` counts from the creation of the schedule, whatever was fired since.
 *   D1  Every fire time that it names is after the last one that was recorded.
 *   D2  They come in order, and each carries the next one, so recording them one by one may stop anywhere.
 */
import type { Problem } from "@millrace/contracts";
import { Cron } from "croner";

/** The part of a schedule that says when; exactly one of `cron`, `everyMs` and `at`. */
export interface Timing {
  readonly cron?: string;
  readonly everyMs?: number;
  /** ISO 8601 with a zone. */
  readonly at?: string;
  /** Of `cron`. */
  readonly timezone: string;
}

/** A timing and where its counting begins. */
export interface FireRule {
  readonly timing: Timing;
  /** When the schedule was created. */
  readonly anchor: number;
}

/** How far schedules look ahead: a century. A pattern of leap days is slow to search, and calendars end. */
export const HORIZON_MS: number = 100 * 365.25 * 86_400_000;

const FIELDS = [5, 6]; // minutes first, or seconds first
const MAX_PATTERNS = 1_000; // patterns that are kept read: reading one costs as much as asking it

const patterns = new Map<string, Cron>();

/** The first fire time after `time`; null: it never fires again. */
export function nextFireTime({ timing, anchor }: FireRule, time: number): number | null {
  if (timing.cron !== undefined) {
    return patternOf(timing).nextRun(new Date(time))?.getTime() ?? null;
  }
  if (timing.everyMs !== undefined) {
    const passed = Math.floor((time - anchor) / timing.everyMs);
    return anchor + (Math.max(0, passed) + 1) * timing.everyMs;
  }
  const at = Date.parse(timing.at ?? "");
  return at > time ? at : null;
}

/** Fire times after `from` through `to`, oldest first, at most `limit` of them. */
export function fireTimes(
  rule: FireRule,
  { from, to, limit = Number.POSITIVE_INFINITY }: { from: number; to: number; limit?: number },
): readonly number[] {
  const times: number[] = [];
  for (
    let time = nextFireTime(rule, from);
    time !== null && time <= to && times.length < limit;
    time = nextFireTime(rule, time)
  ) {
    times.push(time);
  }
  return times;
}

/** The newest fire times after `from` and before `to`, at most `limit`, oldest first. */
function newestFireTimes(
  rule: FireRule,
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number },
): readonly number[] {
  const { timing, anchor } = rule;
  if (from >= to - 1) return []; // asked at every fire in time, and looking back is slow
  if (timing.cron !== undefined) {
    const times = patternOf(timing).previousRuns(limit, new Date(to));
    return times
      .map((time) => time.getTime())
      .filter((time) => time > from && time < to)
      .reverse();
  }
  const { everyMs } = timing;
  if (everyMs === undefined) return fireTimes(rule, { from, to: to - 1, limit });
  const last = Math.ceil((to - anchor) / everyMs) - 1;
  const begin = Math.max(from, anchor + (last - limit) * everyMs);
  return fireTimes(rule, { from: begin, to: to - 1, limit });
}

/** The problem of a timing, with its place in the arguments of a command; undefined: none. It must fire after `now`. */
export function timingProblem(rule: FireRule, now: number): Problem | undefined {
  const { timing } = rule;
  if (!isZone(timing.timezone)) {
    return problem("/timezone", 'must be a zone of the IANA database, such as "Europe/Berlin"');
  }
  if (timing.everyMs !== undefined && timing.everyMs > HORIZON_MS) {
    return problem("/everyMs", `must be at most ${HORIZON_MS}`);
  }
  if (timing.cron !== undefined) {
    const fields = timing.cron.trim().split(/\s+/).length;
    if (!FIELDS.includes(fields)) return problem("/cron", "must have five or six fields");
    try {
      patternOf(timing);
    } catch (error) {
      const why = error instanceof Error ? error.message.replace(/^\w+: /, "") : "";
      return problem("/cron", `is no pattern: ${why}`);
    }
  }
  if (nextFireTime(rule, now) !== null) return undefined;
  return timing.at === undefined
    ? problem("/cron", "matches no time there ever is")
    : problem("/at", "is over");
}

function problem(pointer: string, message: string): Problem {
  return { pointer, code: "custom", message };
}

/** Offsets such as +01:00 are no zones: they do not know of clock changes. */
function isZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function patternOf({ cron = "", timezone }: Timing): Cron {
  const key = `${timezone} ${cron}`;
  let pattern = patterns.get(key);
  if (pattern === undefined) {
    pattern = new Cron(cron, {
      timezone,
      paused: true,
      mode: "5-or-6-parts",
      fixedTimeRule: "no-wildcard",
    });
    if (patterns.size >= MAX_PATTERNS) patterns.clear();
    patterns.set(key, pattern);
  }
  return pattern;
}

/** How late a fire may be and still count as in time: a busy or sleeping machine misses seconds, not minutes. */
const LATENESS_MS = 60_000;
/** Missed fires that `catchUp: "all"` makes up for; what is older is dropped. */
export const MAX_CAUGHT_UP = 100;

/** State of a schedule, as needed for its next fire time. */
export interface FireState {
  readonly rule: FireRule;
  readonly catchUp: "skip" | "one" | "all";
  /** The fire time that comes next; it was promised, so it counts as it stands. */
  readonly nextAt: number;
  /** The last one that was recorded. */
  readonly lastFire: number | null;
}

/**
 * A fire time that has come. `missed`: it is dropped, with all before it. `late`: `catchUp` makes up for it. `nextAt`: the one
 * after it, null for none.
 */
export interface DueFire {
  readonly fireTime: number;
  readonly kind: "missed" | "late" | "intime";
  readonly nextAt: number | null;
}

/** The fire times that have come by `now`, oldest first. */
export function dueFires(state: FireState, now: number): readonly DueFire[] {
  const { rule, catchUp, lastFire } = state;
  const from = Math.max(state.nextAt - 1, lastFire ?? Number.NEGATIVE_INFINITY);
  if (state.nextAt > now) return [];
  const inTimeFrom = now - LATENESS_MS; // what falls on it is in time
  const promised = state.nextAt > from ? [state.nextAt] : [];
  const after = Math.max(from, state.nextAt);
  const isInTime = (time: number): boolean => time >= inTimeFrom;

  const keep = catchUp === "all" ? MAX_CAUGHT_UP : 1;
  const late = [
    ...promised.filter((time) => !isInTime(time)),
    ...newestFireTimes(rule, { from: after, to: inTimeFrom, limit: keep + 1 }),
  ];
  const inTime = [
    ...promised.filter(isInTime),
    ...fireTimes(rule, { from: Math.max(after, inTimeFrom - 1), to: now }),
  ];
  const caughtUp = catchUp === "skip" ? [] : late.slice(-keep);
  const dropped = late.at(-1 - caughtUp.length);
  const chosen = [
    ...(dropped === undefined ? [] : [{ fireTime: dropped, kind: "missed" } as const]),
    ...caughtUp.map((fireTime) => ({ fireTime, kind: "late" }) as const),
    ...inTime.map((fireTime) => ({ fireTime, kind: "intime" }) as const),
  ];
  return chosen.map((fire, index) => ({
    ...fire,
    nextAt: chosen[index + 1]?.fireTime ?? nextFireTime(rule, Math.max(now, after)),
  }));
}
