/** The state of a run as the fold of its log: the one truth behind every display. */
import type { Json } from "../json.ts";
import type {
  Counts,
  ErrorInfo,
  Outcome,
  SummaryPayload,
  SummaryUsage,
  ValueRef,
} from "./types.ts";

export type RunState =
  | "pending"
  | "running"
  | "paused"
  | "cancelling"
  | "succeeded"
  | "failed"
  | "cancelled";
export type NodeState =
  | "pending"
  | "running"
  | "retrying"
  | "waiting"
  | "succeeded"
  | "failed"
  | "skipped"
  | "cancelled";

/** One node of a view; keys in canonical order. */
export interface NodeView {
  node: string;
  state: NodeState;
  attempt: number;
  type?: string;
  startedAt?: number;
  endedAt?: number;
  durationMs?: number;
  waitingOn?: string;
  until?: number;
  progress?: { done: number; total?: number; unit?: string };
  ports?: readonly string[];
  output?: Json;
  outputRef?: ValueRef;
  error?: ErrorInfo;
  routed?: string;
  why?: string;
  cached?: true;
  retries: number;
  nextAt?: number;
  checks: { passed: number; failed: number; warned: number };
  /** Last 4,096 units of the latest `generate` call. */
  text?: string;
  textCall?: string;
  tools: number;
}

/** An open model or tool call. */
export interface CallView {
  call: string;
  node: string;
  attempt: number;
  kind: "llm" | "tool";
  name: string;
  startedAt: number;
  texts: { text?: string; reasoning?: string; object?: string };
}

export interface ConfirmationView {
  id: string;
  node: string;
  attempt: number;
  state: "requested" | Outcome;
  prompt: string;
  deadline?: number;
  requestedAt: number;
  resolvedAt?: number;
  by?: string;
}

export interface LogView {
  seq: number;
  ts: number;
  node?: string;
  level: string;
  channel: string;
  text: string;
  code?: string;
}

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
