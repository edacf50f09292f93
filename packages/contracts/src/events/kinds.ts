/** The closed list of kinds that a writer of version 1 may use. */
import type { Kind } from "./types.ts";

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
