/**
 * What may follow what, as data: the machines of a run, a node and a confirmation. `checkLog` judges by these tables and the
 * docs print them; nothing else knows the rules.
 * @see the events page, "State machines"
 */
import type { Kind } from "./types.ts";
import type { NodeState, RunState } from "./view-parts.ts";

/** From a state of the run, by kind, to the next. `summary` goes to its own `status`, one of those listed. */
export const RUN_MACHINE: Readonly<Record<RunState, Partial<Record<Kind, readonly RunState[]>>>> = {
  pending: { "run.started": ["running"] },
  running: {
    "run.paused": ["paused"],
    "run.cancelling": ["cancelling"],
    summary: ["succeeded", "failed"],
  },
  paused: { "run.resumed": ["running"], "run.cancelling": ["cancelling"] },
  cancelling: { summary: ["cancelled"] },
  succeeded: {},
  failed: {},
  cancelled: {},
};

/** The only reason of `run.resumed` that ends a pause for this reason. */
export const RESUME_REASON: Readonly<Record<string, string>> = {
  confirmation: "confirmation",
  operator: "operator",
  interrupted: "recovered",
};

/** Steps of a node: from a state, by kind, to the next. */
export const NODE_MACHINE: Readonly<Record<NodeState, Partial<Record<Kind, NodeState>>>> = {
  pending: {
    "node.started": "running",
    "node.skipped": "skipped",
    "node.cancelled": "cancelled",
  },
  running: {
    "node.retrying": "retrying",
    "node.waiting": "waiting",
    "node.succeeded": "succeeded",
    "node.failed": "failed",
    "node.cancelled": "cancelled",
  },
  retrying: { "node.started": "running", "node.cancelled": "cancelled" },
  waiting: { "node.resumed": "running", "node.cancelled": "cancelled" },
  succeeded: {},
  failed: {},
  skipped: {},
  cancelled: {},
};

/** Events of a node that are no step, and the states in which they are legal. */
export const NODE_REMARKS: Readonly<Partial<Record<Kind, readonly NodeState[]>>> = {
  "node.progress": ["running"],
  "node.checked": ["running"],
  "llm.started": ["running"],
  "llm.delta": ["running"],
  "llm.finished": ["running"],
  "llm.failed": ["running"],
  "llm.rejected": ["running"],
  "tool.started": ["running"],
  "tool.finished": ["running"],
  "confirm.requested": ["running"],
  "confirm.resolved": ["running", "waiting"],
  log: ["running", "waiting"],
};

/** A confirmation is answered once; the answer is its outcome. */
export const CONFIRMATION_MACHINE: {
  readonly requested: readonly ["approved", "rejected", "expired", "cancelled"];
} = { requested: ["approved", "rejected", "expired", "cancelled"] };
