/**
 * A server on a port of Node.
 *   T1  An address that others can reach is not bound without a token, unless the operator allows it.
 *   T2  Every answer on the socket, also to what is no HTTP, is a problem document with the headers of every response.
 *   T3  After `close` no socket, timer or listener of the server is left.
 */
import { lookup } from "node:dns/promises";
import type { AddressInfo } from "node:net";
import type { MillraceApp } from "../app/app.ts";
import { gatherOptions, tokenFileProblem } from "../config/environment.ts";
import { type ResolvedOptions, resolveOptions } from "../config/options.ts";
import { badOption, ConfigError } from "../errors.ts";
import { isLoopback } from "../gate/target.ts";
import { closeListener, createListener, listen } from "../http/index.ts";
import type { Logger } from "../ports.ts";
import { packageVersion } from "../version.ts";
import { buildServer, type CreateServerOptions } from "./create-server.ts";
import { watchProcess } from "./process-signals.ts";

/** Options of `start`. */
export interface StartOptions extends CreateServerOptions {
  /**
   * Whether SIGTERM and SIGINT stop the server and end the process (exit code 0; a second one at once), SIGHUP calls `reload`, and
   * an uncaught error ends it with 70. Default true; false in a process that is not the server's own.
   */
  readonly signals?: boolean;
}

/** A server that listens. */
export interface RunningServer {
  /** `http://127.0.0.1:6455`, with the port that was really bound. */
  readonly url: string;
  readonly address: AddressInfo;
  readonly app: MillraceApp;
  /** Where it logs, for lines of the program around. */
  readonly log: Logger;
  /** False: every request that reaches the address is let in. */
  readonly requiresToken: boolean;
  /** Resolves, with why, when the store takes nothing any more: close, end the process, and start again to recover its runs. */
  readonly lost: Promise<string>;
  /**
   * Reads the token file again. Streams of tokens that are gone are closed; runs go on. A file that cannot be read, or the loss of the
   * last token where others can reach the address, is logged as `server.not_reloaded` and changes nothing.
   */
  reload(): Promise<void>;
  /** Drains, then closes every socket; may be called more than once. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
  /** `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

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
  if (resolved.allowOpen && resolved.tokens.length === 0 && !resolved.caller) {
    host.log.warn({ host: resolved.host }, "server.open");
  }
  const problem = await tokenFileProblem(rest);
  if (problem !== undefined) host.log.warn({ problem }, "server.warning");
  const listener = createListener({
    limits: resolved.limits,
    random: (bytes) => host.random(bytes),
    serve: app.handle,
  });
  const { http } = listener;
  try {
    await listen(listener, address, resolved.port);
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
        return closeListener(listener);
      })
      .finally(() => server.close(closing));
    return closed;
  };
  const { log, store } = host;
  const reload = async (): Promise<void> => {
    try {
      const { tokens = [] } = await gatherOptions(rest);
      app.reload({ tokens });
      log.info({ tokens: tokens.length }, "server.reloaded");
    } catch (error) {
      log.error({ err: error }, "server.not_reloaded");
    }
  };
  const unwatch = signals
    ? watchProcess({ close, reload, log, lost: store.lost, blame: server.blame })
    : () => {};
  const bound = http.address() as AddressInfo;
  const name = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  const url = `http://${name}:${bound.port}`;
  try {
    store.announce(url);
  } catch (error) {
    // For messages of other processes that find the store in use; the server works without it.
    log.warn({ err: error }, "server.not_announced");
  }
  const requiresToken = resolved.tokens.length > 0;
  log.info(
    {
      url,
      studio: resolved.studio === undefined ? null : `${url}${resolved.basePath}/studio`,
      version: packageVersion(),
      pid: process.pid,
      store: store.kind,
      data: resolved.store,
      executor: host.executor.kind,
      requiresToken,
    },
    "server.listening",
  );
  const { lost } = store;
  const dispose = { [Symbol.asyncDispose]: () => close() };
  return { url, address: bound, app, log, requiresToken, lost, reload, close, ...dispose };
}

/** The address to bind: the first that the name resolves to, after all of them were checked. */
async function chooseAddress(options: ResolvedOptions): Promise<string> {
  const name = options.host.replace(/^\[|\]$/g, "");
  let addresses: readonly { readonly address: string }[];
  try {
    addresses = await lookup(name, { all: true });
  } catch (cause) {
    throw badOption('option "host" does not resolve to an address', cause);
  }
  const open = addresses.find(({ address }) => !isLoopback(address));
  if (open !== undefined && options.tokens.length === 0 && !options.caller && !options.allowOpen) {
    throw new ConfigError(
      "open_bind_refused",
      `option "host": ${open.address} can be reached by others, and no token is set`,
    );
  }
  return addresses[0]?.address ?? name;
}
