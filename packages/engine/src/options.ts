/** Options of engines and runs. Every port is optional; a missing one fails the node that needs it. */
import type {
  CancelReason,
  CredentialsPort,
  FlowGraph,
  Journal,
  Json,
  JsonObject,
  JsonSchema,
  KeyPort,
  Problem,
  ServiceDefinition,
  Trigger,
} from "@millrace/contracts";
import type { EgressPolicy, FilePolicy, Host, ShellPolicy } from "./host.ts";
import type { Limits } from "./limits.ts";
import type { Setting } from "./shared.ts";

/** Where flows that other flows call come from. Null: there is none. */
export interface SubflowPort {
  get(ref: {
    slug: string;
    version?: number;
    digest?: string;
  }): Promise<{ graph: FlowGraph; digest: string } | null>;
}

/** A cache of node outputs beyond the memory of one engine. A rejection counts as a miss. */
export interface CachePort {
  get(key: string): Promise<{ port: string; output: Json } | undefined>;
  set(key: string, value: { port: string; output: Json }, ttlMs: number): Promise<void>;
}

/** The services that connections may name. */
export interface ServicePort {
  get(slug: string): ServiceDefinition | undefined;
}

/** Options of an engine. Every port is optional; a missing one fails the node that needs it. */
export interface EngineOptions {
  /** Clock, random, network, files, programs; default `createPortableHost()`, on Node `createNodeHost()`. */
  readonly host?: Host;
  /** Absent: a run lives and dies with the process. */
  readonly journal?: Journal;
  /** Absent: what needs a credential fails with `credentials_missing`. */
  readonly credentials?: CredentialsPort;
  /** Settings of packs, such as `aiSettings({ providers })` of `@millrace/ai`. */
  readonly settings?: readonly Setting[];
  readonly services?: ServicePort;
  readonly cache?: CachePort;
  /** Where nodes with a key of concurrency ask for it. Absent: a key bounds the nodes of this engine alone. */
  readonly keys?: KeyPort | undefined;
  /** Network targets that flows may reach; default: public addresses. */
  readonly egress?: EgressPolicy | undefined;
  /** Which files a flow may touch; absent: none (`capability_denied`). */
  readonly files?: FilePolicy | undefined;
  /** Which programs a flow may start; absent: none (`capability_denied`). */
  readonly shell?: ShellPolicy | undefined;
  /** Configuration of adapters by their id, as bodies read it by `ctx.config`. */
  readonly config?: { readonly [adapter: string]: JsonObject };
  /** Nodes at once: of one run (default 64), and of a type in the whole engine. */
  readonly concurrency?: {
    readonly run?: number;
    readonly types?: { readonly [type: string]: number };
  };
  readonly limits?: Partial<Limits>;
  /**
   * Receives what the code of a node or a confirm handler threw, as it was thrown, while the log only names its class: for a debugger, a test, or a
   * service that collects errors. Not called for a try that was stopped. What it throws itself is dropped.
   */
  readonly onError?: ((error: unknown, at: ThrowPlace) => void) | undefined;
  /** Told of every request that nodes make over the network, and names headers to send with it. Default: nobody is. */
  readonly trace?: TracePort | undefined;
  /** Deep-freezes outputs and events, so that a reader that changes one is found. Default false. */
  readonly freeze?: boolean;
  /**
   * Ordinary nodes of a run without a journal take a shorter way through the engine, with the same events. False: every node takes
   * the long one, to compare them. Default true.
   */
  readonly fastLane?: boolean;
}

/** Follows the requests of nodes, for traces. What it throws fails the request. */
export interface TracePort {
  /** A request begins, under the policy that may still refuse it. */
  request(
    at: Pick<ThrowPlace, "runId" | "node" | "attempt">,
    request: {
      readonly method: string;
      readonly url: string;
      readonly headers: { readonly [name: string]: string };
    },
  ): RequestTrace;
}

/** One request that is followed. */
export interface RequestTrace {
  /** Sent with it: its own, and those of the trace. */
  readonly headers: { readonly [name: string]: string };
  /** Called once: with the status when the head of the answer has come, or with the code of what has failed. */
  readonly ended: (outcome: { readonly status: number } | { readonly code: string }) => void;
}

