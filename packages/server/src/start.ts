/**
 * A server on a port of Node.
 *   T1  Nothing is bound that others can reach without a token, unless the operator says so.
 *   T2  Every answer on the socket, also to what is no HTTP, is a problem document with the headers of every response.
 *   T3  After `close` no socket, timer or listener of the server is left.
 */
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { MillraceApp, ServedApp } from "./app.ts";
import { buildServer, type CreateServerOptions } from "./create-server.ts";
import { gatherOptions } from "./environment.ts";
import { ConfigError } from "./errors.ts";
import { awaitingContinue } from "./exchange.ts";
import { CONNECTIONS_CHECK_MS } from "./limits.ts";
import { type ResolvedOptions, resolveOptions } from "./options.ts";
import { watchProcess } from "./process-signals.ts";
import { createRawAnswers } from "./raw-answers.ts";
import { isLoopback } from "./target.ts";

/** Options of `start`. */
export interface StartOptions extends CreateServerOptions {
  /**
   * Whether SIGTERM and SIGINT stop the server and end the process (exit code 0; a second one at once), and an uncaught
   * error ends it with 70. Default true; false where the process belongs to somebody else.
   */
  readonly signals?: boolean;
}

/** A server that listens. */
export interface RunningServer {
  /** `http://127.0.0.1:6455`, with the port that was really bound. */
  readonly url: string;
  readonly address: AddressInfo;
  readonly app: MillraceApp;
  /** Drains, then closes every socket; may be called more than once. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** How long the last bytes of streams may take to leave when the server closes. */
const FLUSH_MS = 1_000;

/**
 * Starts a server. Rejects with `ConfigError`: `option_invalid`, or `open_bind_refused` when an address is not loopback and
 * there is no token. Rejects with Node's own error when the address cannot be bound, such as `EADDRINUSE`.
 */
export async function start(options: StartOptions = {}): Promise<RunningServer> {
  const { signals = true, ...rest } = options;
  const resolved = resolveOptions(await gatherOptions(rest));
  const address = await chooseAddress(resolved);
  const server = await buildServer(resolved);
  const { app, host } = server;
  if (resolved.allowOpen && resolved.tokens.length === 0) {
    host.log.warn(
      { host: resolved.host },
      "open: everybody who reaches this address may do everything",
    );
  }
  const listener = createHttp(app, resolved, (bytes) => host.random(bytes));
  const { http } = listener;
  try {
    await listen(http, address, resolved.port);
  } catch (error) {
    await server.close({ graceMs: 0 });
    throw error;
  }
  // A socket that could not be accepted is its client's loss, not the end of the server.
  http.on("error", (error) => host.log.error({ err: error }, "listener.failed"));
  let closed: Promise<void> | undefined;
  const close = (closing: { readonly graceMs?: number } = {}): Promise<void> => {
    closed ??= app
      .drain(closing)
      .then(() => {})
      .finally(() => {
        unwatch();
        return closeHttp(listener);
      });
    return closed;
  };
  const unwatch = signals ? watchProcess({ close, log: host.log }) : () => {};
  const bound = http.address() as AddressInfo;
  const name = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  return { url: `http://${name}:${bound.port}`, address: bound, app, close };
}

/** The address to bind: the first that the name resolves to, after all of them were checked. */
async function chooseAddress(options: ResolvedOptions): Promise<string> {
  const name = options.host.replace(/^\[|\]$/g, "");
  let addresses: readonly { readonly address: string }[];
  try {
    addresses = await lookup(name, { all: true });
  } catch (cause) {
    throw new ConfigError("option_invalid", 'option "host" does not resolve to an address', {
      cause,
    });
  }
  const open = addresses.find(({ address }) => !isLoopback(address));
  if (open !== undefined && options.tokens.length === 0 && !options.allowOpen) {
    throw new ConfigError(
      "open_bind_refused",
      `option "host": ${open.address} can be reached by others; set a token, or allowOpen`,
    );
  }
  return addresses[0]?.address ?? name;
}

interface Listener {
  readonly http: Server;
  /** Answers that are not over yet. */
  readonly answering: ReadonlySet<ServerResponse>;
}

function createHttp(
  app: ServedApp,
  { limits }: ResolvedOptions,
  random: (bytes: number) => Uint8Array,
): Listener {
  const answering = new Set<ServerResponse>();
  const raw = createRawAnswers(random, (socket) =>
    [...answering].some((outgoing) => outgoing.headersSent && outgoing.socket === socket),
  );
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    answering.add(outgoing);
    const onGone = () => {
      if (outgoing.socket !== null) return; // its turn had come
      outgoing.destroy();
      outgoing.emit("close");
    };
    // Behind another answer of its socket: Node tells such a response nothing when the client leaves.
    if (outgoing.socket === null) incoming.socket.once("close", onGone);
    outgoing.once("close", () => {
      answering.delete(outgoing);
      incoming.socket.off("close", onGone);
    });
    app.serve({ incoming, outgoing });
  };
  const http = createHttpServer(
    {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      requireHostHeader: false, // the gate answers, with a problem document
      insecureHTTPParser: false,
    },
    serve,
  );
  http.maxConnections = limits.maxConnections;
  http.maxHeadersCount = 0; // Node would drop the rest in silence; the gate refuses
  http.on("clientError", raw.clientError);
  http.on("checkExpectation", raw.expectationFailed);
  http.on("checkContinue", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (Number(incoming.headers["content-length"] ?? 0) > limits.maxBodyBytes) {
      raw.bodyTooLarge(incoming, outgoing);
      return;
    }
    awaitingContinue.add(incoming);
    serve(incoming, outgoing);
  });
  return { http, answering };
}

function listen(http: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", reject);
    http.listen({ host, port }, () => {
      http.off("error", reject);
      resolve();
    });
  });
}

/** Lets the last answers leave, then cuts every connection: Node keeps one that never sent a request. */
async function closeHttp({ http, answering }: Listener): Promise<void> {
  const closed = new Promise((resolve) => http.close(resolve));
  const flushed = [...answering].map((outgoing) => once(outgoing, "close"));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, FLUSH_MS);
  });
  await Promise.race([Promise.all(flushed), late]);
  clearTimeout(timer);
  http.closeAllConnections();
  await closed;
}
