/**
 * `POST /mcp`: the streamable HTTP of the protocol, behind the gate of every other path.
 *   H1  No sessions: each request stands alone, so any server of a cluster answers it, and a token that is taken away counts at once.
 *   H2  Bodies are read as those of commands are: bytes, depth and syntax are checked before the protocol sees them.
 */

import type { RunClient } from "@millrace/client";
import type { ExecutionEvent, RunRef } from "@millrace/contracts";
import { whenAborted } from "@millrace/contracts/kit";
import {
  type AuthInfo,
  createMcpHandler,
  INVALID_REQUEST,
  InMemoryServerEventBus,
  PARSE_ERROR,
} from "@modelcontextprotocol/server";
import { MCP_PATH } from "../app/routes.ts";
import { invoke, JSON_TYPE, refuseWhileDraining } from "../dispatch/index.ts";
import { ProblemError } from "../errors.ts";
import { type Exchange, type HeaderRecord, readJsonBody } from "../http/index.ts";
import { documentOf, toClientError } from "../http/problem.ts";
import type { AppServices, Caller, CommandCall, ServerHost } from "../ports.ts";
import { checkPosition, knownSummary, readEvents } from "../runs/index.ts";
import type { EventStreams } from "../streams/index.ts";
import { LONG_ID, McpSurface, namesLongId, type Party } from "./surface.ts";
import { ToolCalls } from "./tool-calls.ts";

/** Headers that the protocol reads. */
const PASSED = [
  ...["content-type", "accept", "mcp-protocol-version", "mcp-method", "mcp-name"],
  ...["mcp-session-id", "last-event-id"],
];

export interface McpRoute {
  serve(exchange: Exchange): Promise<Response>;
  /** Ends what is still open. */
  close(): Promise<void>;
}

/** Makes the route; loaded at its first request. */
export function createMcpRoute({
  host,
  streams,
  ...services
}: {
  readonly host: ServerHost;
  readonly app: AppServices;
  readonly streams: EventStreams;
}): McpRoute {
  const app: AppServices = { ...services.app, actor: "mcp" };
  const surface = new McpSurface();
  const bus = new WatchedBus((changed) =>
    surface.watch(clientFor({ host, app, caller: WATCHER }), changed),
  );
  const { maxBodyBytes, maxStreams, heartbeatMs } = app.limits;
  const calls = new ToolCalls(surface, streams, { heartbeatMs });
  const handler = createMcpHandler(
    ({ authInfo }) => surface.serverFor(authInfo?.extra?.["party"] as Party),
    {
      bus,
      maxRequestBodySize: maxBodyBytes,
      maxSubscriptions: maxStreams,
      keepAliveMs: heartbeatMs,
      onerror: (err) => host.log.debug({ err }, "mcp.refused"),
    },
  );
  let isOver = false;
  return {
    async serve(exchange) {
      exchange.pattern = MCP_PATH;
      let parsedBody: unknown;
      try {
        parsedBody = await readJsonBody(exchange, maxBodyBytes);
      } catch (error) {
        return refuseBody(exchange, error);
      }
      if (namesLongId(parsedBody))
        return refuse(exchange, { code: INVALID_REQUEST, message: LONG_ID });
      if (isOver) refuseWhileDraining(app);
      const { caller } = exchange;
      const party: Party = { client: clientFor({ host, app, caller }), role: caller.role };
      const authInfo: AuthInfo = { token: "", clientId: "", scopes: [], extra: { party } };
      // Any answer may be a stream: what is refused one must not have begun.
      streams.checkCapacity();
      const answered = await calls.serve(exchange, parsedBody, authInfo);
      if (answered !== undefined) return answered;
      const stop = new AbortController();
      const unlisten = whenAborted(exchange.signal, () => stop.abort());
      const request = new Request(`http://localhost${MCP_PATH}`, {
        method: "POST",
        headers: headersOf(exchange),
        signal: stop.signal,
      });
      const response = await handler.fetch(request, { authInfo, parsedBody });
      const type = response.headers.get("content-type") ?? "application/json";
      if (response.body !== null && type.startsWith("text/event-stream")) {
        const headers = { "Content-Type": type, "Cache-Control": "no-cache, no-transform" };
        return streams.relay(exchange, { headers, body: response.body }, stop);
      }
      const body = await response.text();
      unlisten();
      const headers = body === "" ? {} : { "Content-Type": type };
      return exchange.reply({ status: response.status, headers, body });
    },
    async close() {
      isOver = true;
      await Promise.all([handler.close(), calls.close()]);
    },
  };
}

