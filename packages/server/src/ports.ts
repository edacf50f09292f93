/**
 * The interfaces between the rooms of a server: its parts, each of which is replaceable, and the call that a handler gets. A leaf:
 * it imports no room, so that every room may import it.
 */
import type {
  AiProvider,
  Channel,
  ChannelMap,
  CommandName,
  ConnectionStatus,
  ConnectProgress,
  ConnectStarted,
  CredentialsPort,
  Dispatcher,
  EventSink,
  Executor,
  FetchLike,
  FilePort,
  FlowGraph,
  Journal,
  Json,
  ModelManager,
  ParsedArgs,
  ProviderInfo,
  RunState,
  ServiceCredential,
  ServiceDefinition,
  ServiceInfo,
  StoredEvent,
  TemplateSource,
} from "@millrace/contracts";
import type { FlowCatalog } from "@millrace/dsl";
import type { Registry, SubflowPort } from "@millrace/engine";
import type { CredentialStore } from "@millrace/oauth";
import type { Store } from "@millrace/store";
import type { ServerLimits } from "./config/limits.ts";
import type { MetricName } from "./observe/metrics-table.ts";
import type { Traces } from "./observe/traces/traces.ts";

/** `read` may read; `run` may also run; `admin` may also write and administrate. */
export type Role = "read" | "run" | "admin";

/** Who asks. `tokenId` is null when the server is open; `remote` is the peer's address, null where it is not known. */
export interface Caller {
  readonly tokenId: string | null;
  readonly role: Role;
  readonly requestId: string;
  readonly remote: string | null;
  /** The span of the request, where it is traced, as the header `traceparent` has it. */
  readonly traceparent?: string | undefined;
}

/** Where the server logs to; a `pino` logger satisfies it. */
export interface Logger {
  debug(fields: object, message?: string): void;
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
}

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
export type SecretStore = Pick<CredentialStore, "get" | "set" | "delete" | "list">;

/** The port of a run, and how others tell it that a connection has changed. */
export interface ServiceCredentials extends CredentialsPort {
  refused(connection: string, credential: ServiceCredential): void;
  /** Drops what is remembered of a connection: it was connected, disconnected or given another secret. */
  forget(connection: string): void;
}

/** The services of a server and what is connected. Methods throw `ProblemError`. */
export interface ServiceConnections {
  readonly storeName: string;
  /** For runs. */
  readonly credentials: ServiceCredentials;
  /** Sorted by slug. */
  readonly services: readonly ServiceDefinition[];
  get(slug: string): ServiceDefinition | undefined;
  info(service: ServiceDefinition): Promise<ServiceInfo>;
  connect(args: ParsedArgs<"connect_service">): Promise<ConnectStarted>;
  progress(args: ParsedArgs<"get_connect_status">): Promise<ConnectProgress>;
  complete(args: ParsedArgs<"complete_connect">): Promise<ConnectionStatus>;
  cancel(args: ParsedArgs<"cancel_connect">): Promise<null>;
  setSecret(args: ParsedArgs<"set_service_secret">): Promise<ConnectionStatus>;
  disconnect(slug: string): Promise<null>;
  /** Forgets consents that ended long ago, whichever server has begun them. */
  prune(): Promise<void>;
  /** Ends every consent and frees its port. */
  close(): Promise<void>;
}

/** A folder whose files are templates. Its methods are called in the turn of the templates. */
export interface FlowFiles {
  /** Whether a template of this name has a file in the folder, or would get one. */
  keeps(slug: string): Promise<boolean>;
  /** The template of the flow `name.flow`. */
  slugOf(name: string): string | undefined;
  /** Where a template of this folder comes from. */
  mark(source: TemplateSource): TemplateSource;
  /**
   * Makes a version of what the file of a template holds by now. Throws `etag_mismatch` when it cannot be read, once for each
   * such text.
   */
  take(slug: string): Promise<void>;
  /**
   * Writes the file of a template that is saved; answers the text as it has become with the line ends that the file had, undefined
   * where the template has none here. Throws `etag_mismatch` over what was not seen.
   */
  write(slug: string, text: string): Promise<string | undefined>;
  /** Deletes the file of a template. Throws as `write` does. */
  remove(slug: string): Promise<void>;
  /** Follows the folder no longer. */
  close(): void;
}

/** Events of models: written by the manager, read by streams. */
export interface ModelEvents extends EventSink {
  /** Calls back for each event from now on; the answer ends it. */
  listen(listener: (channel: Channel, payload: ChannelMap[Channel]) => void): () => void;
  /** Events from now on, each as the line `{"channel":…,"payload":…}`, until the signal. */
  read(signal: AbortSignal): AsyncGenerator<readonly StoredEvent[], void>;
}

