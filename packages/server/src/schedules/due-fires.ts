/**
 * What a schedule has to fire now: a pure function of its rule, of what it has fired and of the clock.
 *   D1  Every fire time that it names is after the last one that was recorded.
 *   D2  They come in order, and each carries the next one, so whoever records them one by one may stop anywhere.
 */
import { type FireRule, fireTimes, newestFireTimes, nextFireTime } from "./fire-times.ts";

/** How late a fire may be and still count as in time: a busy or sleeping machine misses seconds, not minutes. */
const LATENESS_MS = 60_000;
/** Missed fires that `catchUp: "all"` makes up for; what is older is dropped. */
export const MAX_CAUGHT_UP = 100;

/** What is asked of a schedule. */
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
