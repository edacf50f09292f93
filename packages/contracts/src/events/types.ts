/**
 * The event union. Payloads are those of the table in `payloads.ts`, keys in wire order. The envelope is
 * `{v, kind, runId, seq, ts[, node, attempt]}`; an absent optional key is omitted, never null, but where null has a meaning.
 */
import type { Infer } from "../shape/index.ts";
import type { counts, errorInfo, summaryUsage, usage, valueRef } from "./parts.ts";
import type { PAYLOADS } from "./payloads.ts";
import type { summaryPart } from "./view-parts.ts";

/** `sha256:` and 64 lower-case hex digits, over canonical JSON. */
export type Digest = string;

/** Why something failed: safe to show, never a stack, prompt, body or secret. */
export interface ErrorInfo extends Infer<typeof errorInfo> {}

/** A value kept beside the log because it is too large for a line. `preview` is the beginning of its JSON text. */
export interface ValueRef extends Infer<typeof valueRef> {}

/** Token counts of one model call; an unknown count is absent where optional. */
export interface Usage extends Infer<typeof usage> {}

/** Sum over all closed model calls of a run. */
export interface SummaryUsage extends Infer<typeof summaryUsage> {}

/** Terminal node states, all four keys always. */
export interface Counts extends Infer<typeof counts> {}

/** The fields of a summary without its envelope. */
export interface SummaryPayload extends Infer<typeof summaryPart> {}

/** The `kind` of an event. */
export type Kind = keyof typeof PAYLOADS;

interface Envelope<K extends string> {
  readonly v: 1;
  readonly kind: K;
  readonly runId: string;
  readonly seq: number;
  /** Epoch milliseconds; never falls within a log. */
  readonly ts: number;
}

interface NodePlace {
  /** Path of the node, such as `pages[3]/get`. */
  readonly node: string;
  /** 1-based try of the node. */
  readonly attempt: number;
}

type Place<K> = K extends `run.${string}` | "snapshot" | "summary"
  ? unknown
  : K extends "log"
    ? Partial<NodePlace>
    : NodePlace;

type EventOfKind<K extends Kind> = Envelope<K> & Place<K> & Infer<(typeof PAYLOADS)[K]>;

/** The beginning of every log. */
export interface RunStarted extends EventOfKind<"run.started"> {}
/** The run stands still; nothing starts. */
export interface RunPaused extends EventOfKind<"run.paused"> {}
/** The pause is over. */
export interface RunResumed extends EventOfKind<"run.resumed"> {}
/** The run is being stopped; nothing begins any more. */
export interface RunCancelling extends EventOfKind<"run.cancelling"> {}
/** An attempt of a node begins. */
export interface NodeStarted extends EventOfKind<"node.started"> {}
/** An attempt failed and another one follows, after `delayMs`. */
export interface NodeRetrying extends EventOfKind<"node.retrying"> {}
/** A node waits for an answer, a time, a slot or a child; it holds no slot meanwhile. */
export interface NodeWaiting extends EventOfKind<"node.waiting"> {}
/** The wait is over. */
export interface NodeResumed extends EventOfKind<"node.resumed"> {}
/** How far a node is; `done` never falls within an attempt. */
export interface NodeProgress extends EventOfKind<"node.progress"> {}
/** A node is done. Exactly one of `output` and `outputRef` is present. */
export interface NodeSucceeded extends EventOfKind<"node.succeeded"> {}
/** A node has failed for good. An output stands in exactly when `routed` is `default`. */
export interface NodeFailed extends EventOfKind<"node.failed"> {}
/** A node did not run: nothing led to it, its condition was false, or the run ended. */
export interface NodeSkipped extends EventOfKind<"node.skipped"> {}
/** A node was stopped, or never began because the run was. */
export interface NodeCancelled extends EventOfKind<"node.cancelled"> {}
/** One check of `expect` was made. */
export interface NodeChecked extends EventOfKind<"node.checked"> {}
/** A log line; of a node when `node` and `attempt` are present, else of the run. */
export interface Log extends EventOfKind<"log"> {}
/** A model call begins. */
export interface LlmStarted extends EventOfKind<"llm.started"> {}
/** A piece of a model's text; never empty. */
export interface LlmDelta extends EventOfKind<"llm.delta"> {}
/** A model call ended well. */
export interface LlmFinished extends EventOfKind<"llm.finished"> {}
/** A model call broke; its text is void. */
export interface LlmFailed extends EventOfKind<"llm.failed"> {}
/** The text of a finished call did not fit; a repair may follow. */
export interface LlmRejected extends EventOfKind<"llm.rejected"> {}
/** A tool call begins. */
export interface ToolStarted extends EventOfKind<"tool.started"> {}
/** A tool call ended. */
export interface ToolFinished extends EventOfKind<"tool.finished"> {}
/** A person is asked. */
export interface ConfirmRequested extends EventOfKind<"confirm.requested"> {}
/** The answer, or its absence. */
export interface ConfirmResolved extends EventOfKind<"confirm.resolved"> {}
/** The view as an event, made for one reader and never in a journal. */
export interface Snapshot extends EventOfKind<"snapshot"> {}
/** The last event of every stream, once. */
export interface Summary extends EventOfKind<"summary"> {}

