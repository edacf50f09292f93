/** A real HTTPS server on loopback whose certificate this process trusts, and no other. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import { makeCertificate } from "@millrace/test-support/certificate";
import { onTestFinished } from "vitest";

const certificate = makeCertificate();

// What NODE_EXTRA_CA_CERTS does for a process that starts: connections of this one trust our certificate.
const makeContext = tls.createSecureContext;
tls.createSecureContext = (options) => makeContext({ ca: certificate.cert, ...options });

/** A server that ends with its test. */
export interface HttpsServer {
  readonly url: string;
  /** Paths that were asked for. */
  readonly asked: readonly string[];
}

export async function listenHttps(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<HttpsServer> {
  const asked: string[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer(certificate, (request, response) => {
    asked.push(request.url ?? "");
    handler(request, response);
  });
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}
