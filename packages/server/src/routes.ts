/**
 * Routing. Routes are derived from the command registry; Hono finds the route and nothing else. What the gate has let in
 * is checked further here, in the order of the gate's table: role, method, draining, body, arguments.
 */
import type { CommandDef, HttpBinding, RunBlob } from "@millrace/contracts";
import { Hono } from "hono";
import { bindArgs } from "./bind-args.ts";
import { ClientGoneError, readJsonBody } from "./body.ts";
import { matchesEtag } from "./canonical-json.ts";
import {
  Answer,
  type AppServices,
  type CommandCall,
  checkArgs,
  checkDraining,
  checkRole,
  notWired,
} from "./command.ts";
import { ProblemError } from "./errors.ts";
import type { Exchange, Reply } from "./exchange.ts";
import type { HeaderRecord } from "./headers.ts";
import type { ServerHost } from "./host.ts";
import { invokeCommand, readInvocation } from "./invoke.ts";
import { problemReply } from "./problem.ts";
import { runCommand } from "./run-command.ts";

/** Answers a command that streams; `args` are parsed. */
export type StreamHandler = (
  args: never,
  call: CommandCall,
  exchange: Exchange,
) => Promise<Response>;

/** What routing needs. */
export interface RouteOptions {
  readonly host: ServerHost;
  readonly app: AppServices;
  readonly commands: ReadonlyMap<string, CommandDef>;
  readonly streams: ReadonlyMap<string, StreamHandler>;
  /** State for `/api/ready`. */
  readiness(): "ok" | "starting" | "draining" | "store";
}

/** Routes of one app. */
export interface Routes {
  /** Answers a request that the gate has let in. */
  handle(exchange: Exchange, request: Request): Response | Promise<Response>;
  /** Methods that a path knows, for `Allow` and for preflights. */
  methodsOf(path: string): readonly string[];
}

type BoundCommand = CommandDef & { readonly http: HttpBinding };

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
const INVOKE = "/api/invoke";
const HEALTH = "/api/health";
const READY = "/api/ready";
const BYTES = "application/octet-stream";
const JSON_TYPE: HeaderRecord = { "Content-Type": "application/json" };

/** Derives all routes. */
export function createRoutes(options: RouteOptions): Routes {
  const { host, app, commands, streams } = options;
  const hono = new Hono<{ Bindings: Exchange }>({
    // The gate has the path as it was sent; each hole is decoded once, when it is read.
    getPath: (_request, given) => exchangeOf(given).passage.path,
  });

  const callOf = (exchange: Exchange): CommandCall => ({
    host,
    app,
    caller: exchange.caller,
    // A getter: on Node the signal is made when it is first read, and few handlers read it.
    get signal() {
      return exchange.signal;
    },
    key: exchange.header("idempotency-key"),
  });

  async function serveCommand(
    exchange: Exchange,
    command: BoundCommand,
    path: Record<string, string>,
  ): Promise<Response> {
    const { http } = command;
    exchange.pattern = http.path;
    if (!app.isWired(command.name)) throw notWired(command.name);
    checkRole(command, exchange.caller);
    checkDraining(command, app);
    const takesBody = (http.body ?? "none") !== "none";
    const body = takesBody ? await readJsonBody(exchange, app.limits.maxBodyBytes) : undefined;
    const args = checkArgs(
      command,
      bindArgs(command, http, {
        path,
        query: exchange.passage.query,
        header: (name) => exchange.header(name),
        body,
      }),
    );
    const call = callOf(exchange);
    const stream = streams.get(command.name);
    if (stream !== undefined) return stream(args as never, call, exchange);
    const answer = await runCommand(command, args, call);
    return exchange.reply(
      http.media === BYTES ? toBytes(answer) : toReply(exchange, answer, http.status),
    );
  }

  async function serveInvoke(exchange: Exchange): Promise<Response> {
    exchange.pattern = INVOKE;
    const body = await readJsonBody(exchange, app.limits.maxBodyBytes);
    const answer = await invokeCommand(commands, readInvocation(body), callOf(exchange));
    const { ETag } = answer.headers;
    const headers: HeaderRecord = ETag === undefined ? {} : { ETag };
    return exchange.reply(toReply(exchange, new Answer(answer.value, { headers }), 200));
  }

  function serveState(exchange: Exchange, pattern: string, state: string): Response {
    exchange.pattern = pattern;
    return exchange.reply({
      status: state === "ok" ? 200 : 503,
      headers: JSON_TYPE,
      body: JSON.stringify({ status: state }),
    });
  }

  for (const group of groupByRoute(commands.values())) {
    const [{ http }] = group;
    hono.on(http.method, http.path, (c) => {
      const exchange = c.env;
      const command = chooseByQuery(group, exchange.passage.query);
      return serveCommand(exchange, command, c.req.param() as Record<string, string>);
    });
  }
  hono.post(INVOKE, (c) => serveInvoke(c.env));
  hono.get(HEALTH, (c) => serveState(c.env, HEALTH, "ok"));
  hono.get(READY, (c) => serveState(c.env, READY, options.readiness()));
  hono.notFound((c) => {
    throw missing(methodsOf(c.env.passage.path));
  });
  hono.onError((error, c) => answerError(c.env, error, host));

  function methodsOf(path: string): readonly string[] {
    const known: string[] = METHODS.filter(
      (method) => hono.router.match(method, path)[0].length > 0,
    );
    return path === HEALTH || path === READY ? [...known, "HEAD"] : known;
  }

  return {
    methodsOf,
    handle(exchange, request) {
      const { path } = exchange.passage;
      const known: readonly string[] = METHODS;
      const plainHead = exchange.method === "HEAD" && (path === HEALTH || path === READY);
      // Hono would answer HEAD as GET, and a method it does not know as not found.
      if (!plainHead && !known.includes(exchange.method)) throw missing(methodsOf(path));
      return hono.fetch(request, exchange);
    },
  };
}

