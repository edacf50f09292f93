/** A whole server without a port: engine, journal, executor, app. */
import { randomBytes } from "node:crypto";
import { createEngine, createRegistry, EngineError, type Registry } from "@millrace/engine";
import { createNodeHost, type NodeHost } from "@millrace/engine/node";
import { type AiSetup, createAi, loadAuditKey } from "@millrace/providers";
import { openMemoryStore, openStore, type Store, startRetention } from "@millrace/store";
import { buildApp, type MillraceApp, type ServedApp } from "./app.ts";
import {
  gatherOptions,
  type OptionSources,
  type ResolvedOptions,
  resolveOptions,
  type ServerOptions,
} from "./config/index.ts";
import {
  type ConnectionRecords,
  type CredentialsOptions,
  createServiceConnections,
  egressFetch,
  type OpenedStore,
  openCredentialStore,
  type ServiceConnections,
  storedConnectionRecords,
  type WebFetch,
} from "./connections/index.ts";
import { ConfigError } from "./errors.ts";
import { createLocalExecutor } from "./executor/index.ts";
import { parseToken } from "./gate/index.ts";
import { coreHandlers } from "./handlers/index.ts";
import type { ServerHost } from "./host.ts";
import { registerFolders } from "./hubs/index.ts";
import { createMetrics } from "./metrics/index.ts";
import { createLogger, createRedactor, type Logger } from "./process/index.ts";
import { createScheduler } from "./schedules/index.ts";
import { readSettings } from "./settings/index.ts";
import { subflowPort, templatePort } from "./templates/index.ts";

/** Options of `createServer`: those of the app, and where others come from. */
export interface CreateServerOptions extends ServerOptions, OptionSources {}