/** Where the code of a node threw. */
export interface ThrowPlace {
  readonly runId: string;
  /** Path of the node. */
  readonly node: string;
  /** Which try, from 1. */
  readonly attempt: number;
  /** Node type whose code it is; of an `ai` node the type of the tool. */
  readonly type: string;
  /** A text without the secrets that the run has read, to write an error down. */
  redact(text: string): string;
}

/** Options of one run; its limits may only lower those of the engine. */
export interface RunOptions {
  /** `[A-Za-z0-9_-]{1,64}`; default `run_` and 26 characters that sort by time. */
  readonly runId?: string | undefined;
  /** Cancels the run with reason `user`. */
  readonly signal?: AbortSignal | undefined;
  /** Asked first for every confirmation. */
  readonly confirm?: ConfirmHandler | undefined;
  /** Default: the flow's policy, else `stop`. */
  readonly onFailure?: "stop" | "finish" | undefined;
  /** Default: the flow's policy, else the limit `wallClockMs`. */
  readonly timeoutMs?: number | undefined;
  /** Nodes at once; default: the flow's policy, else that of the engine. */
  readonly concurrency?: number | undefined;
  /** Default `embed`. */
  readonly trigger?: Trigger | undefined;
  readonly template?: string | undefined;
  readonly tags?: { readonly [name: string]: string } | undefined;
  /** Values that expressions read as `vars`; the journal keeps them with the run. Default none. */
  readonly vars?: JsonObject | undefined;
  /** The environment whose secrets expressions read; the journal keeps it with the run. Default: those of all. */
  readonly environment?: string | undefined;
  /** May only lower the engine's. */
  readonly limits?: Partial<Limits> | undefined;
  /** Runs these nodes and what leads to them; the others are skipped. */
  readonly only?: readonly string[] | undefined;
  /**
   * Results by id of a node of the flow itself: when its turn comes it leaves by `port` (default `out`) with `output`, its body
   * does not run, and its `node.succeeded` says `cached`. For tests and for trying a change without its costly steps.
   */
  readonly pins?:
    | { readonly [node: string]: { readonly port?: string; readonly output: Json } }
    | undefined;
  /**
   * The journal has the run already, as `Engine.header` describes it, and gave this epoch for it: the run is not created again.
   * Not for `resume`, which takes a new epoch.
   */
  readonly created?: { readonly epoch: number } | undefined;
}

/** A confirmation that waits for an answer. */
export interface OpenConfirmation {
  /** `k1`, `k2` … in the order of requests. */
  readonly id: string;
  /** Path of the node. */
  readonly node: string;
  readonly attempt: number;
  readonly prompt: string;
  /** JSON Schema of the value of an approval. */
  readonly schema?: JsonSchema;
  /** Epoch milliseconds at which it expires. */
  readonly deadline?: number;
  readonly requestedAt: number;
}

/** An answer of a person. */
export interface Answer {
  readonly decision: "approve" | "reject";
  readonly value?: Json;
  readonly by?: string;
  readonly comment?: string;
}

/** Whether an answer was taken; if not, the confirmation is as it was. */
export type ConfirmReply =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: "not_found" | "already_resolved" | "confirmation_expired" | "value_invalid";
      readonly problems?: readonly Problem[];
    };

/** Answers a confirmation; `undefined` leaves it open for `Run.confirm`. */
export type ConfirmHandler = (
  confirmation: OpenConfirmation,
) => Answer | undefined | Promise<Answer | undefined>;

/** How a run is cancelled. `graceMs`: how long bodies may take to settle, default the limit `graceMs`. */
export interface RunCancelOptions {
  /** Default `user`. */
  readonly reason?: CancelReason;
  readonly by?: string;
  readonly note?: string;
  readonly graceMs?: number;
}

/** How a run is taken up. */
export interface ResumeOptions {
  /**
   * The run is left whenever it rests (`Run.restsUntil`): one whose log says that it did nothing but wait goes on as if it had not been
   * left, and its clock ran meanwhile. Default false: its log says that it was interrupted.
   */
  readonly wakes?: boolean | undefined;
}

/** How a run is left. */
export interface LeaveOptions {
  /** How long steps whose repetition may do harm have to end, in milliseconds; default 0. Others are stopped at once. */
  readonly graceMs?: number | undefined;
}

/** How an engine ends. */
export interface CloseOptions {
  /** How long bodies may take to settle; default the limit `graceMs`. */
  readonly graceMs?: number;
  /** Stops runs where they are, as if the process were gone, instead of cancelling them. Default false. */
  readonly leave?: boolean;
}