/** Every event that a writer may make, told apart by `kind`. */
export type ExecutionEvent =
  | RunStarted
  | RunPaused
  | RunResumed
  | RunCancelling
  | NodeStarted
  | NodeRetrying
  | NodeWaiting
  | NodeResumed
  | NodeProgress
  | NodeSucceeded
  | NodeFailed
  | NodeSkipped
  | NodeCancelled
  | NodeChecked
  | Log
  | LlmStarted
  | LlmDelta
  | LlmFinished
  | LlmFailed
  | LlmRejected
  | ToolStarted
  | ToolFinished
  | ConfirmRequested
  | ConfirmResolved
  | Snapshot
  | Summary;

/** Events of a family: `EventOf<"node">` is every `node.…`. */
export type EventOf<F extends string> = Extract<
  ExecutionEvent,
  { readonly kind: `${F}.${string}` }
>;

/** The source of the request that started a run. */
export type Trigger = RunStarted["trigger"];
/** Why a run is paused; the list may grow. */
export type PauseReason = RunPaused["reason"];
/** Why a run was resumed; the list may grow. */
export type ResumeReason = RunResumed["reason"];
/** The source of a request to cancel a run; the list may grow. It decides the exit code. */
export type CancelReason = RunCancelling["reason"];
/** How a confirmation ended; the list is final. */
export type Outcome = ConfirmResolved["outcome"];
/** How a failure was handled: not at all (the run fails), by the exit `error`, by a default output, or by the enclosing node. The list is final. */
export type Routed = NodeFailed["routed"];
/** Severity of a log line. */
export type LogLevel = Log["level"];
/** Source of a log line; the list may grow. */
export type LogChannel = Log["channel"];
/** Which text of a model call a delta belongs to; the list may grow. */
export type DeltaChannel = LlmDelta["channel"];
/** How a run ended; `invalid`: its flow has errors and nothing ran. The list is final. */
export type SummaryStatus = SummaryPayload["status"];

/** An event of a newer writer: a legal envelope and a kind that this reader does not know. */
export interface UnknownEvent extends Envelope<string>, Partial<NodePlace> {
  readonly [key: string]: unknown;
}

/** Every event that a reader may get. */
export type AnyEvent = ExecutionEvent | UnknownEvent;

/** How a run ended; `makeSummary` adds what the fold knows. */
export interface RunEnd
  extends Pick<SummaryPayload, "status" | "outputRefs" | "error" | "diagnostics"> {
  readonly ts: number;
  readonly outputs?: SummaryPayload["outputs"];
}
