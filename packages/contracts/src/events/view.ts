/** The state of a run as the fold of its log: the one truth behind every display. */

import type { Growing } from "./sums.ts";
import type { Counts, SummaryUsage } from "./types.ts";
import type {
  CallView,
  ConfirmationView,
  FailureView,
  LogView,
  NodeView,
  RunViewJson,
} from "./view-parts.ts";

/** An open call of a view in memory. */
export interface LiveCall extends Omit<CallView, "texts"> {
  readonly texts: Growing<CallView["texts"]>;
}

/** A node of a view in memory. */
export interface LiveNode extends Growing<NodeView> {
  /** Position of its first appearance. */
  order: number;
}

/** A confirmation of a view in memory. */
export interface LiveConfirmation extends Growing<ConfirmationView> {
  /** Position of its first appearance. */
  order: number;
}

/**
 * The state of a run in memory: what `foldEvents` changes and every display reads. Nodes by path, calls and confirmations
 * by id, each in order of first appearance. A node's `text` may hold up to twice the 4,096 units that JSON gets.
 */
export interface RunView
  extends Growing<
    Omit<RunViewJson, "v" | "nodes" | "confirmations" | "calls" | "logs" | "failures">
  > {
  nodes: Map<string, LiveNode>;
  confirmations: Map<string, LiveConfirmation>;
  /** Open ones only. */
  calls: Map<string, LiveCall>;
  logs: LogView[];
  failures: FailureView[];
  counts: Growing<Counts>;
  bodyCounts: Growing<Counts>;
  usage: Growing<SummaryUsage>;
  /** Settled body nodes that are still in `nodes`, the oldest first. */
  settled: LiveNode[];
  /** Resolved confirmations that are still in `confirmations`, the oldest first. */
  resolved: LiveConfirmation[];
  /** How many nodes and confirmations have appeared. */
  appeared: number;
}
