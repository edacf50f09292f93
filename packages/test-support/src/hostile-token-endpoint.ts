/** A token endpoint that does what token endpoints should not. It runs on 127.0.0.1 and follows a script. */
import type { ServerResponse } from "node:http";
import { createGzip } from "node:zlib";
import {
  type LoopbackServer,
  type ReceivedRequest,
  startLoopbackServer,
} from "@millrace/oauth/testing";

export interface HostileAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Default: JSON. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Text or bytes as they are; anything else as JSON. Default: no body. */
  readonly body?: unknown;
}

/**
 * What goes wrong otherwise:
 *   silence           the request is read and never answered
 *   slow-headers      the status line arrives, the headers never end
 *   drip              status 200, then a space every 5 ms, without end
 *   hang-up           the connection is reset before an answer
 *   hang-up-in-body   the connection is reset within a body that promised more
 *   half-close        the server ends its side before an answer
 *   gzip-bomb         status 200, 64 MiB of spaces in 64 kB
 *   echo              status 400, `error` holds the client secret
 */
export type HostileFault =
  | "silence"
  | "slow-headers"
  | "drip"
  | "hang-up"
  | "hang-up-in-body"
  | "half-close"
  | "gzip-bomb"
  | "echo";

/** One step of a script: an answer or a fault. */
export type HostileStep = HostileAnswer | { readonly fault: HostileFault };

export interface HostileTokenEndpoint extends LoopbackServer {
  /** `http://127.0.0.1:<port>/token` */
  readonly tokenUrl: string;
}

const DRIP_MS = 5;
const BOMB_BYTES = 64 * 1024 * 1024;

/** Starts the endpoint. Each request, whatever its path, takes the next step of the script; the last step repeats. */
export async function startHostileTokenEndpoint(options: {
  script: readonly HostileStep[];
}): Promise<HostileTokenEndpoint> {
  const steps = [...options.script];
  const server = await startLoopbackServer((request, response) => {
    const step = (steps.length > 1 ? steps.shift() : steps[0]) ?? {};
    if ("fault" in step) FAULTS[step.fault](response, request);
    else answer(step, response);
  });
  return { ...server, tokenUrl: `${server.origin}/token` };
}

function answer({ status = 200, headers, body }: HostileAnswer, response: ServerResponse): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  if (body === undefined) response.end();
  else if (typeof body === "string" || body instanceof Uint8Array) response.end(body);
  else response.end(JSON.stringify(body));
}

const FAULTS: Readonly<
  Record<HostileFault, (response: ServerResponse, request: ReceivedRequest) => void>
> = {
  silence: () => {},
  "slow-headers": (response) => {
    response.socket?.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n");
  },
  drip: (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => response.write(" "), DRIP_MS);
    response.once("close", () => clearInterval(timer));
  },
  "hang-up": (response) => {
    response.socket?.resetAndDestroy();
  },
  "hang-up-in-body": (response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write('{"access_token":', () => response.socket?.resetAndDestroy());
  },
  "half-close": (response) => {
    response.socket?.end();
  },
  "gzip-bomb": (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    const gzip = createGzip();
    gzip.pipe(response);
    response.once("close", () => gzip.destroy());
    gzip.end(Buffer.alloc(BOMB_BYTES, " "));
  },
  echo: (response, request) => {
    const error = new URLSearchParams(request.body).get("client_secret");
    answer({ status: 400, body: { error, error_description: error } }, response);
  },
};
