/** Runs as commands show them. Times are ISO 8601 UTC; only events count in epoch milliseconds. */
import type { Digest, Outcome, SummaryPayload, Trigger } from "../../events/shapes.ts";
import type { NodeState, RunState } from "../../events/view.ts";
import type { FlowGraph } from "../../graph.ts";
import type { Json, JsonSchema } from "../../json.ts";

/** One page of a list. `nextCursor` null: this was the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** Which page: `limit` 1 to 200 (default 50), `cursor` as the page before gave it. */
export interface PageArgs {
  readonly limit?: number;
  readonly cursor?: string;
}

/** `name: value` pairs of a run, at most 16, each side at most 128 characters. */
export interface Tags {
  readonly [name: string]: string;
}

/** How a run is started; everything is optional. */
export interface RunRequestOptions {
  /** `[A-Za-z0-9_-]{1,64}`; taken: `already_exists`. Default: a new `run_…`. */
  readonly runId?: string;
  /** May only lower the server's limit. */
  readonly timeoutMs?: number;
  /** What happens when the reader of `POST /api/run` leaves; default `cancel`. */
  readonly onDisconnect?: "cancel" | "continue";
  /** Answers every confirmation at once, or asks a person (default). */
  readonly confirm?: "ask" | "approve" | "reject";
  /** Kinds of events to send; `run.started`, `run.cancelling`, `snapshot` and `summary` always pass. */
  readonly events?: readonly string[];
  readonly tags?: Tags;
}

/** What to run: exactly one of `graph`, `template` (a slug) and `dsl` (text). @see specification, "Run request" */
export interface RunRequest {
  readonly graph?: FlowGraph;
  readonly template?: string;
  /** Of the template; default the newest. */
  readonly version?: number;
  readonly dsl?: string;
  readonly inputs?: { readonly [name: string]: Json };
  readonly options?: RunRequestOptions;
}

/** A run that was accepted. */
export interface RunRef {
  readonly runId: string;
  readonly status: RunState;
}

/** The stored flow that a run was started from. */
export interface RunTemplate {
  readonly slug: string;
  readonly version: number;
}

/** What fired a run that nobody started by hand. */
export type RunSource =
  | { readonly scheduleId: string; readonly fireTime: string }
  | { readonly webhookId: string };

/** A run without its nodes. */
export interface RunSummary {
  readonly runId: string;
  readonly status: RunState;
  readonly flow: { readonly id: string; readonly title?: string; readonly hash: Digest };
  readonly template: RunTemplate | null;
  readonly trigger: Trigger;
  readonly source?: RunSource;
  readonly tags: Tags;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly lastSeq: number;
  /** The run that this one repeats. */
  readonly retryOf: string | null;
  /** Present once the run has ended: outputs, counts, usage, error. */
  readonly summary: SummaryPayload | null;
}

/** A run. `nodes` by path; `confirmations` in the order in which they were requested. */
export interface Run extends RunSummary {
  readonly nodes: {
    readonly [path: string]: { readonly state: NodeState; readonly attempt: number };
  };
  readonly confirmations: readonly Confirmation[];
}

/** A question to a person. `id` is that of the event and unique in its run. */
export interface Confirmation {
  readonly id: string;
  readonly runId: string;
  /** Path of the node that asks. */
  readonly node: string;
  readonly status: "requested" | Outcome;
  readonly prompt: string;
  /** JSON Schema of `value`; empty: any. */
  readonly schema: JsonSchema;
  readonly deadline: string | null;
  /** The tool call that waits for the answer. */
  readonly tool?: { readonly call: string; readonly name: string; readonly args?: Json };
  readonly by?: string;
  readonly value?: Json;
  readonly comment?: string;
}

/** A value that was too large for its event. `base64` holds the bytes. */
export interface RunBlob {
  readonly digest: Digest;
  readonly mediaType: string;
  readonly bytes: number;
  readonly base64: string;
}
