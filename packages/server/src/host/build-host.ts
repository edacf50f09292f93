/**
 * The parts of a server, whether it listens or not: store, engine, executor, services. Nothing is recovered, fired or deleted
 * by itself here.
 */
import { randomBytes } from "node:crypto";
import { aiSettings } from "@millrace/ai";
import type { Executor, Journal } from "@millrace/contracts";
import type { FlowCatalog } from "@millrace/dsl";
import {
  createEngine,
  EngineError,
  type Limits,
  type Registry,
  type SubflowPort,
  type TracePort,
} from "@millrace/engine";
import { createNodeHost, type NodeHost } from "@millrace/engine/node";
import type { Extensions } from "@millrace/extensions";
import { createAi, loadAuditKey } from "@millrace/providers";
import { isShared, openMemoryStore, openStore, type Store } from "@millrace/store";
import { auditKeyOf, openSharedCredentials, openSharedStore } from "../cluster/open-cluster.ts";
import type { ServerLimits } from "../config/limits.ts";
import type { Clock, ResolvedOptions } from "../config/options.ts";
import { readSettings } from "../config/settings.ts";
import {
  createServiceConnections,
  egressFetch,
  memoryConnectionRecords,
  openCredentialStore,
  storedConnectionRecords,
} from "../connections/index.ts";
import { badOption } from "../errors.ts";
import type { LocalExecutorOptions } from "../executor/index.ts";
import { subflowPort, templatePort } from "../flows/stored-flows.ts";
import { hubModels } from "../hubs/stored-hubs.ts";
import { modelHandlers } from "../models/commands.ts";
import { openModels } from "../models/index.ts";
import type { Logger, ServerHost } from "../ports.ts";
import { createProviderList } from "../providers/list-providers.ts";
import { openServerExtensions, type ServerExtensions } from "./extensions.ts";
import { coreHandlers } from "./handlers.ts";
import { createStandardRegistry } from "./registry.ts";

export interface HostResources {
  readonly store: Store;
  readonly registry: Registry;
  readonly machine: NodeHost;
  readonly clock: Clock;
  readonly now: () => number;
  readonly opened: ServerExtensions;
}

/** How the store is opened: as its server, to write in it beside others, to read, or as an empty one that is gone with this process. */
export type StoreMode = "serve" | "write" | "read" | "empty";

/** Opens the store, which the caller closes. Throws `ConfigError`, and what the store refuses. */
export async function openResources(
  options: ResolvedOptions,
  mode: StoreMode = options.store === "memory" ? "empty" : "serve",
): Promise<HostResources> {
  const machine = createNodeHost();
  const opened = await openServerExtensions(machine, options);
  const clock = options.clock ?? machine;
  let now = (): number => clock.now();
  try {
    const registry = registryOf(options, opened.extensions);
    const keepsContent = async (): Promise<boolean> =>
      (await readSettings(store.settings)).ai.keepContent;
    const store: Store =
      options.cluster !== undefined && (mode === "write" || mode === "serve")
        ? await openSharedStore(options.cluster, keepsContent)
        : mode === "empty"
          ? openMemoryStore({ now, keepsContent })
          : await openStore({
              dir: options.store,
              readonly: mode === "read",
              serves: mode === "serve",
              busyTimeoutMs: options.busyTimeoutMs,
              now,
              keepsContent,
            });
    // Deadlines are judged by the clock of the database: servers whose clocks differ agree on them.
    if (isShared(store) && options.clock === undefined) now = () => store.now();
    return {
      store,
      registry,
      machine,
      clock: { now, setTimer: (fn, ms) => clock.setTimer(fn, ms) },
      now,
      opened,
    };
  } catch (error) {
    await opened.extensions.close(); // a check of theirs may have started a process
    throw error;
  }
}

/** Closes it again when nothing was built over it. */
export async function closeResources({ store, opened }: HostResources): Promise<void> {
  try {
    await opened.extensions.close();
  } finally {
    await store.close();
  }
}

export type ExecutorParts = Required<
  Pick<
    LocalExecutorOptions,
    "engine" | "registry" | "catalog" | "subflows" | "maxQueuedRuns" | "maxNodes"
  >
> & { readonly log: Logger; readonly environment: string | undefined };

export interface HostParts<E extends Executor> {
  readonly log: Logger;
  /** The journal of the store, or one that measures what goes through it. */
  readonly journal: Journal;
  /** Where flows of a run come from before the templates of the store are asked. */
  readonly subflows?: SubflowPort | undefined;
  /** Follows the requests of nodes. */
  readonly traces?: TracePort | undefined;
  readonly makeExecutor: (parts: ExecutorParts) => E;
}

/** A host, and what its owner steers. */
export interface BuiltHost<E extends Executor = Executor> {
  readonly host: ServerHost;
  readonly executor: E;
  /** Ends servers of tools and processes of extensions and models; after the executor is closed. */
  closeAi(): Promise<void>;
}

/** Longest age of cached data of other servers. */
const SHARED_CACHE_MS = 1_000;

