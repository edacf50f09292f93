/** A real server on a free port of the loopback interface, and a client that may reach it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { EgressPolicy } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { onTestFinished } from "vitest";

export interface Loopback {
  readonly url: string;
  readonly port: number;
  /** Connections that were opened so far. */
  readonly connections: () => number;
  readonly server: Server;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server that ends with the test. */
export async function listen(handler: Handler, host = "127.0.0.1"): Promise<Loopback> {
  const server = createServer(handler);
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
  });
  await new Promise<void>((ready) => server.listen(0, host, ready));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://${host}:${port}`, port, connections: () => connections, server };
}

/** A client that may reach 127.0.0.1, by its address, and nothing else that is private. */
export function client(
  policy: EgressPolicy = {},
  resolve?: (host: string) => Promise<readonly string[]>,
) {
  const allow = [{ cidr: "127.0.0.1/32" }, ...(policy.allow ?? [])];
  return createNodeHost(resolve === undefined ? {} : { resolve }).openFetch({ ...policy, allow });
}

/** The whole body of a request. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
