/** Retention by the clock: one pass soon after the start, then one an hour. */
import { checkOptions } from "@millrace/contracts/options";
import type { Store } from "../store.ts";
import type { RetentionLimits, RetentionReport } from "./retention.ts";

/** `limits` is asked before each pass; absent: the defaults. `log` is called after every pass, failed ones included. */
export interface RetentionOptions {
  readonly limits?: () => Partial<RetentionLimits> | Promise<Partial<RetentionLimits>>;
  readonly log?: (outcome: RetentionReport | { readonly error: unknown }) => void;
  /** Between two passes; default one hour. */
  readonly everyMs?: number;
  /** Before the first one; default one minute, so that a process which lives for less than an hour does its part. */
  readonly firstMs?: number;
}

const HOUR_MS = 3_600_000;
const FIRST_MS = 60_000;

/**
 * Begins. The answer ends it; the pass that is under way goes on until its next write after `close`. Keeps no process alive. A
 * pass that fails is tried again at its next time.
 */
export function startRetention(
  store: Pick<Store, "retain">,
  options: RetentionOptions = {},
): () => void {
  const { limits = () => ({}), log, everyMs = HOUR_MS, firstMs = FIRST_MS } = options;
  checkOptions("startRetention", options, { limits, log, everyMs, firstMs });
  let isOver = false;
  let timer: ReturnType<typeof setTimeout>;
  const next = (ms: number): void => {
    timer = setTimeout(pass, ms).unref();
  };
  const pass = async (): Promise<void> => {
    let outcome: Parameters<NonNullable<typeof log>>[0];
    try {
      outcome = await store.retain(await limits());
    } catch (error) {
      outcome = { error };
    }
    if (isOver) return;
    log?.(outcome);
    next(everyMs);
  };
  next(firstMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
