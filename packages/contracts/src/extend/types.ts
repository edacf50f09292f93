/** Input (`…Spec`) and output (`…Definition`) of the seams: plain frozen data with functions in it. */

import type { Json, JsonObject } from "../json.ts";
import type { PortSpec } from "../schemas/catalog.ts";
import type { Policy } from "../schemas/graph.ts";
import type { Effect, ServiceSpec } from "../service.ts";
import type { AiProvider } from "./ai.ts";
import type { AbortSignalLike, ControlContext, FetchLike, NodeContext } from "./context.ts";
import type { NodeExit } from "./exit.ts";
import type { Schema } from "./schema.ts";

/** Version of the seams that this package speaks; a host supports a set of them. */
export const EXTENSION_API_VERSION = 1;

/** Marks a definition in every copy of this package. Its value says which seam made it. */
export const EXTENSION_MARK: unique symbol = Symbol.for("millrace.extension.v1");

/** The seam that made a definition. */
export type DefinitionKind =
  | "action"
  | "adapter"
  | "provider"
  | "nodeType"
  | "service"
  | "extension";

/** The seam that made a value, with any copy of this package; `undefined` for anything else. */
export function definitionKind(value: unknown): DefinitionKind | undefined {
  if (typeof value !== "object" || value === null || !(EXTENSION_MARK in value)) return undefined;
  return value[EXTENSION_MARK] as DefinitionKind;
}

/** Members that every definition has beside those of its author. */
export interface Stamp<K extends DefinitionKind> {
  readonly apiVersion: typeof EXTENSION_API_VERSION;
  readonly [EXTENSION_MARK]: K;
}

/** What a body answers: a record, which leaves by `out`, or `exit(port, record)`; at once or later. */
type NodeAnswer<O> = O | NodeExit<O> | Promise<O | NodeExit<O>>;

/** What a check answers. */
type FieldFindings = readonly FieldFinding[] | Promise<readonly FieldFinding[]>;

/** Members that actions and node types have in common. */
export interface NodeSpec<F, O> {
  readonly title: string;
  readonly summary: string;
  /** Schema of all fields; an object. */
  readonly fields: Schema<F>;
  /** Schema of the record that the node produces. */
  readonly output: Schema<O>;
  readonly effect: Effect;
  /** The same idempotency key twice has one effect. Implied for `pure` and `read`. */
  readonly idempotent?: true;
  /** Exits by name; absent: `out` alone. `error` always exists and is never listed. */
  readonly ports?: readonly PortSpec[];
  readonly needs?: {
    /** Names of secrets that `ctx.credentials.secret` may give, such as `WEATHER_KEY`. */
    readonly secrets?: readonly string[];
    /** Field that holds the connection's name. */
    readonly connection?: string;
  };
  /** Policy where a flow says nothing. */
  readonly defaults?: { readonly policy?: Partial<Policy> };
  /**
   * Looks at literal fields before a run; a field with an expression arrives as `undefined`. Must not throw. It may wait for
   * what it needs to look, such as a parser that is loaded, never for the world.
   */
  readonly check?: (fields: NoInfer<F>) => FieldFindings;
  readonly examples?: readonly {
    readonly title: string;
    readonly fields: JsonObject;
    readonly output: Json;
  }[];
  /** Group in the catalog; default the adapter, or the first part of the type. */
  readonly category?: string;
  readonly tags?: readonly string[];
  /** Type to use instead; validation warns with it. */
  readonly deprecated?: string;
}

/** An action of an adapter. `name` may end in `@2`, `@3` … for a break beside the older version. */
export interface ActionSpec<F, O> extends NodeSpec<F, O> {
  readonly name: string;
  /** Answers the record (port `out`) or `exit(port, record)`; without a promise a call costs none. */
  readonly run: (fields: NoInfer<F>, ctx: NodeContext) => NodeAnswer<NoInfer<O>>;
}

/** Result of `defineAction`: the spec, checked, frozen and stamped with its version of the seam. */
export interface ActionDefinition<F = unknown, O = unknown>
  extends Omit<ActionSpec<F, O>, "run" | "check">,
    Stamp<"action"> {
  // A method, so that a list may hold actions of different fields.
  check?(fields: F): FieldFindings;
  run(fields: F, ctx: NodeContext): NodeAnswer<O>;
}

/** A family of actions; action `a` of adapter `x` is the node type `x.a`. */
export interface ActionAdapterSpec {
  readonly id: string;
  readonly title: string;
  readonly actions: readonly ActionDefinition[];
  /** Schema of the operator's configuration, which a body reads as `ctx.config`. */
  readonly config?: Schema<JsonObject>;
  /** Called once before the first action, for pools and the like; `close` when the host stops. */
  readonly open?: (config: JsonObject, host: HostContext) => Promise<{ close(): Promise<void> }>;
}

/** Result of `defineActionAdapter`; its actions become the types `id.name`. */
export interface ActionAdapterDefinition extends ActionAdapterSpec, Stamp<"adapter"> {}

/** A source of models, named by the `provider` field and by failover targets. */
export interface ProviderSpec {
  readonly id: string;
  readonly title: string;
  readonly config?: Schema<JsonObject>;
  readonly create: (config: JsonObject, host: HostContext) => AiProvider;
}

/** Result of `defineProvider`. */
export interface ProviderDefinition extends ProviderSpec, Stamp<"provider"> {}

/** A finding of `NodeSpec.check`; `pointer` is a JSON Pointer into the fields. */
export interface FieldFinding {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly severity: "error" | "warning";
}

/** A node type with ports from data, own checks and waits. `type` is dotted: `approval.quorum`, or `approval.quorum@2`. */
export interface NodeTypeSpec<F, O> extends NodeSpec<F, O> {
  readonly type: string;
  /** Field that yields further ports: the keys of an object, the `name`s of a list. */
  readonly portsFrom?: string;
  /** Entered again from its top after a restart: `confirm` and `step` answer from the journal. */
  readonly run: (fields: NoInfer<F>, ctx: ControlContext) => NodeAnswer<NoInfer<O>>;
}

/** Result of `defineNodeType`. */
export interface NodeTypeDefinition<F = unknown, O = unknown>
  extends Omit<NodeTypeSpec<F, O>, "run" | "check">,
    Stamp<"nodeType"> {
  check?(fields: F): FieldFindings;
  run(fields: F, ctx: ControlContext): NodeAnswer<O>;
}

/** Result of `defineService`. */
export interface ServiceDefinition extends ServiceSpec, Stamp<"service"> {}

/** Contributions of a package. */
export interface ExtensionSpec {
  readonly adapters?: readonly ActionAdapterDefinition[];
  readonly providers?: readonly ProviderDefinition[];
  readonly nodeTypes?: readonly NodeTypeDefinition[];
  readonly services?: readonly ServiceDefinition[];
}

/** The default export of an extension; absent lists are empty. */
export interface ExtensionDefinition extends Required<ExtensionSpec>, Stamp<"extension"> {}

/** Context of `open` and `create`: the same guarded network as a node body, without a run around it. */
export interface HostContext {
  /** Egress policy applied. */
  readonly fetch: FetchLike;
  /** Aborts when the host stops. */
  readonly signal: AbortSignalLike;
  /** Epoch milliseconds. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  log(level: "debug" | "info" | "warn" | "error", text: string, data?: JsonObject): void;
}
