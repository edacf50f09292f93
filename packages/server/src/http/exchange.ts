/**
 * One request and its answer, the same for Node and for fetch. On Node an answer is written to the raw response at once;
 * on fetch it becomes a `Response`.
 *   X1  An answer is given once.
 *   X2  A request whose body was not read to its end is answered with `Connection: close`, and the socket goes after it.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { LINGER_MS } from "../config/limits.ts";
import type { Passage, RawRequest } from "../gate/gate.ts";
import type { TokenIdentity } from "../gate/tokens.ts";
import type { ServedRequest } from "../observe/traces/open-traces.ts";
import type { Caller } from "../ports.ts";

/** The raw pair of a request that came through Node. */
export interface NodeBindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** An answer that is whole: everything but event streams. */
export interface Reply {
  readonly status: number;
  readonly headers?: HeaderRecord;
  readonly body?: string | Uint8Array;
}

/** Facts about an answered request, for the log and the metrics. */
export interface ExchangeReport {
  readonly status: number;
  readonly bytes: number;
  /** An event stream: its length is not a time of the server. */
  readonly streamed: boolean;
}

/** Requests whose client waits for `100 Continue` before it sends the body; `100` is sent when the body is wanted. */
export const awaitingContinue: WeakSet<IncomingMessage> = new WeakSet();

/** Requests whose body is being read, each with a function that ends the reading with an error. */
export const bodyReads: WeakMap<IncomingMessage, (error: Error) => void> = new WeakMap();

/** Status in the log of a request whose client left before it was answered; never sent over a socket. */
const CLIENT_LEFT = 499;

const OPEN_PASSAGE: Passage = {
  path: "/",
  query: "",
  basePath: "",
  corsOrigin: null,
  exempt: true,
};

/** One request and its answer, the same on Node and over fetch. */
export class Exchange implements RawRequest {
  readonly requestId: string;
  readonly method: string;
  readonly target: string;
  readonly isMounted: boolean;
  /** The raw pair; null when the request came by fetch. */
  readonly node: NodeBindings | null;
  /** The request; null when it came through Node. */
  readonly web: Request | null;
  /** The object that the program around has called `fetch` with. */
  given: Request | null = null;
  /** Set by the gate. */
  passage: Passage = OPEN_PASSAGE;
  /** The token that was shown; null when the server is open, or the path needs none. */
  token: TokenIdentity | null = null;
  /** The address of the client, behind proxies. */
  client: string | null = null;
  /** Its span, where it is traced. */
  trace: ServedRequest | undefined;
  /** Pattern of the route, for logs and problems; null when no route was found. */
  pattern: string | null = null;
  /** The body was read to its end, or there is none. */
  bodyRead: boolean;
  #leaving: AbortController | undefined;
  readonly #report: (exchange: Exchange, report: ExchangeReport) => void;

  constructor(
    source: Request | NodeBindings,
    requestId: string,
    report: (exchange: Exchange, report: ExchangeReport) => void,
  ) {
    this.requestId = requestId;
    if ("incoming" in source) {
      const { method = "", url = "", headers } = source.incoming;
      this.node = source;
      this.web = null;
      this.method = method;
      this.target = url;
      this.isMounted = isMounted(source.incoming);
      this.bodyRead =
        headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
    } else {
      this.node = null;
      this.web = source;
      this.method = source.method;
      this.target = targetOf(source.url);
      this.isMounted = false;
      this.bodyRead = source.body === null;
    }
    this.#report = report;
  }

  header(name: string): string | undefined {
    if (this.web !== null) {
      const value = this.web.headers.get(name);
      // A fetch `Request` seldom carries `Host`: its URL says the same.
      return value ?? (name === "host" ? new URL(this.web.url).host : undefined);
    }
    const headers = this.node?.incoming.headers ?? {};
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
    return Array.isArray(value) ? value.join(", ") : value;
  }

  get rawHeaders(): readonly string[] | null {
    return this.node?.incoming.rawHeaders ?? null;
  }

  get socket(): object | null {
    return this.node?.incoming.socket ?? null;
  }

  get remote(): string | null {
    return this.client ?? this.node?.incoming.socket.remoteAddress ?? null;
  }

  toRequest(): Request {
    if (this.given !== null) return this.given;
    const { incoming } = this.node as NodeBindings;
    const pairs = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    const { host = "localhost" } = incoming.headers;
    return new Request(`http://${host}${this.target}`, { method: this.method, headers: pairs });
  }

  get caller(): Caller {
    return {
      tokenId: this.token?.id ?? null,
      role: this.token?.role ?? "admin",
      requestId: this.requestId,
      remote: this.remote,
      ...(this.trace !== undefined && { traceparent: this.trace.traceparent }),
    };
  }

  /** Aborted when the client leaves before it has its answer. */
  get signal(): AbortSignal {
    if (this.web !== null) return this.web.signal;
    if (this.#leaving === undefined) {
      const leaving = new AbortController();
      const outgoing = this.node?.outgoing;
      if (outgoing?.destroyed) leaving.abort();
      outgoing?.once("close", () => {
        if (!outgoing.writableFinished) leaving.abort();
      });
      this.#leaving = leaving;
    }
    return this.#leaving.signal;
  }

