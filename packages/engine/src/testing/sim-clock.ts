/**
 * Time that passes only when a test says so.
 *   C1  `now` changes in `advance` alone.
 *   C2  Timers fire in the order of (due, set), each at its own due time, once.
 *   C3  Between two timers every microtask and every `yield` that is pending has run.
 */
import { checkOptions } from "@millrace/contracts/options";
import type { Host } from "../host.ts";
import { createPortableHost } from "../portable-host.ts";
import { createRandom } from "./random.ts";

const DEFAULT_START = 1_750_000_000_000; // 2025-06-15, a plausible time for logs
const DEFAULT_SEED = 7;
const LONGEST_RUN_MS = 400 * 86_400_000; // longer than the longest delay of a flow, 366 days

/** Where a `SimClock` begins, and its chance. */
export interface SimClockOptions {
  /** Epoch milliseconds at which it starts; default 1,750,000,000,000. */
  readonly start?: number;
  /** Source of `random`; default `createRandom(7)`. */
  readonly random?: () => number;
}

/** A `Host` whose time is moved by hand: `createEngine({ host: createSimClock() })`. */
export interface SimClock extends Host {
  /** Timers that are set and have not fired. An engine sets one at most, and leaves it for a while after its own is cancelled. */
  readonly pending: number;
  /** Milliseconds until the next timer, which may wake an engine for nothing; undefined when none is set. */
  readonly nextIn: number | undefined;
  /** Moves time by `ms` and fires what falls due on the way; resolves when everything that follows has settled. */
  advance(ms: number): Promise<void>;
  /** Runs what is pending now, without moving time. */
  settle(): Promise<void>;
  /** Jumps from timer to timer until none is left, at most `limitMs` from now (default 400 days). */
  run(limitMs?: number): Promise<void>;
}

interface SimTimer {
  readonly due: number;
  readonly fire: () => void;
}

/** Makes a clock that stands still. SHA-256 is that of the portable host; there is no network and there are no files. */
export function createSimClock(options: SimClockOptions = {}): SimClock {
  checkOptions("createSimClock", options, { start: true, random: true });
  const { start = DEFAULT_START, random = createRandom(DEFAULT_SEED) } = options;
  const portable = createPortableHost();
  const timers = new Set<SimTimer>();
  let now = start;
  let yields = 0;

  const first = (): SimTimer | undefined => {
    let best: SimTimer | undefined;
    for (const timer of timers) {
      // A set keeps the order of insertion, so among equal due times the first one stays.
      if (best === undefined || timer.due < best.due) best = timer;
    }
    return best;
  };
  // A macrotask comes after all microtasks, so one without a pending yield means that nothing is left to run.
  const settle = async (): Promise<void> => {
    do {
      await new Promise<void>((wake) => portable.yield(wake));
    } while (yields > 0);
  };
  const moveTo = async (end: number): Promise<void> => {
    await settle();
    for (let timer = first(); timer !== undefined && timer.due <= end; timer = first()) {
      timers.delete(timer);
      now = Math.max(now, timer.due);
      timer.fire();
      await settle();
    }
    now = Math.max(now, end);
  };

  return {
    now: () => now,
    random,
    setTimer(fire, ms) {
      const timer = { due: now + Math.max(0, ms), fire };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    yield(fn) {
      yields++;
      portable.yield(() => {
        yields--;
        fn();
      });
    },
    sha256: portable.sha256,
    get pending() {
      return timers.size;
    },
    get nextIn() {
      const timer = first();
      return timer === undefined ? undefined : Math.max(0, timer.due - now);
    },
    advance: (ms) => moveTo(now + ms),
    settle,
    async run(limitMs = LONGEST_RUN_MS) {
      const end = now + limitMs;
      await settle();
      for (let timer = first(); timer !== undefined && timer.due <= end; timer = first()) {
        await moveTo(timer.due);
      }
    },
  };
}
