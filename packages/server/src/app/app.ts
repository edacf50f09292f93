/**
 * The whole HTTP surface as one fetch function: gate, routes, streams. No port, no signal handlers, no timers of its own.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type ReloadOptions,
  type ResolvedOptions,
  resolveOptions,
  type ServerOptions,
} from "../config/options.ts";
import { after, invoke } from "../dispatch/index.ts";
import { ConfigError, ProblemError } from "../errors.ts";
import { createGate } from "../gate/gate.ts";
import { clientThrough } from "../gate/proxies.ts";
import { Revocations } from "../gate/revocations.ts";
import { isLoopback, loggedPath } from "../gate/target.ts";
import { TokenBuckets } from "../gate/token-buckets.ts";
import type { TokenIdentity } from "../gate/tokens.ts";
import {
  answerError,
  createRequestIds,
  Exchange,
  type ExchangeReport,
  type NodeBindings,
  preflightHeaders,
} from "../http/index.ts";
import type { McpRoute } from "../mcp/http.ts";
import { createPages } from "../openapi/pages.ts";
import type { AppServices, Caller, CommandCall, ServerHost } from "../ports.ts";
import { isEnded, liveRuns } from "../runs/index.ts";
import { createMetrics } from "../server/metrics.ts";
import {
  createFeedStream,
  createModelsStream,
  createRunEventsStream,
  createRunFlowStream,
  EventStreams,
} from "../streams/index.ts";
import { createHook } from "../webhooks/hook.ts";
import { createRoutes, type Routes, type StreamHandler } from "./routes.ts";

/** A server without a port. */
export interface MillraceApp {
  /** Answers a request; `env` holds the raw pair when it comes from Node, and the answer may then be written to it. */
  fetch(
    request: Request,
    env?: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
  ): Response | Promise<Response>;
  /**
   * Answers a request of Node: a listener of `node:http`, or middleware of Express and Connect. The body must be unread; nothing
   * is handed on, so a path that is not known is answered with 404.
   */
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /**
   * Answers a request of this program, as `app.request("/api/health")` or with what `fetch` takes; its host is 127.0.0.1.
   */
  request(input: string | Request, init?: RequestInit): Promise<Response>;
  /** Calls a command without HTTP, with the checks of `POST /api/invoke`. Throws `ProblemError`. */
  invoke(command: string, args: unknown, caller: Caller, signal?: AbortSignal): Promise<unknown>;
  /**
   * Replaces tokens, hosts and origins; what is absent stays. Streams of removed or replaced tokens are closed. Throws
   * `ConfigError`: `option_invalid`, or `open_bind_refused` when the last token would go from an address that is not loopback.
   */
  reload(next: ReloadOptions): void;
  /** Takes no new work, lets live runs go on for `graceMs` (default `drainMs`), ends the rest and every stream. */
  drain(options?: { readonly graceMs?: number }): Promise<DrainReport>;
}

/** Bytes of the key that digests tokens. */
const KEY_BYTES = 32;

/** Failures that an address may have at once, and in each minute. */
const FAILED_LOGINS = 600;

/** Routes that machines ask all the time; they are no spans, and their good answers are for who debugs. */
const PROBES: ReadonlySet<string> = new Set(["/api/health", "/api/ready", "/api/metrics"]);

/** The options that `reload` replaces. */
type Changing = Pick<ResolvedOptions, keyof ReloadOptions>;

/** Builds the app. Throws `ConfigError` for an unknown option or a bad value. */
export function createApp(host: ServerHost, options: ServerOptions = {}): MillraceApp {
  return buildApp(host, resolveOptions(options));
}

