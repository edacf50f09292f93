/**
 * Routing. Routes are derived from the command registry; Hono's router finds them and does nothing else. What the gate has
 * let in is checked further here, in the order of the gate's table: role, method, draining, body, arguments.
 */
import type { CommandDef, RunBlob } from "@millrace/contracts";
import { COMMANDS } from "@millrace/contracts/commands";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import { bodyLimit } from "../config/limits.ts";
import {
  Answer,
  after,
  type BoundCommand,
  bindArgs,
  dispatch,
  invoke,
  isBound,
  isUnchanged,
  JSON_TYPE,
} from "../dispatch/index.ts";
import { ProblemError } from "../errors.ts";
import { type Exchange, type Reply, readJsonBody } from "../http/index.ts";
import type { AppServices, Caller, CommandCall, ServerHost } from "../ports.ts";
import { STUDIO, wantsPage } from "../studio/assets.ts";

/** Answers a command that streams; `args` are parsed. */
export type StreamHandler = (
  args: never,
  call: CommandCall,
  exchange: Exchange,
) => Promise<Response>;

export interface RouteOptions {
  readonly host: ServerHost;
  readonly app: AppServices;
  readonly streams: ReadonlyMap<string, StreamHandler>;
  /** Answers `/hooks/:token`. */
  readonly hook: (exchange: Exchange, token: string) => Promise<Response>;
  /** Answers `POST /mcp`; absent: it is switched off. */
  readonly mcp?: (exchange: Exchange) => Promise<Response>;
  /** Handlers of GET and HEAD for paths that are no commands. */
  readonly pages: ReadonlyMap<string, (exchange: Exchange) => Reply | Promise<Reply>>;
  /** State for `/api/ready`. */
  readiness(): "ok" | "starting" | "draining" | "store";
  /** Of a server of many: whether what gives runs to servers can be reached. Without it starts are taken, and wait. */
  dispatcher(): "ok" | "degraded" | undefined;
}

export interface Routes {
  /** Answers a request that the gate has let in. */
  handle(exchange: Exchange): Response | Promise<Response>;
  /** Methods that a path knows, for `Allow` and for preflights. */
  methodsOf(path: string): readonly string[];
}

/** Answers a request; `holes` are the path's, decoded. */
type Serve = (exchange: Exchange, holes: Record<string, string>) => Response | Promise<Response>;

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
/** Media type of routes that answer bytes. */
const BYTES = "application/octet-stream";
const INVOKE = "/api/invoke";
/** Headers of a command that its answer by name has, too. */
const INVOKE_HEADERS = ["ETag", "Idempotent-Replayed"] as const;
const HOOK = "/hooks/:token";
/** The Model Context Protocol. */
export const MCP_PATH = "/mcp";
const HEALTH = "/api/health";
const READY = "/api/ready";

