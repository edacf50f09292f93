/** The types that the events of a run and its view have in common. */
import type { Diagnostic } from "../diagnostics.ts";
import type { Json } from "../json.ts";

/** `sha256:` and 64 lower-case hex digits, over canonical JSON. */
export type Digest = string;

/** Why something failed: safe to show, never a stack, prompt, body or secret. */
export interface ErrorInfo {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly status?: number;
  /** Code of the underlying error. */
  readonly cause?: string;
}

/** A value kept beside the log because it is too large for a line. `preview` is the beginning of its JSON text. */
export interface ValueRef {
  readonly ref: string;
  readonly bytes: number;
  readonly mediaType: string;
  readonly preview?: string;
}

/** Token counts of one model call; an unknown count is absent where optional. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

/** Sum over all closed model calls of a run. */
export interface SummaryUsage {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
}

/** Terminal node states, all four keys always. */
export interface Counts {
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  readonly cancelled: number;
}

/** The source of the request that started a run. */
export type Trigger = "cli" | "api" | "schedule" | "webhook" | "desktop" | "embed";
/** Why a run is paused; the list may grow. */
export type PauseReason = "confirmation" | "operator" | "interrupted";
/** Why a run was resumed; the list may grow. */
export type ResumeReason = "confirmation" | "operator" | "recovered";
/** The source of a request to cancel a run; the list may grow. It decides the exit code. */
export type CancelReason = "user" | "timeout" | "sigint" | "sigterm" | "shutdown" | "disconnect";
/** How a confirmation ended; the list is final. */
export type Outcome = "approved" | "rejected" | "expired" | "cancelled";
/** How a failure was handled: not at all (the run fails), by the exit `error`, by a default output, or by the enclosing node. The list is final. */
export type Routed = "none" | "port" | "default" | "parent";
/** Severity of a log line. */
export type LogLevel = "debug" | "info" | "warn" | "error";
/** Source of a log line; the list may grow. */
export type LogChannel = "engine" | "node" | "stdout" | "stderr";
/** Which text of a model call a delta belongs to; the list may grow. */
export type DeltaChannel = "text" | "reasoning" | "object";
/** How a run ended; `invalid`: its flow has errors and nothing ran. The list is final. */
export type SummaryStatus = "succeeded" | "failed" | "cancelled" | "invalid";

/** The fields of a summary without its envelope. */
export interface SummaryPayload {
  readonly status: SummaryStatus;
  readonly outputs: { readonly [name: string]: Json };
  readonly outputRefs?: { readonly [name: string]: ValueRef };
  readonly counts: Counts;
  readonly bodyCounts?: Counts;
  readonly usage: SummaryUsage;
  readonly costUsd: number | null;
  readonly durationMs: number;
  readonly error?: ErrorInfo & { readonly node?: string };
  readonly diagnostics?: readonly Diagnostic[];
  readonly exitCode: number;
}
