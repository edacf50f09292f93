/** States of a node in a frame, as the numbers of its counters. Terminal ones are the largest. */
export const PENDING = 0;
/** May start: in the ready ring, or queued for a slot. */
export const READY = 1;
export const RUNNING = 2;
export const RETRYING = 3;
export const WAITING = 4;
export const SUCCEEDED = 5;
/** Failed; the default output stands in. */
export const DEFAULTED = 6;
/** Failed, and left by the port `error`. */
export const ROUTED = 7;
export const FAILED = 8;
export const SKIPPED = 9;
export const CANCELLED = 10;

/** Whether a node in this state has ended. */
export function isTerminal(state: number): boolean {
  return state >= SUCCEEDED;
}