/** Reads names of templates, which everybody may who may connect. */
const WATCHER: Caller = { tokenId: null, role: "read", requestId: "mcp", remote: null };

/** A bus that watches templates while it has listeners. */
class WatchedBus extends InMemoryServerEventBus {
  readonly #watch: (changed: () => void) => () => void;
  #unwatch: (() => void) | undefined;

  constructor(watch: (changed: () => void) => () => void) {
    super();
    this.#watch = watch;
  }

  override subscribe(listener: Parameters<InMemoryServerEventBus["subscribe"]>[0]): () => void {
    const leave = super.subscribe(listener);
    this.#unwatch ??= this.#watch(() => {
      this.publish({ kind: "tools_list_changed" });
      this.publish({ kind: "resources_list_changed" });
    });
    return () => {
      leave();
      if (this.listenerCount > 0) return;
      this.#unwatch?.();
      this.#unwatch = undefined;
    };
  }
}

function headersOf(exchange: Exchange): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of PASSED) {
    const value = exchange.header(name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/** A body that is not read is refused in the words of the protocol, with the problem as its data. */
function refuseBody(exchange: Exchange, error: unknown): Response {
  if (!ProblemError.isInstance(error)) throw error;
  const isSyntax = error.code === "bad_json" || error.code === "json_too_deep";
  const { requestId } = exchange;
  const data = documentOf(error, { requestId, instance: MCP_PATH });
  const code = isSyntax ? PARSE_ERROR : INVALID_REQUEST;
  const { status, message, options } = error;
  return refuse(exchange, { code, message, data }, { status, headers: options.headers });
}

function refuse(
  exchange: Exchange,
  error: { readonly code: number; readonly message: string; readonly data?: unknown },
  {
    status = 400,
    headers = {},
  }: {
    readonly status?: number;
    readonly headers?: HeaderRecord | undefined;
  } = {},
): Response {
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error });
  return exchange.reply({ status, headers: { ...JSON_TYPE, ...headers }, body });
}

/** The commands of this process, as a client of this caller. A fault is logged, and named by its request. */
function clientFor({ host, app, caller }: Pick<CommandCall, "host" | "app" | "caller">): RunClient {
  const callOf = (signal?: AbortSignal, key?: string): CommandCall => ({
    host,
    app,
    caller,
    signal: signal ?? new AbortController().signal,
    key,
  });
  const fail = (thrown: unknown, signal: AbortSignal | undefined): never => {
    signal?.throwIfAborted();
    const place = { requestId: caller.requestId, instance: MCP_PATH };
    const error = toClientError(thrown, place);
    if (error !== thrown || ProblemError.isInstance(thrown)) throw error;
    host.log.error({ requestId: caller.requestId, err: thrown }, "request.failed");
    throw toClientError(new ProblemError("internal", { cause: thrown }), place);
  };
  async function* read(
    runId: string,
    { after = 0, kinds, signal }: NonNullable<Parameters<RunClient["runEvents"]>[1]>,
  ): AsyncGenerator<ExecutionEvent, void> {
    try {
      if (after > 0) checkPosition(await knownSummary(host, runId), after);
      yield* readEvents(host, runId, { after, kinds }, callOf(signal).signal);
    } catch (error) {
      fail(error, signal);
    }
  }
  return {
    async invoke(command, args, { signal, idempotencyKey } = {}) {
      try {
        const { value } = await invoke({ command, args }, callOf(signal, idempotencyKey));
        return value as never; // what a command answers is JSON
      } catch (error) {
        return fail(error, signal);
      }
    },
    async *runFlow(request, { signal } = {}) {
      const { runId } = (await this.invoke("run_flow", request, signal && { signal })) as RunRef;
      const kinds = request.options?.events;
      yield* read(runId, { ...(kinds !== undefined && { kinds }), ...(signal && { signal }) });
    },
    runEvents: (runId, options = {}) => read(runId, options),
  };
}