/** The models of an installation. */
export interface ManagedModels {
  /** The manager; the first call makes it, and its scan begins. */
  manager(): Promise<ModelManager>;
  readonly events: ModelEvents;
  /** The provider `local`. */
  readonly provider: AiProvider;
  /** Ends jobs and the processes of models, if there are any. */
  close(): Promise<void>;
}

/** States of runs that have not ended, as the gauge of runs counts them. */
export type LiveState = Extract<RunState, "pending" | "running" | "paused" | "cancelling">;

/** How things stand at the moment of the question. */
export interface Standing {
  /** Undefined while the store cannot be read. */
  readonly stored: StoredStanding | undefined;
  /** Runs that this server has begun or taken up, and that have not ended. */
  readonly driven: number;
  readonly streams: number;
  readonly isStoreUp: boolean;
  readonly isDispatcherUp: boolean;
}

/** Of that, what the store knows. */
export interface StoredStanding {
  readonly runs: { readonly [S in LiveState]: number };
  /** How late the longest due schedule is, in seconds. */
  readonly scheduleLagS: number;
}

/** The measurements of one server. */
export interface Metrics {
  readonly contentType: string;
  /** Adds to a counter of the table, whose labels have these values. */
  add(name: MetricName, labels?: readonly string[], amount?: number): void;
  /** Notes how long the store took for a batch of events. */
  committed(seconds: number): void;
  /** Counts a run that has ended, with its time from begin to end. */
  runEnded(status: string, trigger: string, seconds: number): void;
  /** Counts an answered request. `route` is a pattern, or null; `ms` is absent for streams, whose length is their reader's. */
  request(route: string | null, status: number, ms?: number): void;
  /** Everything, in the text format of Prometheus. */
  text(standing: Standing): Promise<string>;
  /** Stops watching the event loop. */
  close(): void;
}

/** State of a server, known from the events that it writes. */
export interface ServerWatch {
  /** Runs that it has begun or taken up, and that have not ended. */
  readonly driven: number;
  /** Whether the run is one of them. */
  drives(runId: string): boolean;
  /** Whether what gives runs to servers can be reached; undefined: this server is the only one. */
  readonly dispatcher: Dispatcher["condition"] | undefined;
}

/** The parts of a server. */
export interface ServerHost {
  readonly executor: Executor;
  /** Templates, schedules, settings, hubs, webhooks, history. */
  readonly store: Store;
  /** Graphs and large values of runs. */
  readonly journal: Journal;
  /** Node types, for the catalog and for stored flows. */
  readonly registry: Registry;
  /** The node types, services and providers that a flow which is to run may name. */
  readonly catalog: FlowCatalog;
  /** A command without a handler is not wired. */
  readonly commands: CommandHandlers;
  /** The services and their connections. */
  readonly services: ServiceConnections;
  /** The only network access to other hosts, under the operator's policy. */
  readonly egress: FetchLike;
  /** The folders of the operator's hubs, by id. */
  readonly hubFolders: ReadonlyMap<string, FilePort>;
  /** Reads the flows that other flows call. */
  readonly subflows: SubflowPort;
  readonly templates: TemplatePort;
  /** The folder whose files the templates are. Absent: templates are in the store alone. */
  readonly flowFiles?: FlowFiles;
  /** Managed models; null: this server has none. */
  readonly models: ManagedModels | null;
  /** The AI providers by name; asks nobody outside. Absent: `list_providers` is refused. */
  readonly providers?: (signal: AbortSignal) => Promise<readonly ProviderInfo[]>;
  /** Absent: schedules do not fire. */
  readonly scheduler?: Scheduler;
  /** Keys of webhooks, and what flows read as `secrets`. */
  readonly secrets: SecretStore;
  readonly log: Logger;
  /** Metrics that the app shares with other parts, such as commits of the journal. Default: metrics of the app alone. */
  readonly metrics?: Metrics;
  /** Absent: nobody watches what is written. */
  readonly watch?: ServerWatch;
  /** Absent: nothing is traced. */
  readonly traces?: Traces;
  /** Epoch milliseconds. */
  now(): number;
  random(bytes: number): Uint8Array;
  /** A value without the credentials that runs of this process were given. Absent: nobody here knows any. */
  mask?<T extends Json>(value: T): T;
}

/** The state of one app that its handlers share. */
export interface AppServices {
  readonly limits: ServerLimits;
  /** The actor of runs that are started or controlled without a token. */
  readonly actor: "api" | "cli" | "mcp";
  /** Whether `POST /hooks/:token` is switched on. */
  readonly webhooks: boolean;
  /** Whether the web page is served. */
  readonly studio: boolean;
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

/** Handlers of one area, each with the name of its command. */
export type HandlerList = readonly (readonly [CommandName, CommandHandler])[];

/** Handlers by command name; a command without one is not wired. */
export type CommandHandlers = ReadonlyMap<string, CommandHandler>;
