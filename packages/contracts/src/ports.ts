/** Ports between the engine and what surrounds it: storage, execution, credentials, channels of the desktop. */
import type { CancelReason, ExecutionEvent } from "./events/types.ts";
import type { AbortSignalLike } from "./extend/context.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Page } from "./schemas/common.ts";
import type { FlowGraph } from "./schemas/graph.ts";
import type {
  Job,
  Model,
  ModelEngine,
  ModelInstallArgs,
  ModelLoadOptions,
  ModelState,
  ModelsFrame,
} from "./schemas/model.ts";
import type { Run, RunFilter, RunRef, RunSource, RunSummary } from "./schemas/run.ts";
import type { AuthScheme } from "./service.ts";

/** One event as it is kept and sent: `line` is `serialiseEvent(event)` in UTF-8. */
export interface StoredEvent {
  readonly seq: number;
  readonly kind: string;
  readonly line: Uint8Array;
}

/** An event with its bytes; encoded once, shared by store and readers. */
export interface EncodedEvent extends StoredEvent {
  readonly event: ExecutionEvent;
}

/** The row of a run, written before its first event: all that another process needs to start the run. */
export interface RunHeader {
  readonly runId: string;
  readonly planDigest: string;
  /** As `run.started` will say it. */
  readonly flowHash?: string;
  readonly graph: FlowGraph;
  /** Flows that it calls, at any depth, by the text that names them; absent: none. */
  readonly flows?: { readonly [text: string]: FlowGraph };
  readonly inputs: Json;
  readonly trigger: string;
  readonly template?: string | undefined;
  readonly templateVersion?: number | undefined;
  readonly tags?: { readonly [name: string]: string } | undefined;
  /** Source that fired it. */
  readonly source?: RunSource | undefined;
  /** Token of the caller that started it. */
  readonly tokenId?: string | undefined;
  /** The run that this one repeats. */
  readonly retryOf?: string | undefined;
  readonly options?: RunHeaderOptions;
}

/** Settings of one run that are kept for a start or a resume in another process. */
export interface RunHeaderOptions {
  readonly timeoutMs?: number | undefined;
  /** Reaction to the first failure, and the number of nodes at once; absent: as the flow says. */
  readonly onFailure?: "stop" | "finish" | undefined;
  readonly concurrency?: number | undefined;
  /** Answers every confirmation at once; absent: a person is asked. */
  readonly confirm?: "approve" | "reject" | undefined;
  /** With `retryOf`: nodes to run again, with all that follows them; absent: those that had not succeeded. */
  readonly from?: readonly string[] | undefined;
  /** Values that the flow reads as `vars`, as of the request for the run. */
  readonly vars?: JsonObject | undefined;
  /** The environment whose secrets it reads; absent: those of all. */
  readonly environment?: string | undefined;
  /** With `retryOf`: also the failed items of a `map` that collected its errors. */
  readonly failedItems?: true | undefined;
  /** The span that has started it, in the form of the header `traceparent`; absent: none is known, or nothing is traced. */
  readonly traceparent?: string | undefined;
}

/**
 * Rows that are committed with the row of a run, or not at all: whoever asks twice, or fires twice, gets one run.
 * `request`: an idempotency key, whose answer is the `RunRef`; a key that is taken rejects with `key_used`. `fire`: a fire
 * time of a schedule, which moves on to `nextAt`; one that has fired, or a schedule that is gone, rejects with `already_fired`.
 * Times are epoch milliseconds.
 */
export interface StartRows {
  readonly request?: {
    readonly scope: string;
    readonly key: string;
    /** SHA-256 of the arguments. */
    readonly fingerprint: Uint8Array;
    /** How long it is remembered, in milliseconds; default 24 hours. */
    readonly ttlMs?: number;
  };
  readonly fire?: {
    readonly scheduleId: string;
    readonly fireTime: number;
    readonly outcome: "started" | "queued";
    /** When the schedule is due again; null: never. */
    readonly nextAt: number | null;
  };
  /** A fire time that was recorded as queued, and starts now; one that does not wait any more rejects with `already_fired`. */
  readonly waiting?: { readonly scheduleId: string; readonly fireTime: number };
  /** Hash of the signature of a webhook call, remembered for `ttlMs` milliseconds; a known one rejects with `signature_used`. */
  readonly signature?: { readonly hash: string; readonly ttlMs: number };
}

/** A node that asks for a key, or has it. */
export interface KeyHolder {
  readonly runId: string;
  /** Its path. */
  readonly node: string;
}

/** A place among those who have a key or wait for it. Nothing of it rejects. */
export interface KeyPlace {
  /** Whether the holder has the key at once; false: it waits. */
  readonly first: Promise<boolean>;
  /** Resolves when the holder has the key. */
  readonly granted: Promise<void>;
  /** Gives the key back, or waits no longer. */
  release(): void;
  /** The run is left: it waits no longer, and keeps a key that it has for whoever drives it next. */
  leave(): void;
}

