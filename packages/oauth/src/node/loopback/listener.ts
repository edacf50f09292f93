/**
 * The listening socket of one consent.
 *   L1  It listens on 127.0.0.1 and nowhere else, and shares its port with nobody.
 *   L2  It serves one wait; whatever ends that wait, or `close`, frees the port.
 */
import { createServer, type Server } from "node:net";
import { OAuthError } from "../../errors.ts";
import { Arrivals } from "./arrivals.ts";
import { checkRedirectPath } from "./redirect.ts";

/** The only address: `localhost` may be anything, and `::1` is not what providers have registered. */
const HOST = "127.0.0.1";

/** A bound receiver; bind it before the browser opens, then wait with `acceptOAuthCode`. */
export interface LoopbackListener extends AsyncDisposable {
  /** The port it has, also when 0 was asked for. */
  readonly port: number;
  /** `http://127.0.0.1:<port>/callback`, or another path, which begins with "/". */
  redirectUri(path?: string): string;
  /** Frees the port; a pending wait rejects with code `oauth_http`. Resolves when all sockets are gone. */
  close(): Promise<void>;
}

export interface Receiver {
  readonly arrivals: Arrivals;
  /** Frees the port at once; sockets that were answered may finish. */
  stopListening(): void;
}

interface Entry extends Receiver {
  state: "bound" | "taken" | "closed";
}

const entries = new WeakMap<LoopbackListener, Entry>();

/**
 * Binds 127.0.0.1 on `port` (default 0: any free one), or on the first free one of a list. Rejects with code `oauth_http`,
 * reason `bind`, naming every address that was tried: `cannot bind 127.0.0.1:8080: EADDRINUSE`.
 * @see specification, "Bind loopback"
 */
export async function bindLoopback(
  port: number | readonly number[] = 0,
): Promise<LoopbackListener> {
  const ports = typeof port === "number" ? [port] : port;
  if (ports.length === 0) throw new RangeError("bindLoopback: the list of ports is empty");
  const failures: string[] = [];
  for (const candidate of ports) {
    const arrivals = new Arrivals();
    const server = createServer({ allowHalfOpen: true }, (socket) => arrivals.add(socket));
    const failure = await listen(server, candidate);
    if (failure === undefined) return open(server, arrivals);
    failures.push(`${HOST}:${candidate}: ${failure}`);
  }
  throw new OAuthError("Http", `cannot bind ${failures.join(", ")}`, { reason: "bind" });
}

/**
 * Takes the listener for the one wait it serves. Throws `TypeError` for an object that `bindLoopback` did not make, and code
 * `oauth_http` when it is taken or closed.
 */
export function takeListener(listener: LoopbackListener): Receiver {
  const entry = entries.get(listener);
  if (entry === undefined) throw new TypeError("the listener must come from bindLoopback");
  if (entry.state !== "bound") {
    const what = entry.state === "taken" ? "has served its wait" : "is closed";
    throw new OAuthError("Http", `this loopback listener ${what}; bind another one`);
  }
  entry.state = "taken";
  return entry;
}

/** Resolves with the code of what failed; a port that is no port counts as that, too. */
function listen(server: Server, port: number): Promise<string | undefined> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    return Promise.resolve("ERR_SOCKET_BAD_PORT");
  }
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name));
    server.listen({ host: HOST, port, exclusive: true }, () => {
      server.removeAllListeners("error");
      server.on("error", () => {}); // a socket that could not be accepted: the others still can
      resolve(undefined);
    });
  });
}

function open(server: Server, arrivals: Arrivals): LoopbackListener {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const closed = new Promise<void>((resolve) => server.once("close", resolve));
  const entry: Entry = {
    state: "bound",
    arrivals,
    stopListening: () => void server.close(),
  };
  const close = (): Promise<void> => {
    entry.state = "closed";
    server.close();
    arrivals.end(new OAuthError("Http", "the loopback listener was closed"));
    return closed;
  };
  const listener: LoopbackListener = {
    port,
    redirectUri: (path = "/callback") => `http://${HOST}:${port}${checkRedirectPath(path)}`,
    close,
    [Symbol.asyncDispose]: close,
  };
  entries.set(listener, entry);
  return listener;
}
