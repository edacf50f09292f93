/** The one assertion that every log of every test passes. */
import { checkLog } from "../events/check-log.ts";
import type { CheckOptions } from "../events/check-state.ts";
import type { AnyEvent } from "../events/types.ts";

/** A message shows so many; the first ones are the cause. */
const SHOWN = 10;

/**
 * Throws an `Error` that lists what a log does wrong, each with its invariant and `seq`; returns when it is legal.
 * `options` are those of `checkLog`.
 */
export function assertLog(events: Iterable<AnyEvent>, options: CheckOptions = {}): void {
  const violations = checkLog(events, options);
  if (violations.length === 0) return;
  const shown = violations
    .slice(0, SHOWN)
    .map(({ invariant, seq, message }) => `  ${invariant} at seq ${seq}: ${message}`);
  const more = violations.length > SHOWN ? [`  and ${violations.length - SHOWN} more`] : [];
  const head = `the log breaks ${violations.length === 1 ? "a rule" : `${violations.length} rules`}:`;
  throw new Error([head, ...shown, ...more].join("\n"));
}