/**
 * Who may work at the same time under one key, where several engines work. A key has as many holders as the lowest `max` of those who
 * have it or wait for it; who waits first has it first.
 */
export interface KeyPort {
  /**
   * Asks for a key. A holder that has it already, because an engine that is gone had asked, has it at once. `heldBefore`: the node is
   * at work again and is not refused, even when others have the key meanwhile.
   */
  claim(
    key: string,
    holder: KeyHolder,
    options: { readonly max: number; readonly heldBefore: boolean },
  ): KeyPlace;
  /** Called before a run is driven anew: of the keys that it had it keeps those of `nodes`, which have not ended. */
  resume(runId: string, nodes: readonly string[]): Promise<void>;
}

/** Input of `resume`: header, whole log, values of finished steps. */
export interface ResumeState extends RunHeader {
  readonly events: readonly StoredEvent[];
  readonly steps: { readonly [key: string]: Json };
  readonly privateValues: { readonly [key: string]: Json };
}

/**
 * Append-only storage of run logs. `expectedSeq` is the last stored `seq`; another value, or a stale `epoch`, rejects
 * with `lease_lost` and nothing is written.
 */
export interface Journal {
  create(header: RunHeader): Promise<{ epoch: number }>;
  append(
    runId: string,
    expectedSeq: number,
    events: readonly EncodedEvent[],
    options: { epoch: number; sync: boolean },
  ): Promise<void>;
  /** Pages of at most 512, in order, from `after` + 1 to what is stored now. */
  read(runId: string, after: number): AsyncIterable<readonly StoredEvent[]>;
  /**
   * Keeps a value and answers its `sha256:` reference. `private`: sealed, for `load` alone, and deleted with the `summary`;
   * with `kept` it stays as long as the log.
   */
  putValue(
    runId: string,
    key: string,
    value: Json,
    options?: { private?: boolean; kept?: boolean },
  ): Promise<string>;
  getValue(runId: string, ref: string): Promise<Json | undefined>;
  /** `private` false: without the private values, also where they can no longer be opened; secret inputs read `[redacted]`. */
  load(runId: string, options?: { private?: boolean }): Promise<ResumeState | null>;
  /**
   * Makes `owner` the one who may append, for `ttlMs`, under a new epoch; null: a live owner has the run. The owner that has it
   * renews it by the same call and keeps its epoch.
   */
  lease(runId: string, owner: string, ttlMs: number): Promise<{ epoch: number } | null>;
  release(runId: string, epoch: number): Promise<void>;
  /**
   * Calls `told` with true when what is written has to wait for room, and with false when there is room again, until the answer is
   * called. `problem`: why, for the log of an operator. Absent: a journal that never waits for room.
   */
  watchRoom?(told: (isFull: boolean, problem?: string) => void): () => void;
}

/** A resolved credential; `toJSON` and inspection give `[redacted]`. */
export interface ServiceCredential {
  readonly scheme: AuthScheme;
  readonly scopes: readonly string[];
  reveal(): string;
}

/** How a credential is asked for. `service`: what the flow says the connection is of; it counts where no record does. */
export interface CredentialOptions {
  readonly signal: AbortSignalLike;
  readonly service?: string;
}

/** Where a run gets credentials from; the engine never sees a store. */
export interface CredentialsPort {
  /** A fresh credential of a connection slug. */
  resolve(connection: string, options: CredentialOptions): Promise<ServiceCredential>;
  /** Another one after `rejected` was answered with 401. */
  renew(
    connection: string,
    rejected: ServiceCredential,
    options: CredentialOptions,
  ): Promise<ServiceCredential>;
  /** Told when a renewed credential was answered with 401 as well: somebody has to connect again. */
  refused?(connection: string, credential: ServiceCredential): void;
  /** `ai:<name>`, `secret:<name>` or `secret:<environment>/<name>` for what a flow reads as `secrets`, and granted extension secrets. */
  secret(name: string): Promise<string | undefined>;
}

/** A run to start: a graph with inputs and the caller's options. */
export interface RunSpec extends RunHeaderOptions {
  readonly graph: FlowGraph;
  readonly inputs: { readonly [name: string]: Json };
  readonly runId?: string | undefined;
  readonly trigger: string;
  readonly template?: { readonly slug: string; readonly version: number } | undefined;
  readonly tags?: { readonly [name: string]: string } | undefined;
  /** Source that fired it. */
  readonly source?: RunSource | undefined;
  /** Token of the caller that starts it. */
  readonly tokenId?: string | undefined;
  /** The run whose results are taken over where they still hold. */
  readonly retryOf?: string | undefined;
}

