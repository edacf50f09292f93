/** A service and its token endpoint on a port of this machine: requests are recorded, and one token at a time is valid. */
// biome-ignore lint/style/noRestrictedImports: a listener of a test, on loopback alone
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "@millrace/contracts";

export interface CameIn {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}

export interface LoopbackService {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly tokenUrl: string;
  /** Requests for tokens, and all others. */
  readonly tokens: readonly CameIn[];
  readonly calls: readonly CameIn[];
  /** The token that the service takes now; at first none. */
  accepted: string;
  /** Whether the token endpoint gives out no more tokens. */
  isRevoked: boolean;
  close(): Promise<void>;
}

const TOKEN_PATH = "/token-endpoint";

/** Starts it. `answer`: the body of every call with a token that it takes. */
export async function startLoopbackService(answer: Json): Promise<LoopbackService> {
  const tokens: CameIn[] = [];
  const calls: CameIn[] = [];
  const server = createServer((request, response) => {
    void read(request).then((came) => {
      if (came.path === TOKEN_PATH) {
        tokens.push(came);
        if (service.isRevoked) return send(response, 400, { error: "invalid_grant" });
        service.accepted = `token-${tokens.length}`;
        const token = { access_token: service.accepted, refresh_token: `again-${tokens.length}` };
        return send(response, 200, { ...token, token_type: "Bearer", expires_in: 3_600 });
      }
      calls.push(came);
      const isAccepted = came.authorization === `Bearer ${service.accepted}`;
      return send(response, isAccepted ? 200 : 401, isAccepted ? answer : { error: "refused" });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service: LoopbackService = {
    origin,
    tokenUrl: `${origin}${TOKEN_PATH}`,
    tokens,
    calls,
    accepted: "",
    isRevoked: false,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}

async function read(request: IncomingMessage): Promise<CameIn> {
  let body = "";
  for await (const text of request.setEncoding("utf8")) body += String(text);
  const { method = "", url = "", headers } = request;
  return { method, path: url, authorization: headers.authorization ?? "", body };
}

function send(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