  /** Headers for an answer that is written by hand, `Connection` included. */
  headers(more: HeaderRecord): HeaderRecord {
    const { basePath, corsOrigin } = this.passage;
    const base = baseHeaders(this.requestId, corsOrigin);
    const vary = [base["Vary"], more["Vary"]].filter((names) => names !== undefined);
    const headers = Object.assign(base, more);
    if (vary.length > 1) headers["Vary"] = vary.join(", ");
    if (basePath !== "") moveLinks(headers, basePath);
    if (!this.bodyRead && this.node !== null) headers["Connection"] = "close";
    return headers;
  }

  reply({ status, headers: more = {}, body = "" }: Reply): Response {
    const headers = this.headers(more);
    const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
    this.finished(status, bytes);
    if (this.node === null) {
      const empty = this.method === "HEAD" || status === 204 || status === 304;
      return new Response(empty ? null : (body as string | Uint8Array<ArrayBuffer>), {
        status,
        headers: headers as Record<string, string>,
      });
    }
    const { outgoing } = this.node;
    if (outgoing.headersSent || outgoing.destroyed) return RESPONSE_ALREADY_SENT;
    if (status !== 204 && status !== 304) headers["Content-Length"] = bytes;
    outgoing.writeHead(status, headers);
    if (this.bodyRead) outgoing.end(body);
    else endLater(outgoing, body);
    return RESPONSE_ALREADY_SENT;
  }

  /** Ends an exchange whose client has left. */
  abandon(): Response {
    this.finished(CLIENT_LEFT, 0);
    if (this.node === null) return new Response(null, { status: CLIENT_LEFT });
    this.node.outgoing.destroy();
    return RESPONSE_ALREADY_SENT;
  }

  /** Says that the answer is over; `reply` does it by itself. */
  finished(status: number, bytes: number, streamed = false): void {
    this.#report(this, { status, bytes, streamed });
  }
}

/**
 * Sends the whole answer but keeps the socket for a moment. Closing a socket with unread bytes resets it, and a client
 * that is still writing would see the reset instead of the answer.
 */
function endLater(outgoing: ServerResponse, body: string | Uint8Array): void {
  outgoing.write(body);
  const timer = setTimeout(() => outgoing.end(() => outgoing.destroy()), LINGER_MS);
  timer.unref();
  outgoing.once("close", () => clearTimeout(timer));
}

/** True where an app around has taken its part of the path away: Express says so by `baseUrl`, Connect by `originalUrl`. */
function isMounted({
  url,
  baseUrl,
  originalUrl = url,
}: IncomingMessage & { readonly baseUrl?: unknown; readonly originalUrl?: unknown }): boolean {
  return typeof baseUrl === "string" ? baseUrl !== "" : originalUrl !== url;
}

function targetOf(url: string): string {
  const path = url.indexOf("/", url.indexOf("//") + 2);
  const end = url.indexOf("#");
  return path < 0 ? "/" : url.slice(path, end < 0 ? undefined : end);
}

/** Names to values, as `writeHead` takes them. */
export type HeaderRecord = Record<string, string | number>;

const ALLOWED_REQUEST_HEADERS =
  "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id";
const EXPOSED_HEADERS =
  "Millrace-Run-Id, Millrace-Feed-Gap, ETag, Location, Link, Idempotent-Replayed, Retry-After";
/** How long a browser may keep the answer of a preflight, in seconds. */
const PREFLIGHT_MAX_AGE = 600;

const BASE_HEADERS: Readonly<HeaderRecord> = Object.freeze({
  "X-Request-Id": "", // its place
  "Millrace-Api-Version": "1",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
});

/** The headers that every response carries; later ones of the same spelling replace them. */
export function baseHeaders(requestId: string, corsOrigin: string | null): HeaderRecord {
  const headers: HeaderRecord = { ...BASE_HEADERS, "X-Request-Id": requestId };
  if (corsOrigin !== null) {
    headers["Access-Control-Allow-Origin"] = corsOrigin;
    headers["Access-Control-Expose-Headers"] = EXPOSED_HEADERS;
    headers["Vary"] = "Origin";
  }
  return headers;
}

/** Headers of a preflight of an allowed origin, besides `baseHeaders`. Never credentials. */
export function preflightHeaders(methods: readonly string[]): HeaderRecord {
  return {
    "Access-Control-Allow-Methods": methods.join(", "),
    "Access-Control-Allow-Headers": ALLOWED_REQUEST_HEADERS,
    "Access-Control-Max-Age": PREFLIGHT_MAX_AGE,
    "Access-Control-Allow-Private-Network": "true",
  };
}

/** Puts the base path before links to paths of the server. */
function moveLinks(headers: HeaderRecord, basePath: string): void {
  for (const name of ["Location", "Content-Location", "Link"]) {
    const link = headers[name];
    if (typeof link === "string") headers[name] = link.replace(/^(<?)\//, `$1${basePath}/`);
  }
}
