/**
 * Payloads on their way to a handler of the window.
 *   D1  None arrives before the caller of `listen` has its answer, and none after `stop`.
 *   D2  Order holds.
 */
import type { CallHandler } from "./report.ts";

/** The way to one handler. */
export interface Delivery {
  deliver(payload: unknown): void;
  /** Says that `listen` answers now: what came so far goes out in the next turn, the rest as it comes. */
  begin(): void;
  stop(): void;
}

/** Makes the way to a handler. */
export function createDelivery(handler: (payload: never) => void, call: CallHandler): Delivery {
  const handle = handler as (payload: unknown) => void;
  let early: unknown[] | undefined = [];
  let stopped = false;
  return {
    deliver(payload) {
      if (stopped) return;
      if (early === undefined) call(handle, payload);
      else early.push(payload);
    },
    begin() {
      // A timer, not a microtask: those of the promise that is being answered come first.
      setTimeout(() => {
        const held = early ?? [];
        early = undefined;
        for (const payload of held) if (!stopped) call(handle, payload);
      }, 0);
    },
    stop() {
      stopped = true;
    },
  };
}
