/**
 * Time that passes only when a test says so, and a wall clock that can be set. Timers follow the time that passes, as those
 * of Node do; setting the clock moves none.
 */
import type { Clock } from "@millrace/server";

/** Timers up to this long are those of the scheduler; it has one while it sleeps, and none while it works. */
const LONGEST_SLEEP_MS = 60_000;

interface Timer {
  readonly due: number;
  readonly ms: number;
  readonly fire: () => void;
}

export interface TestClock extends Clock {
  /** Sets the wall clock, forward or back. */
  set(by: number): void;
  /** Lets time pass; whatever falls due on the way happens, one thing after the other. */
  pass(ms: number): Promise<void>;
  /** Resolves when the scheduler sleeps. */
  asleep(): Promise<void>;
  /** Whether anything waits to wake the scheduler. */
  readonly isArmed: boolean;
}

export function createTestClock(start: number): TestClock {
  const timers = new Set<Timer>();
  const waiting = new Set<() => void>();
  let wall = start;
  let passed = 0;

  const isAsleep = () => [...timers].some(({ ms }) => ms <= LONGEST_SLEEP_MS);
  const first = () => [...timers].sort((a, b) => a.due - b.due)[0];
  const moveTo = (time: number) => {
    wall += time - passed;
    passed = time;
  };
  async function asleep(): Promise<void> {
    while (!isAsleep()) await new Promise<void>((resolve) => waiting.add(resolve));
  }
  return {
    now: () => wall,
    setTimer(fire, ms) {
      const timer = { due: passed + ms, ms, fire };
      timers.add(timer);
      for (const resolve of waiting) resolve();
      waiting.clear();
      return () => void timers.delete(timer);
    },
    set(by) {
      wall += by;
    },
    async pass(ms) {
      const end = passed + ms;
      await asleep();
      for (let timer = first(); timer !== undefined && timer.due <= end; timer = first()) {
        moveTo(timer.due);
        timers.delete(timer);
        timer.fire();
        await asleep();
      }
      moveTo(end);
    },
    asleep,
    get isArmed() {
      return isAsleep();
    },
  };
}
