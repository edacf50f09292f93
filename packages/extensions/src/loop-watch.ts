/**
 * Watches code that runs in this process: that the event loop goes on, and that a body ends when its attempt has. It looks four
 * times a second while something is at work; a call that answers at once costs it nothing, another a place in a set.
 */
import type { ControlContext } from "@millrace/contracts";

const EVERY_MS = 250;
const STILL_MS = 1_000; // shorter ones happen to everybody

/** Reports about code that blocks its loop. */
export interface WatchReports {
  /** The loop stood still for so many milliseconds while something was at work. */
  still(ms: number): void;
  /** A body has gone on for `lateMs` after its attempt ended. */
  late(): void;
}

/** Looks while something is at work, and only then. */
export interface LoopWatch {
  /** A body begins, which may hold the loop. */
  begin(): void;
  /** It has not answered at once. */
  follow(ctx: ControlContext): void;
  end(ctx: ControlContext): void;
  close(): void;
}

export function watchLoop({ still, late }: WatchReports, lateMs: number): LoopWatch {
  const working = new Set<ControlContext>();
  const overSince = new Map<ControlContext, number>();
  let hasWorked = false;
  let last = 0;
  let timer: NodeJS.Timeout | undefined;
  const close = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const look = (): void => {
    const now = performance.now();
    const ms = Math.round(now - last);
    last = now;
    if (ms > STILL_MS && hasWorked) still(ms);
    hasWorked = working.size > 0;
    if (!hasWorked) close();
    for (const ctx of working) {
      if (!isOver(ctx)) continue;
      const since = overSince.get(ctx) ?? now;
      overSince.set(ctx, since);
      if (now - since < lateMs) continue;
      working.delete(ctx);
      overSince.delete(ctx);
      late();
    }
  };
  return {
    begin() {
      hasWorked = true;
      if (timer !== undefined) return;
      last = performance.now();
      timer = setInterval(look, EVERY_MS);
      timer.unref();
    },
    follow(ctx) {
      working.add(ctx);
    },
    end(ctx) {
      working.delete(ctx);
      if (overSince.size > 0) overSince.delete(ctx);
    },
    close,
  };
}

/** After its attempt a context refuses. */
function isOver(ctx: ControlContext): boolean {
  try {
    ctx.now();
    return false;
  } catch {
    return true;
  }
}
