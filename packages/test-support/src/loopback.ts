/** An HTTP server of a test, on a free port of the loopback interface. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Loopback {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Connections that were opened so far. */
  connections(): number;
  /** Ends the server and its connections. */
  close(): Promise<void>;
}

/** Starts a server that ends with the test. */
export async function serveHttp(answer: RequestListener, host = "127.0.0.1"): Promise<Loopback> {
  return started(createServer(answer), "http", host);
}

/** Starts a server of this process; for one over TLS. */
export async function started(
  server: Server,
  scheme: "http" | "https",
  host = "127.0.0.1",
): Promise<Loopback> {
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((ready) => server.listen(0, host, ready));
  const close = (): Promise<void> =>
    new Promise((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `${scheme}://${name}:${port}`,
    port,
    server,
    connections: () => connections,
    close,
  };
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