export function createRoutes(options: RouteOptions): Routes {
  const { host, app, streams } = options;
  const router = new SmartRouter<Serve>({ routers: [new RegExpRouter(), new TrieRouter()] });
  /** Routes without holes, by method and path: most requests, found without a search. */
  const fixed = new Map<string, Serve>();
  const add = (method: string, path: string, serve: Serve) => {
    if (path.includes(":")) router.add(method, path, serve);
    else fixed.set(`${method} ${path}`, serve);
  };

  const callOf = (exchange: Exchange): CommandCall => new ExchangeCall(host, app, exchange);

  function serveCommand(
    exchange: Exchange,
    command: BoundCommand,
    path: Record<string, string>,
  ): Response | Promise<Response> {
    const { http, name } = command;
    exchange.pattern = http.path;
    const { query } = exchange.passage;
    const header = (wanted: string) => exchange.header(wanted);
    const bind = (body: unknown) => bindArgs(command, { path, query, header, body });
    const takesBody = (http.body ?? "none") !== "none";
    const readArgs = () =>
      takesBody
        ? readJsonBody(exchange, bodyLimit(http.path, app.limits)).then(bind)
        : bind(undefined);
    const call = callOf(exchange);
    const stream = streams.get(name);
    const open = stream && ((args: never) => stream(args, call, exchange));
    return after(dispatch(command, readArgs, call, open), (answer) => {
      if (!(answer instanceof Answer)) return answer;
      return exchange.reply(
        http.media === BYTES ? bytesReply(answer) : jsonReply(exchange, answer, http.status),
      );
    });
  }

  async function serveInvoke(exchange: Exchange): Promise<Response> {
    exchange.pattern = INVOKE;
    const body = await readJsonBody(exchange, app.limits.maxBodyBytes);
    const { value, headers } = await invoke(body, callOf(exchange));
    const kept = INVOKE_HEADERS.filter((name) => headers[name] !== undefined);
    const shown = new Answer(value, {
      headers: Object.fromEntries(kept.map((name) => [name, headers[name] ?? ""])),
    });
    return exchange.reply(jsonReply(exchange, shown, 200));
  }

  function serveState(
    exchange: Exchange,
    pattern: string,
    state: { readonly status: string; readonly dispatcher?: string },
  ): Response {
    exchange.pattern = pattern;
    return exchange.reply({
      status: state.status === "ok" ? 200 : 503,
      headers: JSON_TYPE,
      body: JSON.stringify(state),
    });
  }

  function serveReadiness(exchange: Exchange): Response {
    const dispatcher = options.dispatcher();
    return serveState(exchange, READY, {
      status: options.readiness(),
      ...(dispatcher !== undefined && { dispatcher }),
    });
  }

  for (const group of groupByRoute(COMMANDS.values())) {
    const [{ http }] = group;
    add(http.method, http.path, (exchange, holes) =>
      serveCommand(exchange, chooseByQuery(group, exchange.passage.query), holes),
    );
  }
  add("POST", INVOKE, serveInvoke);
  if (options.mcp !== undefined) add("POST", MCP_PATH, options.mcp);
  for (const method of ["GET", "POST"]) {
    add(method, HOOK, (exchange, { token = "" }) => options.hook(exchange, token));
  }
  for (const [path, page] of options.pages) {
    for (const method of ["GET", "HEAD"]) {
      add(method, path, async (exchange) => {
        exchange.pattern = path;
        return exchange.reply(await page(exchange));
      });
    }
  }
  for (const method of ["GET", "HEAD"]) {
    add(method, HEALTH, (exchange) => serveState(exchange, HEALTH, { status: "ok" }));
    add(method, READY, serveReadiness);
  }

  /** Where the web page is, for a browser that looks for it. */
  const pageOf = (exchange: Exchange): string | undefined =>
    app.studio && wantsPage(exchange.header("accept"))
      ? `${exchange.passage.basePath}${STUDIO}`
      : undefined;

  const methodsOf = (path: string): readonly string[] =>
    METHODS.filter(
      (method) => fixed.has(`${method} ${path}`) || router.match(method, path)[0].length > 0,
    );

  return {
    methodsOf,
    handle(exchange) {
      const { path } = exchange.passage;
      const known = fixed.get(`${exchange.method} ${path}`);
      if (known !== undefined) return known(exchange, {});
      const [found, holes] = router.match(exchange.method, path);
      const [match] = found;
      if (match === undefined) throw missing(methodsOf(path), pageOf(exchange));
      const [serve, places] = match;
      return serve(exchange, readHoles(places, holes));
    },
  };
}

/** The call that an exchange is; a class, because a getter in a literal is made anew for every request. */
class ExchangeCall implements CommandCall {
  readonly host: ServerHost;
  readonly app: AppServices;
  readonly caller: Caller;
  readonly key: string | undefined;
  readonly #exchange: Exchange;

  constructor(host: ServerHost, app: AppServices, exchange: Exchange) {
    this.host = host;
    this.app = app;
    this.caller = exchange.caller;
    this.key = exchange.header("idempotency-key");
    this.#exchange = exchange;
  }

  /** On Node it is made when it is first read, and few handlers read it. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }
}

/** The result as JSON; 304 when the client has it already. */
function jsonReply(exchange: Exchange, answer: Answer, status: number): Reply {
  const { value, headers } = answer;
  const chosen = answer.status ?? status;
  const { ETag } = headers;
  const known =
    exchange.method === "GET" &&
    ETag !== undefined &&
    isUnchanged(exchange.header("if-none-match"), `${ETag}`);
  if (known) return { status: 304, headers };
  if (chosen === 204) return { status: 204, headers };
  return { status: chosen, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(value) };
}

/** By name a value travels as base64; over its route as the bytes themselves, never to be shown as a page. */
function bytesReply(answer: Answer): Reply {
  const { base64 } = answer.value as RunBlob;
  return {
    status: 200,
    headers: { "Content-Type": BYTES, "Content-Disposition": "attachment", ...answer.headers },
    body: Buffer.from(base64, "base64"),
  };
}

/** Values of a path's holes, decoded once. A router gives them by name, or their places in a list. */
function readHoles(
  places: Readonly<Record<string, string | number>>,
  values: readonly string[] | undefined,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(places).map(([name, place]) => [
      name,
      decodeURIComponent(values === undefined ? `${place}` : (values[Number(place)] ?? "")),
    ]),
  );
}

/** `page`: where a browser finds the web page. */
function missing(methods: readonly string[], page: string | undefined): ProblemError {
  const detail = page && `There is nothing here; the page of this server is at ${page}`;
  return methods.length === 0
    ? new ProblemError("route_not_found", { detail })
    : new ProblemError("method_not_allowed", { headers: { Allow: methods.join(", ") } });
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

function chooseByQuery(
  group: readonly [BoundCommand, ...BoundCommand[]],
  query: string,
): BoundCommand {
  if (group.length === 1) return group[0];
  const search = new URLSearchParams(query);
  const chosen = group.find(({ http: { when } }) => when === undefined || search.has(when.query));
  return chosen ?? group[0];
}
