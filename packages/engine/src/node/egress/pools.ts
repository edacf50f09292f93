/** Connections that are kept for the next request, per policy, each checked before a byte goes out. */
import * as http from "node:http";
import * as https from "node:https";
import type { Socket } from "node:net";
import type { EgressCheck } from "./egress-check.ts";
import { PinnedLookup, type Resolve } from "./pinned-lookup.ts";
import { timedOut } from "./refusal.ts";

/** How long an unused connection is kept; servers close theirs after 5 to 60 s, and say so by `keep-alive: timeout`. */
const KEEP_MS = 15_000;

/** How far a socket has come: what fails before `open` has sent nothing. */
export type Phase = "connecting" | "securing" | "open";

const PHASES = new WeakMap<Socket, Phase>();

export function phaseOf(socket: Socket | null | undefined): Phase {
  return (socket && PHASES.get(socket)) ?? "connecting";
}

export interface PoolOptions {
  readonly check: EgressCheck;
  readonly resolve: Resolve;
  readonly connectMs: number;
  readonly perHost: number;
}

export interface Pools {
  agent(protocol: string): http.Agent;
}

export function createPools(options: PoolOptions): Pools {
  const settings = {
    keepAlive: true,
    maxSockets: options.perHost,
    maxFreeSockets: options.perHost,
    timeout: KEEP_MS,
  };
  const plain = guard(new http.Agent(settings), options);
  const secure = guard(new https.Agent({ ...settings, rejectUnauthorized: true }), options);
  return { agent: (protocol) => (protocol === "https:" ? secure : plain) };
}

type Create = (options: object, done?: (error: Error | null, socket: Socket) => void) => Socket;

/** Every connection of this agent resolves its name by a pinned lookup and is looked at again when it stands. */
function guard(agent: http.Agent, { check, resolve, connectMs }: PoolOptions): http.Agent {
  const pool = agent as unknown as { createConnection: Create };
  const create = pool.createConnection.bind(agent);
  pool.createConnection = (options, done) => {
    const { host, port } = options as { host: string; port: number | string };
    const pinned = new PinnedLookup({ host, port: Number(port) }, check, resolve);
    const socket = create({ ...options, lookup: pinned.lookup }, done);
    watch(socket, { pinned, host, connectMs, secure: agent instanceof https.Agent });
    return socket;
  };
  return agent;
}

function watch(
  socket: Socket,
  {
    pinned,
    host,
    connectMs,
    secure,
  }: {
    pinned: PinnedLookup;
    host: string;
    connectMs: number;
    secure: boolean;
  },
): void {
  PHASES.set(socket, "connecting");
  socket.setTimeout(0); // the pool's time is for unused connections
  const late = setTimeout(() => socket.destroy(timedOut("connect", connectMs, host)), connectMs);
  const open = () => {
    clearTimeout(late);
    PHASES.set(socket, "open");
  };
  // First in line, so that what the request has written already is still in the queue and is dropped by `destroy`.
  socket.prependOnceListener("connect", () => {
    const refusal = pinned.refusal(socket.remoteAddress);
    if (refusal !== undefined) socket.destroy(refusal);
    else if (secure) PHASES.set(socket, "securing");
    else open();
  });
  socket.prependOnceListener("secureConnect", open);
  socket.once("close", () => clearTimeout(late));
}