/** Problem with one place of a value, as JSON Pointer and sentence. */
export interface Problem {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** Something that a person or operator tells a live run. */
export type RunSignal =
  | {
      readonly kind: "confirm";
      readonly id: string;
      readonly decision: "approve" | "reject";
      readonly value?: Json;
      readonly comment?: string;
      readonly by: string;
    }
  | { readonly kind: "pause"; readonly by: string }
  | { readonly kind: "resume"; readonly by: string };

/** Whether a live run took a signal; if not, `code` says why and nothing has changed. */
export type SignalResult =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code:
        | "not_found"
        | "already_resolved"
        | "confirmation_expired"
        | "value_invalid"
        | "state_conflict";
      readonly outcome?: string;
      readonly problems?: readonly Problem[];
    };

/** Options of `Executor.cancel`. `note`: a remark of the caller; `graceMs`: how long bodies may take to settle. */
export interface CancelOptions {
  readonly reason: CancelReason;
  readonly by?: string;
  readonly note?: string;
  readonly graceMs?: number;
}

/** One page of runs that fit a filter, newest first. `limit` 1 to 200. */
export interface RunQuery extends RunFilter {
  readonly limit: number;
  readonly cursor?: string;
}

/** Outcome of `Executor.recover` for the runs of an ended process. `parked`: they wait for a person. */
export interface RecoveryReport {
  readonly resumed: number;
  readonly parked: number;
  readonly failed: number;
  readonly ms: number;
}

/** Runs flows and keeps them: what server and command line see of engine and journal. */
export interface Executor {
  /** `restate`, or the store that it works on: `sqlite` is `local` of the setting `serve.executor`. */
  readonly kind: "memory" | "sqlite" | "postgres" | "restate";
  /** Whether `recover` is under way; absent: no. */
  readonly recovering?: boolean;
  /**
   * Durable when resolved, with all of `rows`. Rejects by code: `run_exists` for a `runId` that is taken, and as `StartRows`
   * says.
   */
  start(spec: RunSpec, rows?: StartRows): Promise<RunRef>;
  signal(runId: string, signal: RunSignal): Promise<SignalResult>;
  /** Resolves when the cancel is recorded; the run ends on its own. */
  cancel(runId: string, options: CancelOptions): Promise<Run>;
  /** Batches from `after` + 1 (default 0) through `summary`, which ends the iteration. */
  attach(
    runId: string,
    options?: { after?: number; signal?: AbortSignalLike },
  ): AsyncIterable<readonly StoredEvent[]>;
  get(runId: string): Promise<Run | null>;
  list(query: RunQuery): Promise<Page<RunSummary>>;
  /** Takes over what a process left behind; once, before anything else is served. */
  recover(): Promise<RecoveryReport>;
  /** `graceMs`: how long runs may go on; default 0. */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * The port behind the model commands; `get` and what takes an id throw `not_found`. `scan` and `install` have made their job,
 * which `jobs` lists, when they return; a scan under way is joined.
 */
export interface ModelManager {
  /** Resolves when the first scan has ended, whatever it found; before that `list` knows what the last process knew. */
  readonly scanned: Promise<void>;
  scan(options?: { signal?: AbortSignalLike }): Promise<{
    count: number;
    skipped: readonly { file: string; reason: string }[];
    ms: number;
  }>;
  list(filter?: { state?: ModelState }): readonly Model[];
  get(id: string): Model;
  install(request: ModelInstallArgs): Job;
  cancelJob(jobId: string): Job;
  jobs(): readonly Job[];
  load(id: string, options?: ModelLoadOptions): Promise<Model>;
  unload(id: string, options?: { force?: boolean }): Promise<Model>;
  /** A loaded model is `in_use` unless `force`. */
  remove(id: string, options?: { force?: boolean }): Promise<void>;
  engines(): readonly ModelEngine[];
  fetchEngine(id: string): Job;
  /** Loads if needed, and pins the model until `release`. */
  acquire(id: string, signal?: AbortSignalLike): Promise<ModelLease>;
  close(): Promise<void>;
}

/** An OpenAI-compatible endpoint on loopback, for as long as it is held. */
export interface ModelLease {
  readonly baseUrl: string;
  readonly token: string;
  release(): void;
}

/** Payload of each desktop channel. The names are the specification's. @see specification, "Events" */
export type ChannelMap = { "flow:execution": ExecutionEvent } & {
  [F in ModelsFrame as F["channel"]]: F["payload"];
};

/** The name of a desktop channel. */
export type Channel = keyof ChannelMap;

/** Where events are emitted to; never throws, never blocks. */
export interface EventSink {
  emit<C extends Channel>(channel: C, payload: ChannelMap[C]): void;
}
