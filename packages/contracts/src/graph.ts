/**
 * The wire form of a flow. A string is always literal; an expression is `{"$": "source"}`, a template is
 * `{"$t": ["text", {"$": "source"}]}`, and data that looks like either is wrapped as `{"$lit": …}`.
 */
import type { Json, JsonObject, JsonSchema } from "./json.ts";

/** A value in a graph: JSON in which `{"$"}`, `{"$t"}` and `{"$lit"}` objects have meaning, at any depth. */
export type FieldValue = Json;

/** A flow as JSON. `version` is the language version (1). Declaration order is meaningful only for printing. */
export interface FlowGraph {
  readonly version: 1;
  readonly id: string;
  readonly title?: string;
  readonly meta?: JsonObject;
  readonly policy?: FlowPolicy;
  readonly inputs: readonly FlowInput[];
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly outputs: readonly FlowOutput[];
  readonly connections: readonly FlowConnection[];
  readonly schedules: readonly FlowSchedule[];
  /** Node path to `[x, y]`; no meaning for a run. */
  readonly layout: JsonObject;
}

/** Policy of a whole run. `onFailure` defaults to `stop`. */
export interface FlowPolicy {
  readonly timeoutMs?: number;
  readonly onFailure?: "stop" | "finish";
  readonly concurrency?: number;
}

/** An input. Without `default` it is required; `default: null` is a default. */
export interface FlowInput {
  readonly name: string;
  readonly schema?: JsonSchema;
  readonly default?: Json;
  readonly description?: string;
}

/** An output, evaluated when what it reads is resolved; absent when a required node of it did not run. */
export interface FlowOutput {
  readonly name: string;
  readonly schema?: JsonSchema;
  readonly value: FieldValue;
  readonly description?: string;
}

/** One step. `fields` belong to the type, `policy` to the platform. */
export interface FlowNode {
  readonly id: string;
  readonly type: string;
  readonly typeVersion?: number;
  readonly fields: { readonly [name: string]: FieldValue };
  readonly policy?: Policy;
  readonly body?: FlowBody;
}

/** The inside of a `map` or `loop`; ids are local to it. */
export interface FlowBody {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly output?: FieldValue;
}

/** Control order from a port of one node to another node. */
export interface FlowEdge {
  readonly from: string;
  readonly port: string;
  readonly to: string;
  readonly meta?: JsonObject;
}

/** A declared service connection; nodes name it by `name`. `slug` defaults to the name. */
export interface FlowConnection {
  readonly name: string;
  readonly auth: string;
  readonly service?: string;
  readonly slug?: string;
  readonly scopes?: readonly string[];
}

/** A proposed schedule; only `create_schedule` activates one. Exactly one of `cron`, `everyMs`, `at`. */
export interface FlowSchedule {
  readonly name: string;
  readonly cron?: string;
  readonly everyMs?: number;
  readonly at?: string;
  readonly timezone?: string;
  readonly inputs?: JsonObject;
  readonly enabled?: boolean;
  readonly overlap?: "skip" | "queue" | "allow";
  readonly catchUp?: "skip" | "one" | "all";
}

/** Repeats a failed attempt. `max` counts retries after the first attempt. */
export interface RetryPolicy {
  readonly max?: number;
  readonly backoff?: "constant" | "linear" | "exponential";
  readonly delayMs?: number;
  readonly maxDelayMs?: number;
  readonly jitter?: boolean;
  /** Reasons or codes; absent: every error that says it is retryable. */
  readonly on?: readonly string[];
  /** Deferred; reads `output`. True makes a success a failed attempt. */
  readonly if?: FieldValue;
}

/** Where a failure goes: it ends the flow, leaves by `error`, is replaced, or (map only) is collected. */
export type OnError = "fail" | "port" | "collect" | { readonly default: FieldValue };

/** The platform's policies; the same for every node type. */
export interface Policy {
  readonly timeoutMs?: number;
  readonly retry?: RetryPolicy;
  readonly when?: FieldValue;
  readonly onError?: OnError;
  readonly join?: "all" | "any" | number;
  readonly concurrency?: number | { readonly max: number; readonly key: FieldValue };
  readonly idempotencyKey?: FieldValue;
  readonly cache?: { readonly ttlMs: number; readonly key?: FieldValue };
  readonly delivery?: "atLeastOnce" | "atMostOnce";
}
