/**
 * The whole HTTP surface as one fetch function: gate, routes, streams. No port, no signal handlers, no timers of its own.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { COMMANDS } from "@millrace/contracts/commands";
import { AuthFailures } from "./auth-failures.ts";
import type { AppServices, CommandCall } from "./command.ts";
import { createCursors } from "./cursors.ts";
import { type DrainReport, drainRuns } from "./drain.ts";
import { ProblemError } from "./errors.ts";
import { EventStreams } from "./event-stream.ts";
import { type Caller, Exchange, type ExchangeReport, type NodeBindings } from "./exchange.ts";
import { createGate, type Gate } from "./gate.ts";
import { preflightHeaders } from "./headers.ts";
import type { ServerHost } from "./host.ts";
import { IdempotencyKeys } from "./idempotency.ts";
import { invokeCommand, readInvocation } from "./invoke.ts";
import {
  type ReloadOptions,
  type ResolvedOptions,
  resolveOptions,
  type ServerOptions,
} from "./options.ts";
import { createRequestIds } from "./request-id.ts";
import { answerError, createRoutes, type Routes, type StreamHandler } from "./routes.ts";
import { createRunEventsStream } from "./streams/run-events.ts";
import { createRunFlowStream } from "./streams/run-flow.ts";

/** A server without a port. */
export interface MillraceApp {
  /** Answers a request; `env` holds the raw pair when it comes from Node, and the answer may then be written to it. */
  fetch(
    request: Request,
    env?: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
  ): Response | Promise<Response>;
  /** Calls a command without HTTP, with the checks of `POST /api/invoke`. Throws `ProblemError`. */
  invoke(command: string, args: unknown, caller: Caller, signal?: AbortSignal): Promise<unknown>;
  /** Replaces tokens, hosts and origins; what is absent goes back to its default. Streams of removed tokens are closed. */
  reload(next: ReloadOptions): void;
  /** Takes no new work, lets live runs go on for `graceMs` (default `drainMs`), ends the rest and every stream. */
  drain(options?: { readonly graceMs?: number }): Promise<DrainReport>;
}

/** Bytes of the key that signs cursors. */
const CURSOR_KEY_BYTES = 32;

/** Builds the app. Throws `ConfigError` for an unknown option or a bad value. */
export function createApp(host: ServerHost, options: ServerOptions = {}): MillraceApp {
  return buildApp(host, resolveOptions(options));
}

/** An app that a server of this package puts on a port. */
export interface ServedApp extends MillraceApp {
  /**
   * Lets the gate see a request of Node before anything else reads it: adapters refuse a bad `Host`, and normalise a
   * target, in ways of their own. False: it is answered.
   */
  admit(node: NodeBindings): boolean;
}

/** The same for options that are resolved already. */
export function buildApp(host: ServerHost, options: ResolvedOptions): ServedApp {
  const { limits } = options;
  const streams = new EventStreams(limits, host.log);
  const streamHandlers = new Map<string, StreamHandler>([
    ["run_flow", createRunFlowStream(streams)],
    ["get_run_events", createRunEventsStream(streams)],
  ]);
  const nextId = createRequestIds((bytes) => host.random(bytes));
  const failures = new AuthFailures(() => host.now());
  let gate = openGate(options, options, failures);
  let drained: Promise<DrainReport> | undefined;

  const app: AppServices = {
    limits,
    commands: COMMANDS,
    keys: new IdempotencyKeys(() => host.now()),
    cursors: createCursors(host.random(CURSOR_KEY_BYTES)),
    draining: () => drained !== undefined,
    isWired: (name) => host.commands.has(name) || streamHandlers.has(name),
  };
  const routes = createRoutes({
    host,
    app,
    commands: COMMANDS,
    streams: streamHandlers,
    readiness: () => (drained === undefined ? "ok" : "draining"),
  });

  function report(exchange: Exchange, startedAt: number, { status, bytes }: ExchangeReport): void {
    host.log.info(
      {
        requestId: exchange.requestId,
        method: exchange.method,
        route: exchange.pattern,
        status,
        ms: Math.round(performance.now() - startedAt),
        bytes,
        tokenId: exchange.token?.id ?? null,
      },
      "request",
    );
  }

  /** Exchanges that the gate has let in before node-server made a `Request` of them. */
  const admitted = new WeakMap<IncomingMessage, Exchange>();

  function open(source: Request | NodeBindings): Exchange {
    const startedAt = performance.now();
    return new Exchange(source, nextId(), (done, told) => report(done, startedAt, told));
  }

  /** In two steps, so that a page of an allowed origin can read why its token was refused. */
  function enter(exchange: Exchange): void {
    exchange.passage = gate.check(exchange);
    exchange.token = gate.authenticate(exchange, exchange.passage);
  }

  return {
    admit(node) {
      const exchange = open(node);
      try {
        enter(exchange);
      } catch (error) {
        answerError(exchange, error, host);
        return false;
      }
      admitted.set(node.incoming, exchange);
      return true;
    },
    fetch(request, env) {
      const known = env?.incoming === undefined ? undefined : admitted.get(env.incoming);
      const exchange = known ?? open(env?.incoming === undefined ? request : env);
      try {
        if (known === undefined) enter(exchange);
        if (exchange.method === "OPTIONS") return preflight(exchange, routes);
        const answer = routes.handle(exchange, request);
        if (!(answer instanceof Promise)) return answer;
        return answer.catch((error: unknown) => answerError(exchange, error, host));
      } catch (error) {
        return answerError(exchange, error, host);
      }
    },
    async invoke(command, args, caller, signal = new AbortController().signal) {
      const call: CommandCall = { host, app, caller, signal, key: undefined };
      const { value } = await invokeCommand(COMMANDS, readInvocation({ command, args }), call);
      return value;
    },
    reload(next) {
      gate = openGate(options, resolveOptions(next), failures);
      streams.closeRevoked((tokenId) => gate.tokens.has(tokenId));
    },
    drain({ graceMs = limits.drainMs } = {}) {
      drained ??= drainRuns(host, graceMs).finally(() => streams.closeAll());
      return drained;
    },
  };
}

function openGate(
  fixed: ResolvedOptions,
  changing: Pick<ResolvedOptions, "tokens" | "allowedHosts" | "allowedOrigins">,
  failures: AuthFailures,
): Gate {
  return createGate({
    bindHost: fixed.host,
    publicUrl: fixed.publicUrl,
    maxHeaders: fixed.limits.maxHeaders,
    tokens: changing.tokens,
    allowedHosts: changing.allowedHosts,
    allowedOrigins: changing.allowedOrigins,
    failures,
  });
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