export async function buildHost<E extends Executor>(
  options: ResolvedOptions,
  { store, registry, machine, clock, now, opened }: HostResources,
  { log, journal, subflows, traces, makeExecutor }: HostParts<E>,
): Promise<BuiltHost<E>> {
  const { limits } = options;
  const { extensions } = opened;
  opened.logTo(log);
  const isClusters = isShared(store) && options.credentials.store === undefined;
  const credentials = isClusters
    ? openSharedCredentials(store)
    : openCredentialStore(options.credentials);
  const egress = machine.openFetch(options.egress ?? {});
  const services = createServiceConnections({
    ...credentials,
    storeName: credentials.name,
    ...(isClusters && { cacheMs: SHARED_CACHE_MS }),
    services: [...options.services, ...extensions.services],
    // What only this process has is noted nowhere else.
    records:
      credentials.name === "memory"
        ? memoryConnectionRecords()
        : storedConnectionRecords(store.connections),
    fetch: egressFetch(egress),
    log,
    now,
    random: randomBytes,
  });
  const folders = new Map(options.hubs.map(({ id, dir }) => [id, dir]));
  const timed: NodeHost = { ...machine, now, setTimer: (fn, ms) => clock.setTimer(fn, ms) };
  const models = await openModels(options.models, options.store, {
    machine: timed,
    egress: options.egress,
    credentials: services.credentials,
    hubModel: hubModels({ store }, folders),
    log: (level, text) => log[level]({}, text),
  });
  const writes = store.kind !== "memory" && store.condition === "ok";
  const allowed = options.egress?.allow ?? [];
  const ai = createAi(options.ai.settings, {
    credentials: services.credentials,
    env: options.ai.env,
    openFetch: (more) =>
      machine.openFetch({ ...more, ...options.egress, allow: [...allowed, ...more.allow] }),
    local: models?.provider,
    auditKey:
      options.cluster !== undefined
        ? auditKeyOf(options.cluster)
        : writes
          ? await loadAuditKey(options.store)
          : undefined,
  });
  const providers = [...ai.providers, ...extensions.providers];
  const catalog: FlowCatalog = {
    ...registry.catalog(),
    // A server without local models knows the provider all the same: a failover may go past it.
    providers: new Set(["local", ...providers.map(({ id }) => id)]),
    services: [...options.services, ...extensions.services].map(({ slug }) => slug),
  };
  const engine = createEngine({
    host: timed,
    journal,
    ...(isShared(store) && { keys: store.keys }),
    credentials: services.credentials,
    services,
    settings: [aiSettings({ ...ai.ai, providers })],
    config: extensions.config,
    limits: engineLimits(limits),
    egress: options.egress,
    files: options.files,
    shell: options.shell,
    onError: options.onError,
    ...(traces && { trace: traces }),
  });
  const templates = subflowPort(store.templates);
  const called = subflows === undefined ? templates : inOrder(subflows, templates);
  const { maxQueuedRuns, maxNodes } = limits;
  const executor = makeExecutor({
    ...{ engine, log, registry, catalog, subflows: called, maxQueuedRuns, maxNodes },
    environment: options.environment,
  });
  const host: ServerHost = {
    executor,
    subflows: called,
    store,
    journal,
    registry,
    catalog,
    commands: models === null ? coreHandlers : new Map([...coreHandlers, ...modelHandlers]),
    models,
    providers: createProviderList({
      settings: options.ai.settings,
      own: ai.providers,
      extensions: extensions.providers,
      credentials: ai.ai.credentials,
      services,
    }),
    services,
    templates: templatePort(store.templates),
    egress,
    hubFolders: new Map(
      [...folders].map(([id, dir]) => [id, machine.openFiles({ root: dir, readOnly: true })]),
    ),
    secrets: credentials.store,
    log,
    now,
    random: randomBytes,
    mask: (value) => engine.mask(value),
  };
  return {
    host,
    executor,
    async closeAi() {
      await ai.close();
      await models?.close();
      await extensions.close();
    },
  };
}

function inOrder(first: SubflowPort, second: SubflowPort): SubflowPort {
  return { get: async (wanted) => (await first.get(wanted)) ?? second.get(wanted) };
}

/** The registry of core, of the program around, of extensions and of the services. Throws `ConfigError` for what cannot be in it. */
function registryOf({ services, nodeTypes }: ResolvedOptions, extensions: Extensions): Registry {
  inOption("nodeTypes", () => createStandardRegistry(nodeTypes));
  const rest = [...extensions.serviceEntries, ...extensions.types];
  return inOption("services", () => createStandardRegistry([...nodeTypes, ...services, ...rest]));
}

function inOption<T>(name: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (!EngineError.isInstance(cause)) throw cause;
    throw badOption(`option "${name}": ${cause.message}`, cause);
  }
}

/** The limits of a flow and of a run, by the names that the engine has for them. */
function engineLimits(limits: ServerLimits): Limits {
  return {
    nodes: limits.maxNodes,
    edges: limits.maxEdges,
    executions: limits.maxSteps,
    events: limits.maxEvents,
    outputBytes: limits.maxOutputBytes,
    liveBytes: limits.maxLiveBytes,
    inputBytes: limits.maxInputBytes,
    exprSteps: limits.maxExprSteps,
    exprBytes: limits.maxExprBytes,
    confirmations: limits.maxConfirmations,
    "map.items": limits.maxMapItems,
    "loop.max": limits.maxLoopRounds,
    depth: limits.maxDepth,
    wallClockMs: limits.maxRunMs,
    graceMs: limits.stepGraceMs,
    logBytes: limits.maxLogBytes,
  };
}
