/** Work in the background: one pass after the other, when it is asked for and when its time has come. */
import type { Host } from "@millrace/engine";
import { atMost } from "../at-most.ts";

/** Passes over what a store has. */
export interface Loop {
  /** Begins with a pass. */
  start(): void;
  /** Asks for a pass, after the present one where there is one. */
  wake(): void;
  /** Begins no more. Resolves when the present pass has ended, or waits for a store that does not write. */
  close(): Promise<void>;
  readonly isBusy: boolean;
  readonly isClosed: boolean;
}

/** How long a close waits for a store that does not write, as on a full disk; what it has not written has not happened. */
const CLOSE_MS = 2_000;

/** Resolves when all of `work` has ended, or waits for a store that does not write. */
export const settled = (work: Iterable<Promise<void> | undefined>): Promise<void> =>
  atMost(CLOSE_MS, Promise.allSettled(work));

/** `pass` never rejects, and resolves to how long to sleep, in milliseconds. */
export function createLoop(clock: Pick<Host, "setTimer">, pass: () => Promise<number>): Loop {
  let isStarted = false;
  let isClosed = false;
  let again = false;
  let working: Promise<void> | undefined;
  let disarm = (): void => {};

  function wake(): void {
    if (!isStarted || isClosed) return;
    again = true;
    working ??= work().finally(() => {
      working = undefined;
      if (again) wake(); // asked for while the last pass was going to sleep
    });
  }

  async function work(): Promise<void> {
    disarm();
    let sleepMs = 0;
    while (again && !isClosed) {
      again = false;
      sleepMs = await pass();
    }
    if (!isClosed) disarm = clock.setTimer(wake, sleepMs);
  }

  return {
    start() {
      isStarted = true;
      wake();
    },
    wake,
    close() {
      isClosed = true;
      disarm();
      return settled([working]);
    },
    get isBusy() {
      return working !== undefined;
    },
    get isClosed() {
      return isClosed;
    },
  };
}