/** The same for options that are resolved already. */
export function buildApp(host: ServerHost, options: ResolvedOptions): MillraceApp {
  const { limits } = options;
  const { metrics = createMetrics() } = host;
  const streams = new EventStreams(limits, host.log, () =>
    metrics.add("millrace_streams_stalled_total"),
  );
  const streamHandlers = new Map<string, StreamHandler>([
    ["run_flow", createRunFlowStream(streams)],
    ["get_run_events", createRunEventsStream(streams)],
    ["subscribe_events", createFeedStream(streams)],
  ]);
  if (host.models !== null) streamHandlers.set("subscribe_models", createModelsStream(streams));
  const nextId = createRequestIds((bytes) => host.random(bytes));
  const failures = new TokenBuckets(FAILED_LOGINS, () => host.now());
  const tokenKey = host.random(KEY_BYTES);
  let changing: Changing = options;
  let clientOf = clientThrough(options.trustProxy);
  const revocations = new Revocations(host.store.settings, () => closeRevoked());
  const isRevoked = (tokenId: string): boolean => revocations.has(tokenId);
  let gate = createGate({ ...options, tokenKey, failures, isRevoked });
  const closeRevoked = (): void => streams.closeRevoked((token) => gate.admits(token));
  const unwatch = revocations.watch(() => streams.count > 0 && changing.tokens.length > 0);
  let drained: Promise<DrainReport> | undefined;

  const app: AppServices = {
    limits,
    actor: "api",
    webhooks: options.webhooks,
    studio: options.studio !== undefined,
    draining: () => drained !== undefined,
    isWired: (name) => host.commands.has(name) || streamHandlers.has(name),
  };
  let mcp: Promise<McpRoute> | undefined;
  const openMcp = async (): Promise<McpRoute> =>
    (await import("../mcp/http.ts")).createMcpRoute({ host, app, streams });
  const routes = createRoutes({
    host,
    app,
    streams: streamHandlers,
    ...(options.mcp && {
      async mcp(exchange) {
        mcp ??= openMcp(); // the protocol is loaded for who speaks it
        return (await mcp).serve(exchange);
      },
    }),
    hook: createHook(host, app),
    pages: createPages(host, metrics, () => streams.count, options),
    readiness() {
      if (drained !== undefined) return "draining";
      if (host.executor.recovering === true) return "starting";
      return host.store.condition === "ok" ? "ok" : "store";
    },
    dispatcher: () => host.watch?.dispatcher,
  });

  function report(exchange: Exchange, startedAt: number, facts: ExchangeReport): void {
    const { status, bytes, streamed } = facts;
    const ms = performance.now() - startedAt;
    metrics.request(exchange.pattern, status, streamed ? undefined : ms);
    const { method, pattern: route, trace } = exchange;
    const isProbe = PROBES.has(route ?? "");
    if (!isProbe) trace?.ended({ method, route, status });
    const line = {
      requestId: exchange.requestId,
      method,
      path: loggedPath(exchange.target),
      route,
      status,
      ms: Math.round(ms),
      bytes,
      client: exchange.remote,
      tokenId: exchange.token?.id ?? null,
      ...(trace !== undefined && { trace_id: trace.traceId }),
    };
    if (isProbe && status < 400) host.log.debug(line, "request");
    else host.log.info(line, "request");
  }

  /** A login that failed; refused before a route was looked for. */
  function noteRejection(exchange: Exchange, error: unknown): void {
    const code = ProblemError.isInstance(error) ? error.code : undefined;
    if (code !== "unauthorized" && code !== "too_many_requests") return;
    const { requestId, method, target, remote: client } = exchange;
    const isMissing = exchange.header("authorization") === undefined;
    const reason = code !== "unauthorized" ? "too_many" : isMissing ? "missing" : "unknown";
    metrics.add("millrace_tokens_rejected_total", [reason]);
    const path = loggedPath(target);
    host.log.warn({ requestId, method, path, client, reason }, "token.rejected");
  }

  function answer(source: Request | NodeBindings, given?: Request): Response | Promise<Response> {
    const startedAt = performance.now();
    const exchange = new Exchange(source, nextId(), (done, facts) =>
      report(done, startedAt, facts),
    );
    if (given !== undefined) exchange.given = given;
    if (clientOf !== undefined) {
      exchange.client = clientOf(exchange.remote, exchange.header("x-forwarded-for"));
    }
    exchange.trace = host.traces?.serve(exchange.header("traceparent"));
    const fail = (error: unknown) => {
      if (exchange.pattern === null) noteRejection(exchange, error);
      return answerError(exchange, error, host.log);
    };
    const admit = (token: TokenIdentity | null) => {
      exchange.token = token;
      return exchange.method === "OPTIONS" ? preflight(exchange, routes) : routes.handle(exchange);
    };
    try {
      // In two steps, so that a page of an allowed origin can read why its token was refused.
      exchange.passage = gate.check(exchange);
      const { passage } = exchange;
      const isAsked = changing.tokens.length > 0 && !passage.exempt;
      const answered = after(isAsked ? revocations.fresh() : undefined, () =>
        after(gate.authenticate(exchange, passage), admit),
      );
      return answered instanceof Promise ? answered.catch(fail) : answered;
    } catch (error) {
      return fail(error);
    }
  }

  return {
    handle: (incoming, outgoing) => void answer({ incoming, outgoing }),
    async request(input, init) {
      const url = typeof input === "string" ? new URL(input, "http://127.0.0.1") : input;
      const request = url instanceof Request && init === undefined ? url : new Request(url, init);
      return answer(request, request);
    },
    fetch: (request, env) => answer(env?.incoming === undefined ? request : env, request),
    async invoke(command, args, caller, signal = new AbortController().signal) {
      const call: CommandCall = { host, app, caller, signal, key: undefined };
      return (await invoke({ command, args }, call)).value;
    },
    reload(next) {
      const read = resolveOptions({ ...next, ...(options.caller && { caller: options.caller }) });
      const wanted: Changing = {
        tokens: next.tokens === undefined ? changing.tokens : read.tokens,
        allowedHosts: next.allowedHosts === undefined ? changing.allowedHosts : read.allowedHosts,
        allowedOrigins:
          next.allowedOrigins === undefined ? changing.allowedOrigins : read.allowedOrigins,
        trustProxy: next.trustProxy === undefined ? changing.trustProxy : read.trustProxy,
      };
      const opens = changing.tokens.length > 0 && wanted.tokens.length === 0;
      if (opens && !isLoopback(options.host) && !options.allowOpen) {
        throw new ConfigError("open_bind_refused", 'option "tokens": the last token must stay');
      }
      gate = createGate({ ...options, ...wanted, tokenKey, failures, isRevoked });
      clientOf = clientThrough(wanted.trustProxy);
      changing = wanted;
      closeRevoked();
    },
    drain({ graceMs = limits.drainMs } = {}) {
      drained ??= drainRuns(host, graceMs).finally(() => {
        unwatch();
        streams.closeAll();
        metrics.close();
        void mcp?.then((route) => route.close());
      });
      return drained;
    },
  };
}

