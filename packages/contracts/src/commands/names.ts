/**
 * Every command with its arguments and its answer, as types: what handlers, clients and the command line share without
 * loading a schema. The schemas live behind `@millrace/contracts/commands` and are checked against this table.
 */

import type { CatalogEntry } from "../catalog.ts";
import type { ChannelMap } from "../channels.ts";
import type { Trigger } from "../events/shapes.ts";
import type { AnyEvent, Kind } from "../events/types.ts";
import type { RunState } from "../events/view.ts";
import type { FlowGraph } from "../graph.ts";
import type { Json, JsonObject, JsonSchema } from "../json.ts";
import type {
  ConnectArgs,
  ConnectionStatus,
  ConnectProgress,
  ConnectStarted,
  ImportedService,
  ServiceInfo,
  ServiceSecret,
} from "./records/connection.ts";
import type {
  Job,
  JobRef,
  Model,
  ModelEngine,
  ModelInstallArgs,
  ModelLoadOptions,
  ModelState,
} from "./records/model.ts";
import type {
  Confirmation,
  Page,
  PageArgs,
  Run,
  RunBlob,
  RunRef,
  RunRequest,
  RunSummary,
  Tags,
} from "./records/run.ts";
import type {
  CommandInfo,
  Hub,
  HubItem,
  HubProvides,
  Meta,
  NewWebhook,
  Schedule,
  ScheduleArgs,
  SchedulePage,
  Settings,
  Webhook,
  WebhookArgs,
} from "./records/server.ts";
import type {
  FlowArgs,
  FlowReport,
  Template,
  TemplateSummary,
  TemplateVersion,
  TemplateVersionSummary,
} from "./records/template.ts";

/** Arguments, answer, and the arguments that have a default. */
export interface CommandType<A, R, D extends keyof A = never> {
  readonly args: A;
  readonly result: R;
  readonly defaults: D;
}

type None = Record<never, never>;
type RunArgs = { readonly runId: string };
type Listed<A, T, D extends keyof A = never> = CommandType<A & PageArgs, Page<T>, D | "limit">;
type IfMatch = { readonly ifMatch?: string };

/** What `list_runs` asks for; times are ISO 8601. */
export interface RunFilter {
  readonly status?: readonly RunState[];
  readonly template?: string;
  /** Every pair must be there. */
  readonly tags?: Tags;
  readonly since?: string;
  readonly until?: string;
  readonly trigger?: Trigger;
}

/** Starting, reading, steering and deleting runs. */
export interface RunCommands {
  run_flow: CommandType<RunRequest, RunRef>;
  start_run: CommandType<RunRequest, RunRef>;
  run_and_wait: CommandType<RunRequest & { readonly waitMs: number }, RunSummary | RunRef>;
  list_runs: Listed<RunFilter, RunSummary>;
  get_run: CommandType<RunArgs, Run>;
  get_run_events: CommandType<
    RunArgs & {
      /** Last `seq` that the reader has; default 0. */
      readonly after?: number;
      readonly kinds?: readonly Kind[];
      /** Begins with a `snapshot` event. */
      readonly snapshot?: boolean;
      /** A reader that falls behind gets a `snapshot` instead of the past. */
      readonly lag?: "snapshot";
      readonly limit?: number;
    },
    Page<AnyEvent>,
    "limit"
  >;
  get_run_graph: CommandType<RunArgs, FlowGraph>;
  get_run_blob: CommandType<RunArgs & { readonly digest: string }, RunBlob>;
  cancel_run: CommandType<
    RunArgs & {
      readonly reason?: string;
      /** How long bodies may take to settle. */
      readonly graceMs?: number;
    },
    Run,
    "graceMs"
  >;
  pause_run: CommandType<RunArgs, Run>;
  resume_run: CommandType<RunArgs, Run>;
  retry_run: CommandType<
    RunArgs & {
      /** Nodes to run again, with all that follows them; absent: what did not succeed. */
      readonly from?: readonly string[];
      readonly inputs?: { readonly [name: string]: Json };
    },
    RunRef
  >;
  resolve_confirmation: CommandType<
    RunArgs & {
      readonly confirmationId: string;
      readonly decision: "approve" | "reject";
      readonly value?: Json;
      readonly comment?: string;
    },
    Confirmation
  >;
  list_confirmations: Listed<
    { readonly status?: Confirmation["status"]; readonly runId?: string },
    Confirmation,
    "status"
  >;
  delete_run: CommandType<RunArgs, null>;
  prune_runs: CommandType<
    { readonly before?: string; readonly status?: readonly RunState[] },
    { readonly deleted: number }
  >;
  subscribe_events: CommandType<
    { readonly kinds?: readonly Kind[]; readonly after?: number },
    null
  >;
}