/** A server that listens nowhere yet. */
export interface MillraceServer {
  readonly app: MillraceApp;
  readonly host: ServerHost;
  /** Drains and frees everything; may be called more than once. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Builds a server. Rejects with `ConfigError` for an unknown option or a bad value. */
export async function createServer(options: CreateServerOptions = {}): Promise<MillraceServer> {
  return buildServer(resolveOptions(await gatherOptions(options)));
}

/** A server whose options are resolved already. */
type BuiltServer = MillraceServer & { readonly app: ServedApp };

/** The same for options that are resolved already. A store that was opened for a server that is not built is closed again. */
export async function buildServer(options: ResolvedOptions): Promise<BuiltServer> {
  const registry = registryOf(options);
  const machine = createNodeHost();
  const clock = options.clock ?? machine;
  const now = (): number => clock.now();
  const keepsContent = (): boolean => readSettings(store.settings).ai.keepContent;
  const store: Store =
    options.store === "memory"
      ? openMemoryStore({ now, keepsContent })
      : await openStore({ dir: options.store, now, keepsContent });
  try {
    return await serverOver(options, { store, registry, machine, clock, now });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** What a server is built over. */
interface Ground {
  readonly store: Store;
  readonly registry: Registry;
  readonly machine: NodeHost;
  readonly clock: Pick<NodeHost, "now" | "setTimer">;
  readonly now: () => number;
}

async function serverOver(
  options: ResolvedOptions,
  { store, registry, machine, clock, now }: Ground,
): Promise<BuiltServer> {
  const { limits } = options;
  const secrets = new Set<string>(secretsOfKey(options.credentials.key));
  let redact = (text: string): string => text;
  const hide = (tokens: readonly string[]) => {
    for (const token of tokens) secrets.add(parseToken(token).secret);
    redact = createRedactor(secrets);
  };
  hide(options.tokens);
  const log = options.log ?? createLogger({ redact: (text) => redact(text) });
  const metrics = createMetrics();
  const journal = metrics.meter(store.journal);
  const credentials = openCredentialStore(options.credentials);
  const egress = machine.openFetch(options.egress ?? {});
  const services = openServices(options, credentials, {
    records: storedConnectionRecords(store.connections),
    fetch: egressFetch(egress),
    log,
    now,
  });
  const ai = await openAi(options, machine, services);
  const engine = createEngine({
    host: { ...machine, now, setTimer: (fn, ms) => clock.setTimer(fn, ms) },
    journal,
    credentials: services.credentials,
    services,
    providers: ai.providers,
    ai: ai.ai,
    limits: {
      nodes: limits.maxNodes,
      executions: limits.maxSteps,
      wallClockMs: limits.maxRunMs,
    },
    ...(options.egress === null ? {} : { egress: options.egress }),
    ...(options.files === null ? {} : { files: options.files }),
    ...(options.shell === null ? {} : { shell: options.shell }),
  });
  const executor = createLocalExecutor({
    engine,
    store,
    log,
    registry,
    subflows: subflowPort(store.templates),
    maxLiveRuns: limits.maxLiveRuns,
    maxQueuedRuns: limits.maxQueuedRuns,
    maxNodes: limits.maxNodes,
    now,
  });
  const scheduler = createScheduler({ store, executor, clock, log });
  const host: ServerHost = {
    executor,
    store,
    journal,
    registry,
    commands: coreHandlers,
    services,
    templates: templatePort(store.templates),
    egress,
    hubFolders: new Map(
      options.hubs.map(({ id, dir }) => [id, machine.openFiles({ root: dir, readOnly: true })]),
    ),
    scheduler,
    secrets: credentials.store,
    log,
    metrics,
    now,
    random: randomBytes,
  };
  await registerFolders(store.hubs, options.hubs);
  await executor.recover();
  scheduler.start();
  const stopRetention = startRetention(store, {
    limits: () => readSettings(store.settings).retention,
    log: (outcome) =>
      "error" in outcome
        ? log.error({ err: outcome.error }, "retention.failed")
        : log.info(outcome, "retention.done"),
  });
  const app = buildApp(host, options);
  return {
    app: {
      ...app,
      reload(next) {
        app.reload(next);
        hide(next.tokens ?? []);
      },
    },
    host,
    async close(closeOptions) {
      try {
        await app.drain(closeOptions);
        await ai.close();
      } finally {
        stopRetention();
        await store.close();
      }
    },
  };
}

/** The key of the credential file as it is configured; it must not reach a log either. */
function secretsOfKey(key: CredentialsOptions["key"]): readonly string[] {
  if (key === undefined) return [];
  if ("passphrase" in key) return [key.passphrase];
  const bytes = Buffer.from(key.bytes);
  return [bytes.toString("base64"), bytes.toString("hex")];
}

/** The registry of core and of the services. Throws `ConfigError` for a service with a schema that cannot be checked. */
function registryOf({ services }: ResolvedOptions): Registry {
  try {
    return createRegistry(services);
  } catch (cause) {
    if (!EngineError.isInstance(cause)) throw cause;
    throw new ConfigError("option_invalid", `option "services": ${cause.message}`, { cause });
  }
}

/** Providers of models and servers of tools, as the operator has set them up. */
async function openAi(
  { ai, egress, store }: ResolvedOptions,
  machine: NodeHost,
  { credentials }: ServiceConnections,
): Promise<AiSetup> {
  return createAi(ai.settings, {
    credentials,
    env: ai.env,
    openFetch: (more) =>
      machine.openFetch({ ...more, ...egress, allow: [...(egress?.allow ?? []), ...more.allow] }),
    ...(store === "memory" ? {} : { auditKey: await loadAuditKey(store) }),
  });
}

/** The services of a server over the credential store of its operator. */
function openServices(
  { services }: ResolvedOptions,
  { store, name, lock, close }: OpenedStore,
  ports: {
    readonly records: ConnectionRecords;
    readonly fetch: WebFetch;
    readonly log: Logger;
    readonly now: () => number;
  },
): ServiceConnections {
  const connections = createServiceConnections({
    store,
    storeName: name,
    ...(lock && { lock }),
    services,
    ...ports,
    random: randomBytes,
  });
  return {
    ...connections,
    async close() {
      await connections.close();
      await close();
    },
  };
}
