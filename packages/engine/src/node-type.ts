/**
 * What the engine runs: a catalog entry and a body. Extensions write definitions (`defineNodeType`, `defineAction`), which
 * become this; core types are written as this, because some of them open bodies, wait on timers or read the plan.
 */
import type {
  CatalogEntry,
  ConfirmAnswer,
  ConfirmRequested,
  ControlContext,
  Effect,
  ErrorInfo,
  FetchLike,
  FieldFinding,
  FlowInput,
  FlowNode,
  Json,
  JsonObject,
  JsonSchema,
  LlmDelta,
  LlmFailed,
  LlmFinished,
  LlmRejected,
  LlmStarted,
  NodeChecked,
  ToolFinished,
  ToolStarted,
  ValueRef,
} from "@millrace/contracts";
import type { ServiceLink, ServiceOf } from "./connections/link.ts";
import type { CheckedInputs } from "./inputs.ts";
import type { Limits } from "./limits.ts";
import type { Shared, SharedKey } from "./shared.ts";

/** Fields of one attempt, evaluated; a deferred field is a function of its extra roots. */
export type Fields = { readonly [name: string]: unknown };

/** A field that the body evaluates itself, such as `loop.until`: takes the extra roots, throws what the expression throws. */
export interface DeferredField {
  (roots: JsonObject): Json;
  /** Of a list, each element as a field of its own; `undefined` where there is nothing to evaluate. */
  readonly elements?: readonly (DeferredField | undefined)[];
}

/** Permissions that the operator granted to the package of a type. */
export interface Grants {
  /** Hosts, as `name`, `*.name` or `name:port`. */
  readonly net: readonly string[];
  /** Absolute folders, with `/`. */
  readonly files: { readonly read: readonly string[]; readonly write: readonly string[] };
  /** Programs of the operator's list. */
  readonly spawn: readonly string[];
  readonly secrets: readonly string[];
}

/** A node type as the engine holds it. */
export interface NodeType {
  readonly entry: CatalogEntry;
  /** Answers the record (port `out`) or `exit(port, record)`, now or as a promise. */
  readonly run: (fields: Fields, ctx: CoreContext) => unknown;
  /** Findings about literal fields before a run; `source`: the fields as the flow writes them. */
  readonly check?: (
    fields: Fields,
    source: FlowNode["fields"],
  ) => readonly FieldFinding[] | Promise<readonly FieldFinding[]>;
  /** Effect of one node where it depends on its fields; absent: that of the entry. */
  readonly effectOf?: (fields: Fields, serviceOf: ServiceOf) => Effect;
  /** Whether the same key twice has one effect, where that depends on the fields. */
  readonly idempotentOf?: (fields: Fields, serviceOf: ServiceOf) => boolean;
  /** Nodes of the type at once in an engine, unless `concurrency.types` says otherwise. `none`: a node holds no slot, because its bodies do. */
  readonly slots?: number | "none";
  /** The body applies the policy's `timeoutMs` itself, instead of the attempt. */
  readonly ownsTimeout?: true;
  /** The body checks its fields itself; else evaluated fields are checked against the schema (`field_invalid`). */
  readonly checksFields?: true;
  /** The body asks for `liveSources`. */
  readonly wantsSources?: true;
  /** Core code: a throw without a meaning is `internal`, and the output needs no check against its schema. */
  readonly core?: true;
  /** Permissions of its code; absent: all that the engine has. Types with grants have the limits of extensions. */
  readonly grants?: Grants;
  /** `entry` may be another one later, with another state. */
  readonly changes?: true;
  /** `check` and `run` are code of others, which is loaded when it is asked for. */
  readonly foreign?: true;
  /** Ports beside `out` that a record makes live; a type that has them leaves by `out`. */
  readonly furtherPorts?: (output: Json) => readonly string[];
  /** The adapter whose configuration the body reads as `ctx.config`. */
  readonly adapter?: string;
  /** Checks and completes fields of a schema that is more than JSON Schema; throws what is wrong. */
  readonly parseFields?: (fields: Fields) => Fields;
  /** The same for the output: what is wrong with it, or null. */
  readonly outputProblem?: (output: Json) => string | null;
}

/** An error as the engine passes it on: the part that events show, and the part that retries need. */
export interface Failure {
  readonly info: ErrorInfo;
  readonly reason?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** False when nothing can have reached the other side. */
  readonly sent?: boolean | undefined;
}

/** How a body or a flow within a node ended. */
export type BodyEnd =
  | { readonly status: "succeeded"; readonly value: Json }
  | { readonly status: "failed"; readonly failure: Failure }
  | { readonly status: "cancelled" };

/** A flow that a node runs as a tool. */
export interface FlowCall {
  readonly end: Promise<BodyEnd>;
  /** Stops it; it still ends, as cancelled. */
  stop(): void;
}