/** Checking flows and turning them into another form; nothing is stored or run. */
export interface FlowCommands {
  validate_flow: CommandType<FlowArgs, FlowReport>;
  format_flow: CommandType<{ readonly dsl: string }, { readonly dsl: string }>;
  convert_flow: CommandType<FlowArgs, { readonly dsl: string } | { readonly graph: FlowGraph }>;
}

type SlugArgs = { readonly slug: string };

/** Flows that are stored under a slug, with their versions. */
export interface TemplateCommands {
  list_templates: Listed<
    {
      /** Text in slug, name or description. */
      readonly q?: string;
      readonly tag?: string;
      readonly source?: "local" | "import" | "hub";
    },
    TemplateSummary
  >;
  get_template: CommandType<SlugArgs, Template>;
  save_template: CommandType<
    SlugArgs & {
      readonly name?: string;
      readonly description?: string;
      readonly tags?: readonly string[];
      readonly dsl?: string;
      readonly graph?: FlowGraph;
      readonly ifNoneMatch?: string;
    } & IfMatch,
    Template
  >;
  delete_template: CommandType<SlugArgs & IfMatch, null>;
  list_template_versions: Listed<SlugArgs, TemplateVersionSummary>;
  get_template_version: CommandType<SlugArgs & { readonly version: number }, TemplateVersion>;
  restore_template_version: CommandType<
    SlugArgs & { readonly version: number } & IfMatch,
    Template
  >;
  import_template: CommandType<
    { readonly text: string; readonly slug?: string; readonly overwrite?: boolean },
    Template,
    "overwrite"
  >;
  export_template: CommandType<SlugArgs, { readonly text: string }>;
}

/** The catalog of node types and services. */
export interface NodeCommands {
  list_nodes: Listed<{ readonly q?: string; readonly category?: string }, CatalogEntry>;
  get_node: CommandType<{ readonly type: string }, CatalogEntry>;
}

type ModelArgs = { readonly modelId: string };

/** A frame of `subscribe_models`: one of the desktop channels of managed models. */
export type ModelsFrame = {
  [C in Exclude<keyof ChannelMap, "flow:execution">]: {
    readonly channel: C;
    readonly payload: ChannelMap[C];
  };
}[Exclude<keyof ChannelMap, "flow:execution">];

/** Models of this machine: installing, loading, removing. */
export interface ModelCommands {
  list_models: Listed<{ readonly state?: ModelState }, Model>;
  get_model: CommandType<ModelArgs, Model>;
  install_model: CommandType<ModelInstallArgs, JobRef, "allowUnverified" | "fetchEngine">;
  cancel_model_job: CommandType<JobRef, Job>;
  remove_model: CommandType<ModelArgs & { readonly force?: boolean }, null, "force">;
  load_model: CommandType<
    ModelArgs & ModelLoadOptions & { readonly wait?: boolean },
    Model,
    "wait"
  >;
  unload_model: CommandType<ModelArgs & { readonly force?: boolean }, Model, "force">;
  scan_models: CommandType<None, JobRef>;
  list_engines: CommandType<None, readonly ModelEngine[]>;
  fetch_engine: CommandType<{ readonly engineId: string }, JobRef>;
  subscribe_models: CommandType<None, null>;
}

/** The one document of settings. */
export interface SettingsCommands {
  get_settings: CommandType<None, Settings>;
  get_settings_schema: CommandType<None, JsonSchema>;
  /** `patch` is a JSON Merge Patch (RFC 7396): null goes back to the default. */
  update_settings: CommandType<{ readonly patch: JsonObject } & IfMatch, Settings>;
}

type HubArgs = { readonly hubId: string };
interface HubFields {
  readonly name: string;
  /** `https:` only. */
  readonly url: string;
  readonly provides: readonly HubProvides[];
  readonly enabled?: boolean;
  /** Ed25519, base64. */
  readonly publicKey?: string;
}