/** Turns what a handler threw into an answer; a client that has left gets none. */
export function answerError(exchange: Exchange, error: unknown, host: ServerHost): Response {
  if (error instanceof ClientGoneError) return exchange.abandon();
  return exchange.reply(problemReply(exchange, error, host.log));
}

function missing(methods: readonly string[]): ProblemError {
  return methods.length === 0
    ? new ProblemError("route_not_found")
    : new ProblemError("method_not_allowed", { headers: { Allow: methods.join(", ") } });
}

/** The exchange is what Hono calls the environment of a request. */
function exchangeOf(options: { readonly env?: unknown } | undefined): Exchange {
  return options?.env as Exchange;
}

/** Commands that share method and path, the one without `when` last. */
function groupByRoute(
  commands: Iterable<CommandDef>,
): (readonly [BoundCommand, ...BoundCommand[]])[] {
  const groups = new Map<string, [BoundCommand, ...BoundCommand[]]>();
  for (const command of commands) {
    if (!isBound(command)) continue;
    const route = `${command.http.method} ${command.http.path}`;
    const group = groups.get(route);
    if (group === undefined) groups.set(route, [command]);
    else if (command.http.when === undefined) group.push(command);
    else group.unshift(command);
  }
  return [...groups.values()];
}

function isBound(command: CommandDef): command is BoundCommand {
  return command.http !== undefined;
}

function chooseByQuery(
  group: readonly [BoundCommand, ...BoundCommand[]],
  query: string,
): BoundCommand {
  if (group.length === 1) return group[0];
  const search = new URLSearchParams(query);
  const chosen = group.find(({ http: { when } }) => when === undefined || search.has(when.query));
  return chosen ?? group[0];
}

function toReply(exchange: Exchange, answer: Answer, status: number): Reply {
  const { value, headers } = answer;
  const chosen = answer.status ?? status;
  const { ETag } = headers;
  if (
    exchange.method === "GET" &&
    ETag !== undefined &&
    matchesEtag(exchange.header("if-none-match"), `${ETag}`)
  ) {
    return { status: 304, headers };
  }
  if (chosen === 204) return { status: 204, headers };
  return { status: chosen, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(value) };
}

/** By name a value travels as base64; over its route as the bytes themselves, never to be shown as a page. */
function toBytes(answer: Answer): Reply {
  const { base64 } = answer.value as RunBlob;
  return {
    status: 200,
    headers: { "Content-Type": BYTES, "Content-Disposition": "attachment", ...answer.headers },
    body: Buffer.from(base64, "base64"),
  };
}