/** The gate has refused every origin that is not allowed; without one, OPTIONS is a method like any other. */
function preflight(exchange: Exchange, routes: Routes): Response {
  const methods = routes.methodsOf(exchange.passage.path);
  if (exchange.header("origin") === undefined) {
    throw new ProblemError("method_not_allowed", { headers: { Allow: methods.join(", ") } });
  }
  const shared = exchange.passage.corsOrigin !== null;
  return exchange.reply({ status: 204, headers: shared ? preflightHeaders(methods) : {} });
}

/** Executors of several servers. */
const SHARED: ReadonlySet<string> = new Set(["postgres", "restate"]);
/** Runs that the line of a drain names. */
const MAX_NAMED = 20;

/**
 * The runs that were live when the drain began, by outcome; of several servers those that this one drove. `parked`: they go on at the
 * next start, or at another server.
 */
export interface DrainReport {
  readonly finished: number;
  readonly cancelled: number;
  readonly parked: number;
  readonly ms: number;
}

/**
 * Fires no more schedules, closes the executor, then every open consent and the credentials, which runs need until they have
 * ended; and counts.
 */
async function drainRuns(host: ServerHost, graceMs: number): Promise<DrainReport> {
  const startedAt = performance.now();
  await host.scheduler?.close();
  const runIds: string[] = [];
  const waitsFor: { readonly runId: string; readonly flow: string }[] = [];
  // One of several servers leaves its runs to the others at once.
  const isAlone = !SHARED.has(host.executor.kind);
  for await (const { runId, status, flow } of liveRuns(host.executor)) {
    if (!isAlone && host.watch?.drives(runId) === false) continue;
    runIds.push(runId);
    const isAtWork = status === "running" || status === "cancelling";
    if (isAlone && isAtWork && graceMs > 0) waitsFor.push({ runId, flow: flow.id });
  }
  host.log.info(
    { graceMs, runs: waitsFor.length, waitsFor: waitsFor.slice(0, MAX_NAMED) },
    "server.draining",
  );
  try {
    await host.executor.close({ graceMs });
  } finally {
    await host.services.close();
  }
  let finished = 0;
  let cancelled = 0;
  for (const runId of runIds) {
    const run = await host.store.runs.summary(runId);
    if (run?.status === "cancelled") cancelled += 1;
    else if (run !== null && isEnded(run.status)) finished += 1;
  }
  return {
    finished,
    cancelled,
    parked: runIds.length - finished - cancelled,
    ms: Math.round(performance.now() - startedAt),
  };
}
