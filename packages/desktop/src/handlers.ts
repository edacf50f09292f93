/**
 * How a transport calls the handlers of its window: those of payloads, and those of its state.
 *   H1  What a handler throws goes to `report`, and stops nothing else.
 *   H2  No payload arrives before the caller of `listen` has its answer, nor after `stop`; order holds.
 *   H3  The state goes one way: `connecting`, `open`, `closed`.
 */
import type { OptionNames } from "@millrace/contracts/options";
import type { TransportState } from "./transport.ts";

/** Options of every transport. */
export interface TransportOptions {
  /** Told what a handler has thrown. Default: `reportError` where there is one, else it is an uncaught exception. */
  readonly report?: (error: unknown) => void;
}

export const TRANSPORT_OPTIONS: OptionNames<TransportOptions> = { report: true };

/** Calls a handler with a value and never throws. */
export type CallHandler = <T>(handler: (value: T) => void, value: T) => void;

/** Calls handlers; what one throws goes to `report`. */
export function createHandlerGuard({ report = reportUncaught }: TransportOptions): CallHandler {
  return (handler, value) => {
    try {
      handler(value);
    } catch (error) {
      report(error);
    }
  };
}

function reportUncaught(error: unknown): void {
  const { reportError } = globalThis as { reportError?: (error: unknown) => void };
  if (reportError !== undefined) reportError(error);
  else
    queueMicrotask(() => {
      throw error;
    });
}

/** Payloads on their way to one handler. */
export interface Delivery {
  deliver(payload: unknown): void;
  /** Says that `listen` answers now: what came so far goes out in the next turn, the rest as it comes. */
  begin(): void;
  stop(): void;
}

/** Makes the delivery to a handler; it holds payloads back until `begin`. */
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

/** A state that only its transport moves. */
export interface StateKeeper {
  readonly now: TransportState;
  /** Moves on; a step back is ignored. */
  to(next: TransportState): void;
  watch(handler: (state: TransportState) => void): () => void;
}

const ORDER: readonly TransportState[] = ["connecting", "open", "closed"];

/** Starts at `first`. */
export function createState(first: TransportState, call: CallHandler): StateKeeper {
  let now = first;
  const watchers = new Set<(state: TransportState) => void>();
  return {
    get now() {
      return now;
    },
    to(next) {
      if (ORDER.indexOf(next) <= ORDER.indexOf(now)) return;
      now = next;
      for (const watcher of [...watchers]) call(watcher, next);
    },
    watch(handler) {
      const watcher = (state: TransportState): void => handler(state);
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
  };
}
