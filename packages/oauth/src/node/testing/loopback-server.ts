/** An HTTP server on 127.0.0.1 that records its requests. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request as it arrived; header names in lower case, the body as text. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A running server; closing ends its connections too. */
export interface LoopbackServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** In the order in which they were read. */
  readonly requests: readonly ReceivedRequest[];
  close(): Promise<void>;
}

/** Starts a server on a free port. `answer` gets each request when its body has been read. */
export async function startLoopbackServer(
  answer: (request: ReceivedRequest, response: ServerResponse) => void,
): Promise<LoopbackServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((message, response) => {
    receive(message).then(
      (request) => {
        requests.push(request);
        answer(request, response);
      },
      () => response.destroy(), // the client went away in the middle of its body
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: 0 }, resolve);
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function receive(message: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return {
    method: message.method ?? "",
    path: message.url ?? "",
    headers: Object.fromEntries(
      Object.entries(message.headers).map(([name, value]) => [name, String(value)]),
    ),
    body: Buffer.concat(chunks).toString("utf8"),
  };
}
