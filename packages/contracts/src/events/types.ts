/**
 * The event union, payload keys in wire order. The envelope is `{v, kind, runId, seq, ts[, node, attempt]}`; an absent
 * optional key is omitted, never null, but where null has a meaning.
 */
import type { Diagnostic } from "../diagnostics.ts";
import type { Json, JsonObject, JsonSchema } from "../json.ts";
import type {
  CancelReason,
  DeltaChannel,
  Digest,
  ErrorInfo,
  LogChannel,
  LogLevel,
  Outcome,
  PauseReason,
  ResumeReason,
  Routed,
  SummaryPayload,
  SummaryStatus,
  Trigger,
  Usage,
  ValueRef,
} from "./shapes.ts";
import type { RunViewJson } from "./view.ts";

interface Envelope<K extends string> {
  readonly v: 1;
  readonly kind: K;
  readonly runId: string;
  readonly seq: number;
  /** Epoch milliseconds; never falls within a log. */
  readonly ts: number;
}

interface NodeEnvelope<K extends string> extends Envelope<K> {
  /** Path of the node, such as `pages[3]/get`. */
  readonly node: string;
  /** 1-based try of the node. */
  readonly attempt: number;
}

/** The beginning of every log. */
export interface RunStarted extends Envelope<"run.started"> {
  readonly flow: { readonly id: string; readonly title?: string; readonly hash: Digest };
  /** Top-level nodes only. */
  readonly nodeCount: number;
  readonly onFailure: "stop" | "finish";
  readonly inputs: Digest;
  readonly trigger: Trigger;
  readonly template?: string;
  readonly resumedFrom?: { readonly runId: string; readonly seq: number };
  readonly tags?: { readonly [name: string]: string };
}
/** The run stands still; nothing starts. */
export interface RunPaused extends Envelope<"run.paused"> {
  readonly reason: PauseReason;
  /** All open ones, sorted. */
  readonly confirmations: readonly string[];
}
/** The pause is over. */
export interface RunResumed extends Envelope<"run.resumed"> {
  readonly reason: ResumeReason;
  readonly by?: string;
}
/** The run is being stopped; nothing begins any more. */
export interface RunCancelling extends Envelope<"run.cancelling"> {
  readonly reason: CancelReason;
  readonly by?: string;
  readonly note?: string;
}
/** An attempt of a node begins. */
export interface NodeStarted extends NodeEnvelope<"node.started"> {
  readonly type: string;
  readonly inputs?: Digest;
}
/** An attempt failed and another one follows, after `delayMs`. */
export interface NodeRetrying extends NodeEnvelope<"node.retrying"> {
  readonly error: ErrorInfo;
  readonly delayMs: number;
  /** Always `attempt` + 1. */
  readonly next: number;
}
/** A node waits for an answer, a time, a slot or a child; it holds no slot meanwhile. */
export interface NodeWaiting extends NodeEnvelope<"node.waiting"> {
  readonly on: "confirm" | "timer" | "slot" | "child";
  readonly ids?: readonly string[];
  readonly until?: number;
  readonly key?: string;
}
/** The wait is over. */
export interface NodeResumed extends NodeEnvelope<"node.resumed"> {}
/** How far a node is; `done` never falls within an attempt. */
export interface NodeProgress extends NodeEnvelope<"node.progress"> {
  readonly done: number;
  readonly total?: number;
  readonly unit?: "items" | "iterations" | "bytes";
}
/** A node is done. Exactly one of `output` and `outputRef` is present. */
export interface NodeSucceeded extends NodeEnvelope<"node.succeeded"> {
  /** Exits that fired; absent means `["out"]`. */
  readonly ports?: readonly string[];
  readonly output?: Json;
  readonly outputRef?: ValueRef;
  readonly durationMs: number;
  readonly cached?: true;
  readonly truncated?: number;
}
/** A node has failed for good. An output stands in exactly when `routed` is `default`. */
export interface NodeFailed extends NodeEnvelope<"node.failed"> {
  readonly error: ErrorInfo;
  readonly routed: Routed;
  readonly output?: Json;
  readonly outputRef?: ValueRef;
  readonly durationMs: number;
}
/** A node did not run: nothing led to it, its condition was false, or the run ended. */
export interface NodeSkipped extends NodeEnvelope<"node.skipped"> {
  readonly why: "dead" | "when" | "run_ended";
}
/** A node was stopped, or never began because the run was. */
export interface NodeCancelled extends NodeEnvelope<"node.cancelled"> {
  readonly reason: "run_cancelled" | "run_failed" | "sibling" | "parent";
}
/** One check of `expect` was made. */
export interface NodeChecked extends NodeEnvelope<"node.checked"> {
  readonly index: number;
  readonly check: string;
  readonly pass: boolean;
  readonly level: "error" | "warn";
  readonly detail?: string;
  readonly score?: number;
}
/** A log line; of a node when `node` and `attempt` are present, else of the run. */
export interface Log extends Envelope<"log"> {
  readonly node?: string;
  readonly attempt?: number;
  readonly level: LogLevel;
  readonly channel: LogChannel;
  readonly text: string;
  readonly code?: string;
  readonly data?: JsonObject;
  readonly truncated?: number;
}
/** A model call begins. */
export interface LlmStarted extends NodeEnvelope<"llm.started"> {
  readonly call: string;
  readonly provider: string;
  readonly model: string;
  readonly target: number;
  readonly step: number;
  readonly purpose: "generate" | "repair" | "judge" | "embed";
  readonly audit?: {
    readonly messages: number;
    readonly chars: number;
    readonly hmac?: string;
    readonly ref?: ValueRef;
  };
}
/** A piece of a model's text; never empty. */
export interface LlmDelta extends NodeEnvelope<"llm.delta"> {
  readonly call: string;
  readonly channel: DeltaChannel;
  /** UTF-16 units of this call and channel that came before. */
  readonly offset: number;
  readonly text: string;
  /** Number of journal events this one stands for. */
  readonly merged?: number;
}
/** A model call ended well. */
export interface LlmFinished extends NodeEnvelope<"llm.finished"> {
  readonly call: string;
  readonly finish: "stop" | "length" | "tool_calls" | "content_filter" | "other";
  readonly lengths: {
    readonly text?: number;
    readonly reasoning?: number;
    readonly object?: number;
  };
  readonly usage?: Usage;
  /** Null: the price is unknown. */
  readonly costUsd: number | null;
  readonly firstTokenMs?: number;
  readonly durationMs: number;
}
/** A model call broke; its text is void. */
export interface LlmFailed extends NodeEnvelope<"llm.failed"> {
  readonly call: string;
  readonly reason: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly discarded: number;
  readonly usage?: Usage;
  readonly costUsd?: number | null;
  readonly next: "retry" | "failover" | "none";
}
/** The text of a finished call did not fit; a repair may follow. */
export interface LlmRejected extends NodeEnvelope<"llm.rejected"> {
  readonly call: string;
  readonly problems: readonly { readonly path?: string; readonly message: string }[];
  /** Number of the repair that follows; 0 for none. */
  readonly repair: number;
}
/** A tool call begins. */
export interface ToolStarted extends NodeEnvelope<"tool.started"> {
  readonly call: string;
  readonly tool: string;
  readonly llmCall?: string;
  readonly args?: Json;
  readonly argsRef?: ValueRef;
  readonly argsDigest?: string;
}
/** A tool call ended. */
export interface ToolFinished extends NodeEnvelope<"tool.finished"> {
  readonly call: string;
  readonly outcome: "ok" | "error" | "denied" | "cancelled";
  readonly result?: Json;
  readonly resultRef?: ValueRef;
  readonly resultDigest?: string;
  readonly error?: ErrorInfo;
  readonly durationMs: number;
}
/** A person is asked. */
export interface ConfirmRequested extends NodeEnvelope<"confirm.requested"> {
  readonly id: string;
  readonly prompt: string;
  /** JSON Schema of the answer. */
  readonly schema?: JsonSchema;
  readonly deadline?: number;
  readonly tool?: { readonly call: string; readonly name: string; readonly args?: Json };
}
/** The answer, or its absence. */
export interface ConfirmResolved extends NodeEnvelope<"confirm.resolved"> {
  readonly id: string;
  readonly outcome: Outcome;
  readonly by?: string;
  readonly value?: Json;
  readonly comment?: string;
}
/** The view as an event, made for one reader and never in a journal. */
export interface Snapshot extends Envelope<"snapshot"> {
  readonly view: RunViewJson;
}
/** The last event of every stream, once. */
export interface Summary extends Envelope<"summary">, SummaryPayload {}

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

/** The `kind` of an event. */
export type Kind = ExecutionEvent["kind"];

/** An event of a newer writer: a legal envelope and a kind that this reader does not know. */
export interface UnknownEvent extends Envelope<string> {
  readonly node?: string;
  readonly attempt?: number;
  readonly [key: string]: unknown;
}

/** What a reader gets. */
export type AnyEvent = ExecutionEvent | UnknownEvent;

/** How a run ended; `makeSummary` adds what the fold knows. */
export interface RunEnd {
  readonly status: SummaryStatus;
  readonly ts: number;
  readonly outputs?: { readonly [name: string]: Json };
  readonly outputRefs?: { readonly [name: string]: ValueRef };
  readonly error?: ErrorInfo & { readonly node?: string };
  readonly diagnostics?: readonly Diagnostic[];
}
