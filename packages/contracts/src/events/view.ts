/** The state of a run as the fold of its log: the one truth behind every display. */
import type { Json } from "../json.ts";
import type {
  Counts,
  ErrorInfo,
  Outcome,
  SummaryPayload,
  SummaryUsage,
  ValueRef,
} from "./shapes.ts";
import type { Growing } from "./sums.ts";

/** Where a run is. */
export type RunState =
  | "pending"
  | "running"
  | "paused"
  | "cancelling"
  | "succeeded"
  | "failed"
  | "cancelled";
/** Where a node is; closed for ever. */
export type NodeState =
  | "pending"
  | "running"
  | "retrying"
  | "waiting"
  | "succeeded"
  | "failed"
  | "skipped"
  | "cancelled";

/** One node of a view; keys in canonical order. A key whose value is `undefined` counts as absent. */
export interface NodeView {
  node: string;
  state: NodeState;
  attempt: number;
  type?: string | undefined;
  startedAt?: number | undefined;
  endedAt?: number | undefined;
  durationMs?: number | undefined;
  waitingOn?: string | undefined;
  until?: number | undefined;
  progress?: { done: number; total?: number; unit?: string } | undefined;
  ports?: readonly string[] | undefined;
  output?: Json | undefined;
  outputRef?: ValueRef | undefined;
  error?: ErrorInfo | undefined;
  routed?: string | undefined;
  why?: string | undefined;
  cached?: true | undefined;
  retries: number;
  nextAt?: number | undefined;
  checks: { passed: number; failed: number; warned: number };
  /** Last 4,096 units of the latest `generate` call. */
  text?: string | undefined;
  textCall?: string | undefined;
  tools: number;
}

/** An open model or tool call; `name` is the model or the tool. */
export interface CallView {
  call: string;
  node: string;
  attempt: number;
  kind: "llm" | "tool";
  name: string;
  startedAt: number;
  texts: { text?: string; reasoning?: string; object?: string };
}

/** A confirmation; `undefined` counts as absent. */
export interface ConfirmationView {
  id: string;
  node: string;
  attempt: number;
  state: "requested" | Outcome;
  prompt: string;
  deadline?: number | undefined;
  requestedAt: number;
  resolvedAt?: number | undefined;
  by?: string | undefined;
}

/** One of the last 200 log lines. */
export interface LogView {
  seq: number;
  ts: number;
  node?: string;
  level: string;
  channel: string;
  text: string;
  code?: string;
}

/** One of the first 100 failures, caught ones included. */
export interface FailureView {
  node: string;
  attempt: number;
  code: string;
  message: string;
  routed: string;
}

/** The view as JSON: equal views give equal text. */
export interface RunViewJson {
  v: 1;
  runId: string;
  seq: number;
  state: RunState | "invalid";
  startedAt: number | null;
  updatedAt: number;
  flow: { id: string; title?: string; hash: string } | null;
  nodeCount: number;
  onFailure: "stop" | "finish" | null;
  trigger: string | null;
  paused: { reason: string; since: number } | null;
  cancelReason: string | null;
  nodes: NodeView[];
  confirmations: ConfirmationView[];
  calls: CallView[];
  counts: Counts;
  bodyCounts: Counts;
  usage: SummaryUsage;
  costUsd: number | null;
  logs: LogView[];
  warnings: number;
  failures: FailureView[];
  trimmed: number;
  summary: SummaryPayload | null;
}

/** A node of a view in memory. */
export interface LiveNode extends NodeView {
  /** Position of its first appearance. */
  order: number;
}

/** A confirmation of a view in memory. */
export interface LiveConfirmation extends ConfirmationView {
  /** Position of its first appearance. */
  order: number;
}

/**
 * The state of a run in memory: what `foldEvents` changes and every display reads. Nodes by path, calls and confirmations
 * by id, each in order of first appearance. A node's `text` may hold up to twice the 4,096 units that JSON gets.
 */
export interface RunView extends Omit<RunViewJson, "v" | "nodes" | "confirmations" | "calls"> {
  nodes: Map<string, LiveNode>;
  confirmations: Map<string, LiveConfirmation>;
  /** Open ones only. */
  calls: Map<string, CallView>;
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
