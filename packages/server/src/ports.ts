/** The parts of a server that handlers of commands may use, and the call that each handler gets. Every part is replaceable. */
import type {
  CommandDef,
  Executor,
  FetchLike,
  FilePort,
  FlowGraph,
  Journal,
} from "@millrace/contracts";
import type { Registry, SubflowPort } from "@millrace/engine";
import type { CredentialStore } from "@millrace/oauth";
import type { Store } from "@millrace/store";
import type { Cursors } from "./commands/cursors.ts";
import type { IdempotencyKeys } from "./commands/idempotency.ts";
import type { ServerLimits } from "./config/index.ts";
import type { ServiceConnections } from "./connections/index.ts";
import type { Caller } from "./http/index.ts";
import type { Metrics } from "./metrics/index.ts";
import type { ManagedModels } from "./models/index.ts";
import type { Logger } from "./process/index.ts";

/** A stored flow that a run can start from. */
export interface StoredFlow {
  readonly slug: string;
  readonly version: number;
  readonly graph: FlowGraph;
}

/** Reads the flow of a run request that names a template. */
export interface TemplatePort {
  /** Null when the template or version does not exist. Default version: the newest. */
  get(slug: string, version?: number): Promise<StoredFlow | null>;
}

/** Fires the schedules of a store. */
export interface Scheduler {
  /** Starts firing, first the schedules that are due. */
  start(): void;
  /** Reads the schedules again, after one was created, changed or deleted. */
  wake(): void;
  /** Stops firing. Resolves when the current pass is finished. */
  close(): Promise<void>;
}

/** The part of a credential store that webhooks use. */
export type SecretStore = Pick<CredentialStore, "get" | "set" | "delete">;

/** The parts of a server. */
export interface ServerHost {
  readonly executor: Executor;
  /** Templates, schedules, settings, hubs, webhooks, history. */
  readonly store: Store;
  /** Graphs and large values of runs. */
  readonly journal: Journal;
  /** Node types, for the catalog and for validation. */
  readonly registry: Registry;
  /** A command without a handler is not wired. */
  readonly commands: CommandHandlers;
  /** The services and their connections. */
  readonly services: ServiceConnections;
  /** The only network access to other hosts, under the operator's policy. */
  readonly egress: FetchLike;
  /** The folders of the operator's hubs, by id. */
  readonly hubFolders: ReadonlyMap<string, FilePort>;
  /** Reads the flows that other flows call. Default: the stored templates. */
  readonly subflows?: SubflowPort;
  /** Absent: a run request that names a template is answered with `not_found`. */
  readonly templates?: TemplatePort;
  /** Managed models; null: this server has none. */
  readonly models: ManagedModels | null;
  /** Absent: schedules do not fire. */
  readonly scheduler?: Scheduler;
  /** Keys of webhooks. Absent: a webhook with a key is refused. */
  readonly secrets?: SecretStore;
  readonly log: Logger;
  /** Metrics that the app shares with other parts, such as commits of the journal. Default: metrics of the app alone. */
  readonly metrics?: Metrics;
  /** Epoch milliseconds. */
  now(): number;
  random(bytes: number): Uint8Array;
}

/** The state of one app that its handlers share. */
export interface AppServices {
  readonly limits: ServerLimits;
  readonly keys: IdempotencyKeys;
  readonly cursors: Cursors;
  /** All commands, wired or not. */
  readonly commands: ReadonlyMap<string, CommandDef>;
  /** The actor of runs that are started or controlled without a token. */
  readonly actor: "api" | "cli";
  /** Whether `POST /hooks/:token` is switched on. */
  readonly webhooks: boolean;
  /** True while the server stops and refuses new work. */
  draining(): boolean;
  /** Whether a command has a handler or a stream. */
  isWired(name: string): boolean;
}

/** One call of a command. */
export interface CommandCall {
  readonly host: ServerHost;
  readonly app: AppServices;
  readonly caller: Caller;
  /** Aborted when the client no longer waits for the answer. */
  readonly signal: AbortSignal;
  /** Value of `Idempotency-Key`. */
  readonly key: string | undefined;
}

/** Executes a command; `args` are parsed. Returns the result, or an `Answer` around it. */
export type CommandHandler = (args: never, call: CommandCall) => unknown;

/** Handlers by command name; a command without one is not wired. */
export type CommandHandlers = ReadonlyMap<string, CommandHandler>;
