/** Rarely needed state of an attempt, and the parts with types of their own: context, calls, result. */
import type { Json, ValueRef } from "@millrace/contracts";
import type { Report } from "../node-type.ts";
import type { KeyHold } from "./slots.ts";
import type { Timer } from "./timers.ts";

/** A result of a node. `cached`: it was not made by this attempt. `ref`: it is too large for its event. */
export interface Result {
  port: string;
  output: Json;
  bytes: number;
  cached: boolean;
  ref: ValueRef | null;
}

/** Model and tool calls of one attempt: `calls.ts`. */
export interface AttemptCalls {
  report(report: Report): void;
  /** Takes a delta that nothing is said of yet; false: it is to be reported. */
  gathers(report: Report): boolean;
  /** Ends the calls that were open when the process died. */
  closeRecovered(): void;
  /** Ends every open call: the attempt is over. */
  close(): void;
}

/** The engine as a body sees it: `context.ts`. */
export interface AttemptContext {
  /** Sends the latest progress if it was held back. */
  flushProgress(): void;
  /** It was. */
  readonly heldProgress: boolean;
}

/** Rarely needed state of an attempt, allocated on first use. */
export interface AttemptExtras {
  /** Place among the holders of a key. */
  key: KeyHold | null;
  cacheKey: string | null;
  /** Milliseconds left of the timeout while the node waits for a person. */
  timeLeftMs: number | null;
  /** Timer that ends the wait of a parked node. */
  wait: Timer | null;
  /** Called when a parked node has its slots back. */
  onResume: (() => void)[] | null;
  /** Answers that are there while other questions of the node are open. */
  readonly answers: (() => void)[];
  /** Model and tool calls; null: none. */
  calls: AttemptCalls | null;
  /** Tools that are at work while the body may ask a person. */
  working: number;
  /** Flows among them, which work with slots of their own. */
  flows: number;
  /** The body was entered again and has not come to the place where it was parked: what it says was said before. */
  replaying: boolean;
}

export function createExtras(): AttemptExtras {
  return {
    key: null,
    cacheKey: null,
    timeLeftMs: null,
    wait: null,
    onResume: null,
    answers: [],
    calls: null,
    working: 0,
    flows: 0,
    replaying: false,
  };
}
