/** A whole server without a port: engine, journal, executor, app. */
import type { Dispatcher, Executor } from "@millrace/contracts";
import { isShared, type Store, startRetention } from "@millrace/store";
import { buildApp, type MillraceApp } from "../app/app.ts";
import { openDispatcher } from "../cluster/open-cluster.ts";
import { gatherOptions, type OptionSources } from "../config/environment.ts";
import {
  pathOf,
  type ResolvedOptions,
  resolveOptions,
  type ServerOptions,
} from "../config/options.ts";
import { notifySecret, readSettings } from "../config/settings.ts";
import type { CredentialsOptions } from "../connections/index.ts";
import { createLocalExecutor, createSharedExecutor } from "../executor/index.ts";
import { openFlowFiles } from "../flow-files/flow-files.ts";
import { folderPort } from "../flows/stored-flows.ts";
import { parseToken } from "../gate/tokens.ts";
import {
  buildHost,
  closeResources,
  type ExecutorParts,
  type HostResources,
  openResources,
} from "../host/build-host.ts";
import { registerFolders } from "../hubs/stored-hubs.ts";
import { createNotifier, type Notifier } from "../notify/notifier.ts";
import { countedDispatcher, watchConditions, withoutEchoes } from "../observe/conditions.ts";
import { RunWatch } from "../observe/run-watch.ts";
import { openTraces } from "../observe/traces/open-traces.ts";
import { watchedStore } from "../observe/watched-store.ts";
import type { FlowFiles, Logger, Metrics, ServerHost, ServerWatch } from "../ports.ts";
import { createScheduler } from "../schedules/scheduler.ts";
import { STUDIO } from "../studio/assets.ts";
import { createLogger, createRedactor } from "./logger.ts";
import { createMetrics } from "./metrics.ts";

/** Options of `createServer`: those of the app, and where others come from. */
export interface CreateServerOptions extends ServerOptions, OptionSources {}