/** What installing an item of a hub made. */
export type InstalledItem =
  | { readonly kind: "template"; readonly template: Template }
  | { readonly kind: "model"; readonly jobId: string };

/** Sources of templates and models, and what they offer. */
export interface HubCommands {
  list_hubs: Listed<None, Hub>;
  get_hub: CommandType<HubArgs, Hub>;
  add_hub: CommandType<{ readonly id: string } & HubFields, Hub, "enabled">;
  update_hub: CommandType<HubArgs & Partial<HubFields> & IfMatch, Hub>;
  remove_hub: CommandType<HubArgs & IfMatch, null>;
  sync_hub: CommandType<HubArgs, Hub>;
  list_hub_items: Listed<HubArgs, HubItem>;
  install_hub_item: CommandType<
    HubArgs & {
      readonly itemId: string;
      readonly slug?: string;
      readonly overwrite?: boolean;
    } & IfMatch,
    InstalledItem,
    "overwrite"
  >;
}

type ScheduleId = { readonly scheduleId: string };
type ScheduleDefaults = "timezone" | "enabled" | "overlap" | "catchUp";

/** Runs that start by the clock. */
export interface ScheduleCommands {
  list_schedules: CommandType<PageArgs, SchedulePage, "limit">;
  get_schedule: CommandType<ScheduleId, Schedule>;
  create_schedule: CommandType<ScheduleArgs, Schedule, ScheduleDefaults>;
  update_schedule: CommandType<ScheduleId & ScheduleArgs & IfMatch, Schedule, ScheduleDefaults>;
  delete_schedule: CommandType<ScheduleId & IfMatch, null>;
  run_schedule_now: CommandType<ScheduleId, RunRef>;
  preview_schedule: CommandType<
    ScheduleId & { readonly n?: number },
    { readonly times: readonly string[] },
    "n"
  >;
}

/** Runs that start by a request from outside. */
export interface WebhookCommands {
  list_webhooks: Listed<None, Webhook>;
  create_webhook: CommandType<WebhookArgs, NewWebhook, "headers" | "enabled">;
  delete_webhook: CommandType<{ readonly webhookId: string }, null>;
}

/** `slug` is optional where `connectId` alone is enough; a route always gives it. */
type ConnectId = { readonly slug?: string; readonly connectId: string };

/** Services and the connections to them; no answer holds a credential. */
export interface ServiceCommands {
  list_services: Listed<None, ServiceInfo>;
  get_service: CommandType<SlugArgs, ServiceInfo>;
  connect_service: CommandType<ConnectArgs, ConnectStarted, "receiver">;
  get_connect_status: CommandType<ConnectId, ConnectProgress>;
  complete_connect: CommandType<
    ConnectId & { readonly code: string; readonly state: string },
    ConnectionStatus
  >;
  cancel_connect: CommandType<ConnectId, null>;
  set_service_secret: CommandType<
    SlugArgs & { readonly service: string; readonly value: ServiceSecret },
    ConnectionStatus
  >;
  disconnect_service: CommandType<SlugArgs, null>;
  import_service: CommandType<
    { readonly document: JsonObject; readonly baseUrl?: string; readonly slug?: string },
    ImportedService
  >;
}

/** What a server is, and which commands it has. */
export interface MetaCommands {
  get_meta: CommandType<None, Meta>;
  list_commands: CommandType<None, readonly CommandInfo[]>;
}

/** Every command of version 1 by name. */
export interface CommandTypes
  extends RunCommands,
    FlowCommands,
    TemplateCommands,
    NodeCommands,
    ModelCommands,
    SettingsCommands,
    HubCommands,
    ScheduleCommands,
    WebhookCommands,
    ServiceCommands,
    MetaCommands {}

/** The name of a command of version 1. */
export type CommandName = keyof CommandTypes;

/** What a caller passes. */
export type CommandArgs<N extends CommandName> = CommandTypes[N]["args"];

/** What a handler gets: defaults are filled in. */
export type ParsedArgs<N extends CommandName> = WithDefaults<
  CommandTypes[N]["args"],
  CommandTypes[N]["defaults"]
>;

/** What the command `N` answers, as it stands on the wire. */
export type CommandResult<N extends CommandName> = CommandTypes[N]["result"];

type WithDefaults<A, D> = [D] extends [never] ? A : A & Required<Pick<A, D & keyof A>>;
