/** What the handlers of a server may touch. Every part is replaceable. */
import type { Executor, FetchLike, FilePort, FlowGraph, Journal } from "@millrace/contracts";
import type { Registry, SubflowPort } from "@millrace/engine";
import type { Store } from "@millrace/store";
import type { CommandHandlers } from "./commands/index.ts";
import type { ServiceConnections } from "./connections/index.ts";
import type { Metrics } from "./metrics/index.ts";
import type { ManagedModels } from "./models/index.ts";
import type { Logger } from "./process/index.ts";
import type { Scheduler } from "./schedules/index.ts";
import type { SecretStore } from "./webhooks/index.ts";

/** A stored flow as a run needs it. */
export interface StoredFlow {
  readonly slug: string;
  readonly version: number;
  readonly graph: FlowGraph;
}

/** Where the flow of a run request that names a template comes from. */
export interface TemplatePort {
  /** Null: there is no such template or version. `version` absent: the newest. */
  get(slug: string, version?: number): Promise<StoredFlow | null>;
}

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
  /** Services, and what is connected. */
  readonly services: ServiceConnections;
  /** The one way out to other hosts, under the operator's policy. */
  readonly egress: FetchLike;
  /** The folders of the operator's hubs, by id. */
  readonly hubFolders: ReadonlyMap<string, FilePort>;
  /** Where flows that other flows call come from. Absent: the stored templates. */
  readonly subflows?: SubflowPort;
  /** Absent: a run request that names a template is answered with `not_found`. */
  readonly templates?: TemplatePort;
  /** Managed models; null: there are none here. */
  readonly models: ManagedModels | null;
  /** Absent: no schedule fires by itself. */
  readonly scheduler?: Scheduler;
  /** Keys of webhooks. Absent: a webhook with a key is refused. */
  readonly secrets?: SecretStore;
  readonly log: Logger;
  /** What is measured outside of the app as well, such as commits of the journal. Default: measurements of the app alone. */
  readonly metrics?: Metrics;
  /** Epoch milliseconds. */
  now(): number;
  random(bytes: number): Uint8Array;
}