/** A server that listens nowhere yet. */
export interface MillraceServer {
  readonly app: MillraceApp;
  readonly host: ServerHost;
  /** `app.request`: `const { status } = await server.request("/api/health")`. */
  readonly request: MillraceApp["request"];
  /** Drains and frees everything; may be called more than once. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
  /** `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Builds a server without a port, for tests and for an app of your own. Rejects with `ConfigError` for an unknown option or a bad
 * value.
 *
 *     await using server = await createServer({ store: "memory" });
 *     const response = await server.request("/api/health");
 *
 * It goes into another app under a path, which `basePath` names: `express.use("/flows", server.app.handle)`, or
 * `hono.mount("/flows", (request) => server.app.fetch(request), { replaceRequest: false })`.
 */
export async function createServer(options: CreateServerOptions = {}): Promise<MillraceServer> {
  return buildServer(resolveOptions(await gatherOptions(options)));
}

/** How long a scheduler sleeps at most where other processes may change its schedules. */
const SHARED_SLEEP_MS = 1_000;

/** A smaller difference of clocks is not reported. */
const FAR_MS = 10_000;

/** A server whose options are resolved already. */
type BuiltServer = MillraceServer & {
  /** The extension whose code an error came through. */
  readonly blame: (error: unknown) => string | undefined;
};

/** The same for options that are resolved already. A store that was opened for a server that is not built is closed again. */
export async function buildServer(options: ResolvedOptions): Promise<BuiltServer> {
  const resources = await openResources(options);
  try {
    return await serverOver(options, resources);
  } catch (error) {
    await closeResources(resources);
    throw error;
  }
}

async function serverOver(options: ResolvedOptions, opened: HostResources): Promise<BuiltServer> {
  const secrets = new Set<string>(secretsOf(options));
  let redact = (text: string): string => text;
  const hide = (tokens: readonly string[]) => {
    for (const token of tokens) secrets.add(parseToken(token).secret);
    redact = createRedactor(secrets);
  };
  hide(options.tokens);
  const { logLevel: level, logFormat: format } = options;
  const written = options.log ?? createLogger((text) => redact(text), { level, format });
  const log = withoutEchoes(written, opened.store);
  const isShared = options.cluster !== undefined;
  const metrics = createMetrics(
    options.cluster?.restate === undefined ? opened.store.kind : "restate",
  );
  let notifier: Notifier | undefined;
  const find = (runId: string) => opened.store.runs.header(runId, { private: false });
  const traces = options.traces && (await openTraces(options.traces, { log }));
  const traceOf = traces && ((runId: string) => traces.traceOf(runId));
  const onFailed = () => notifier?.wake();
  const watch = new RunWatch({ log, metrics, isShared, find, traceOf, onFailed });
  const watched = watchedStore(opened.store, { watch, metrics, isShared });
  const store = traces?.watchedStore(watched) ?? watched;
  const resources = { ...opened, store };
  const { clock } = resources;
  const dispatcher = await dispatcherOf(options, { store: opened.store, log, metrics });
  const makeExecutor = executorMaker(options, resources, dispatcher);
  let flowFiles: FlowFiles | undefined;
  const built = await buildHost(options, resources, {
    log,
    journal: store.journal,
    traces,
    makeExecutor,
    ...(options.flows && { subflows: folderPort(store.templates, () => flowFiles) }),
  });
  const { executor } = built;
  const scheduler = createScheduler({
    ...{ store, executor, clock, log },
    ...(store.kind !== "memory" && { maxSleepMs: SHARED_SLEEP_MS }),
  });
  notifier = createNotifier({
    ...{ store, executor, clock, log, metrics, limits: options.limits },
    egress: built.host.egress,
    random: built.host.random,
    secret: () => notifySecret(built.host.secrets),
    urlOf: runUrls(options),
  });
  if (options.flows !== undefined) {
    const { registry, limits } = { ...resources, ...options };
    flowFiles = await openFlowFiles(options.flows, { store, registry, limits, log });
  }
  const seen: ServerWatch = {
    get driven() {
      return watch.driven;
    },
    drives: (runId) => watch.drives(runId),
    get dispatcher() {
      return dispatcher?.condition;
    },
  };
  const host: ServerHost = {
    ...{ ...built.host, scheduler, metrics, watch: seen },
    ...(flowFiles && { flowFiles }),
    ...(traces && { traces }),
  };
  await registerFolders(store.hubs, options.hubs);
  const recovered = await executor.recover();
  const { resumed, parked, failed } = recovered;
  if (resumed + parked + failed > 0) log.info(recovered, "server.recovered");
  const unwatch = watchConditions({ store, dispatcher, log });
  scheduler.start();
  notifier.start();
  // The scan of models runs in the background.
  void host.models
    ?.manager()
    .catch((error: unknown) => log.error({ err: error }, "models.not_opened"));
  const retain: Store["retain"] = async (limits) => {
    const report = await store.retain(limits);
    await host.services.prune();
    return report;
  };
  const stopRetention = startRetention(
    { retain },
    {
      limits: async () => (await readSettings(store.settings)).retention,
      log: (outcome) =>
        "error" in outcome
          ? log.error({ err: outcome.error }, "retention.failed")
          : log.info(outcome, "retention.done"),
    },
  );
  const app = buildApp(host, options);
  let hasStopped = false;
  const close: MillraceServer["close"] = async (closeOptions) => {
    try {
      await notifier?.close();
      const report = await app.drain(closeOptions);
      await built.closeAi();
      if (!hasStopped) log.info(report, "server.stopped");
      hasStopped = true;
    } finally {
      unwatch();
      flowFiles?.close();
      stopRetention();
      await traces?.close();
      await store.close();
    }
  };
  return {
    app: {
      ...app,
      reload(next) {
        app.reload(next);
        hide(next.tokens ?? []);
      },
    },
    host,
    request: app.request,
    blame: (error) => opened.opened.extensions.blame(error),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** Where people look at a run: in the web page, else in the API. */
function runUrls({ publicUrl, basePath, studio }: ResolvedOptions) {
  if (publicUrl === undefined) return () => null;
  const base = `${new URL(publicUrl).origin}${pathOf(publicUrl) || basePath}`;
  const path = studio === undefined ? "/api/runs/" : `${STUDIO}#/runs/`;
  return (runId: string): string => `${base}${path}${runId}`;
}

/** A clock that is far from that of the store changes no time of a run, but signatures of Restate do not hold by it. */
function tellSkew(aheadMs: number, log: Logger): void {
  if (Math.abs(aheadMs) < FAR_MS) return;
  const text = `the clock of this server is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? "ahead of" : "behind"} that of the store; set it right, or Restate calls other servers only`;
  log.warn({ text, aheadMs }, "clock.differs");
}

/** The dispatcher that gives runs to this server, where it is one of many. */
async function dispatcherOf(
  { cluster, limits }: ResolvedOptions,
  {
    store,
    log,
    metrics,
  }: { readonly store: Store; readonly log: Logger; readonly metrics: Metrics },
): Promise<Dispatcher | undefined> {
  if (cluster === undefined || !isShared(store)) return undefined;
  tellSkew(Date.now() - store.now(), log);
  const dispatcher = await openDispatcher(cluster, { store, maxDrives: limits.maxLiveRuns, log });
  return countedDispatcher(dispatcher, metrics);
}

/** The executor of this server alone, or of one of many. */
function executorMaker(
  options: ResolvedOptions,
  { store, now }: HostResources,
  dispatcher: Dispatcher | undefined,
): (parts: ExecutorParts) => Executor {
  const { maxLiveRuns } = options.limits;
  if (dispatcher === undefined || !isShared(store)) {
    return (parts) => createLocalExecutor({ ...parts, store, maxLiveRuns, now });
  }
  const kind = options.cluster?.restate === undefined ? "postgres" : "restate";
  return (parts) => createSharedExecutor({ ...parts, store, dispatcher, kind, maxLiveRuns });
}

/** Secrets of the configuration for the redactor, besides tokens: keys of files and of the store, and its password. */
function secretsOf({ credentials, cluster }: ResolvedOptions): readonly string[] {
  const ofFile = secretsOfKey(credentials.key);
  if (cluster === undefined) return ofFile;
  const { password } = URL.canParse(cluster.url) ? new URL(cluster.url) : { password: "" };
  const written = [password, decodeURIComponent(password)].filter((text) => text !== "");
  return [...ofFile, ...secretsOfKey({ bytes: cluster.key }), ...written];
}

/** A key as it is configured. */
function secretsOfKey(key: CredentialsOptions["key"]): readonly string[] {
  if (key === undefined || typeof key === "function") return []; // asked for later, and shown nowhere
  if ("passphrase" in key) return [key.passphrase];
  const bytes = Buffer.from(key.bytes);
  return [bytes.toString("base64"), bytes.toString("hex")];
}
