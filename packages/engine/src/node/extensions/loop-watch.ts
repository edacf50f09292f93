/** Notices that the event loop stood still while code was at work in it. */
const EVERY_MS = 250;
const STILL_MS = 1_000; // shorter ones happen to everybody

/** Looks while something is at work, and only then. */
export interface LoopWatch {
  begin(): void;
  end(): void;
  close(): void;
}

/** Calls `still` with how long the loop stood, in milliseconds, once for each time. */
export function watchLoop(still: (ms: number) => void): LoopWatch {
  let working = 0;
  let last = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const now = performance.now();
    const ms = Math.round(now - last);
    last = now;
    if (ms > STILL_MS) still(ms);
  };
  const close = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    begin() {
      working += 1;
      if (timer !== undefined) return;
      last = performance.now();
      timer = setInterval(look, EVERY_MS);
      timer.unref();
    },
    end() {
      working -= 1;
      if (working > 0) return;
      look();
      close();
    },
    close,
  };
}
