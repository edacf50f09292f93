/** The closed list of kinds that a writer of version 1 may use. */
import type { AnyEvent, ExecutionEvent, Kind } from "./types.ts";

/** Every kind, in the order of the events page. */
export const EVENT_KINDS: readonly Kind[] = [
  "run.started",
  "run.paused",
  "run.resumed",
  "run.cancelling",
  "node.started",
  "node.retrying",
  "node.waiting",
  "node.resumed",
  "node.progress",
  "node.succeeded",
  "node.failed",
  "node.skipped",
  "node.cancelled",
  "node.checked",
  "log",
  "llm.started",
  "llm.delta",
  "llm.finished",
  "llm.failed",
  "llm.rejected",
  "tool.started",
  "tool.finished",
  "confirm.requested",
  "confirm.resolved",
  "snapshot",
  "summary",
];

/** The kind that ends every stream. */
export const TERMINAL_KIND = "summary";

const KNOWN: ReadonlySet<string> = new Set(EVENT_KINDS);

/** Whether an event is of a kind of this version; a newer server may send others, which a reader passes over. */
export function isKnownEvent(event: AnyEvent): event is ExecutionEvent {
  return KNOWN.has(event.kind);
}
