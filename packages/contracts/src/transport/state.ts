/** The state of a transport and who wants to know of it. It goes one way: `connecting`, `open`, `closed`. */
import type { TransportState } from "../channels.ts";
import type { CallHandler } from "./report.ts";

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