/** An action that a node runs as a tool. */
export interface ActionCall {
  /** Idempotency key: the same for the same call after a restart. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A flow that a node has as a tool. */
export interface FlowTool {
  readonly title: string | undefined;
  readonly inputs: readonly FlowInput[];
}

/** Flows and actions that a node has as tools, by the part of their reference after `flow:` and `action:`. */
export interface NodeTools {
  readonly flows: ReadonlyMap<string, FlowTool>;
  readonly actions: ReadonlyMap<string, NodeType>;
}

type Payload<E> = E extends unknown
  ? Omit<E, "v" | "runId" | "seq" | "ts" | "node" | "attempt">
  : never;

/** A body's report of a model call, a tool call or a check. The engine adds offsets, sums and durations. */
export type Report =
  | Payload<LlmStarted | LlmRejected | ToolStarted | NodeChecked>
  | Omit<Payload<LlmDelta>, "offset" | "merged">
  | Omit<Payload<LlmFinished>, "lengths" | "durationMs">
  | Omit<Payload<LlmFailed>, "discarded">
  | Omit<Payload<ToolFinished>, "durationMs">;

/** A question of a body to a person. */
export interface ConfirmRequest {
  readonly prompt: string;
  readonly schema?: JsonSchema;
  readonly expiresInMs?: number;
  /** The tool call that the question is about. */
  readonly tool?: ConfirmRequested["tool"];
}

/** Context of core bodies: that of extensions, and more. */
export interface CoreContext extends ControlContext {
  /** The node's policy where it is written or defaulted; milliseconds. */
  readonly timeoutMs: number | undefined;
  /** Items of a `map` at once, from the node's `concurrency`. */
  readonly concurrency: number | undefined;
  /** Name under which the body sees its item or state. */
  readonly bodyName: string;
  /** Whether failed items are collected (`onError: "collect"`). */
  readonly collects: boolean;
  /** A limit of the run, by name. */
  limit(name: "map.items" | "loop.max" | "outputBytes"): Limits[typeof name];
  /** Whether an edge leaves by this port. */
  hasEdge(port: string): boolean;
  /** Sources of the live edges so far, in the order in which they came. */
  liveSources(): readonly string[];
  /**
   * Tells of a model call, a tool call or a check. Calls that the body leaves open are closed with the attempt; in a run that
   * ends nothing begins. Throws `internal` for a call id that was used before.
   */
  emit(report: Report): void;
  /** As for every body; `tool` names the call that a person is asked about. */
  confirm(key: string, request: ConfirmRequest): Promise<ConfirmAnswer>;
  /** As for every body; a private result is known to a restart alone. A key whose `fn` threw may be used again. */
  step<T extends Json>(
    key: string,
    fn: () => Promise<T> | T,
    options?: { private?: true; kept?: true },
  ): Promise<T>;
  /** The fields as the flow writes them. */
  readonly source: FlowNode["fields"];
  /** A value that nodes of the engine share; made at the first use. */
  shared<T extends Shared, S>(key: SharedKey<T, S>): T;
  /** Flows and actions that the node has as tools. */
  readonly tools: NodeTools;
  /** `fetch`, which ends with `signal` and with the attempt; default: that of the engine. Null: the host has no network. */
  fetchWith(signal: AbortSignal, fetch?: FetchLike | null): FetchLike;
  /** A value without the secrets that the run knows. */
  mask<T extends Json>(value: T): T;
  /** Resolves after timers and sockets had their turn. */
  turn(): Promise<void>;
  /** A text that no event may show. */
  learn(secret: string): void;
  /** Keeps a value beside the log and answers its name. */
  keepValue(value: Json): ValueRef;
  /** Calls `fn` once after `ms`, unless the answered function is called before. */
  after(ms: number, fn: () => void): () => void;
  /** Work beside which the body may ask a person: the node waits for the answer only when all of it is done. */
  working<T>(work: () => Promise<T>): Promise<T>;
  /** Starts the `index`-th flow that this attempt runs as a tool. Throws `NodeError` `nesting_too_deep`. */
  callFlow(ref: string, index: number, inputs: JsonObject): FlowCall;
  /** Context of an action that the node runs as a tool. */
  actionContext(type: NodeType, call: ActionCall): CoreContext;
  /** The failure of what such an action threw, which `onError` receives as it is. */
  thrownBy(type: NodeType, thrown: unknown): Failure;
  /** An id for a call, new in the run: `c1`, `t2` … */
  newCall(prefix: "c" | "t"): string;
  /** As for every body; `unit` says what is counted. */
  progress(done: number, total?: number, unit?: "items" | "iterations" | "bytes"): void;
  /** Parks the node, without its slots, until the clock has reached `due` (epoch milliseconds). */
  waitUntil(due: number): Promise<void>;
  /** Starts one round of the node's body; `done` is called once, when every node of it has ended. */
  runBody(index: number, locals: JsonObject, done: (end: BodyEnd) => void): void;
  /** The inputs of the node's subflow with its defaults, and what is wrong with them. */
  checkFlowInputs(inputs: JsonObject): CheckedInputs;
  /** Starts the node's subflow; its value is the record of outputs. */
  runFlow(inputs: JsonObject, done: (end: BodyEnd) => void): void;
  /** A connection by the name that the flow gives it, or by its slug. Throws `operation_unknown` for an unknown service. */
  link(connection: string): ServiceLink;
  /** Calls `listener` once when the attempt is to stop, also if it is already; null removes it. It takes a kilobyte less than `signal`. */
  onAbort(listener: (() => void) | null): void;
  /** Runs `work` with a signal that also aborts, with `timeout`, after `ms`. */
  within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** A warning of the engine in the log, with a code. */
  warn(code: string, text: string, data?: JsonObject): void;
  /** The first `max` units of a text after every known secret was taken out; `isWhole`: it is not itself the beginning of one. */
  withoutSecrets(text: string, max: number, isWhole: boolean): string;
  /** Stops every open round; each still calls its `done`. */
  abortBodies(): void;
}
