/**
 * The server of Node below the app.
 *   N1  Invalid HTTP, and requests that Node would refuse by itself, are answered like all others: with a problem document.
 *   N2  An answer hears when its client leaves, also while it waits behind another one on the same socket.
 */
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type ErrorCode, problemDocument } from "@millrace/contracts";
import { atMost } from "../at-most.ts";
import { bodyLimit, CONNECTIONS_CHECK_MS, LINGER_MS, type ServerLimits } from "../config/limits.ts";
import { ProblemError } from "../errors.ts";
import { awaitingContinue, baseHeaders, bodyReads } from "./exchange.ts";
import { createRequestIds } from "./ids.ts";
import { PROBLEM_TYPE } from "./problem.ts";

/** How long the last bytes of streams may take to leave when the server closes. */
const FLUSH_MS = 1_000;

/** Sockets, and what is being answered on them. */
export interface Listener {
  readonly http: Server;
  /** Answers that are not over yet. */
  readonly answering: ReadonlySet<ServerResponse>;
}

/** Hands every request to `serve`, and answers invalid ones itself. Nothing is bound yet. */
export function createListener(options: {
  readonly limits: ServerLimits;
  readonly random: (bytes: number) => Uint8Array;
  readonly serve: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
}): Listener {
  const { limits, random } = options;
  const answering = new Set<ServerResponse>();
  const raw = createRawAnswers(random, (socket) =>
    [...answering].find((outgoing) => outgoing.socket === socket),
  );
  /** Answers that wait behind another one of their socket. Node tells them nothing when the client leaves. */
  const waiting = new WeakMap<Socket, Set<ServerResponse>>();
  const waitBehind = (socket: Socket, outgoing: ServerResponse) => {
    let behind = waiting.get(socket);
    if (behind === undefined) {
      const held = new Set<ServerResponse>();
      behind = held;
      waiting.set(socket, held);
      socket.once("close", () => {
        for (const left of held) {
          if (left.socket !== null) continue; // its turn had come
          left.destroy();
          left.emit("close");
        }
      });
    }
    behind.add(outgoing);
    outgoing.once("close", () => behind.delete(outgoing));
  };
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    answering.add(outgoing);
    outgoing.once("close", () => answering.delete(outgoing));
    if (outgoing.socket === null) waitBehind(incoming.socket, outgoing);
    options.serve(incoming, outgoing);
  };
  const http = createServer(
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
  // An `Expect` other than `100-continue`.
  http.on("checkExpectation", (_incoming, outgoing) => raw.refuse("expectation_failed", outgoing));
  http.on("checkContinue", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const [path = ""] = (incoming.url ?? "").split("?", 1);
    if (Number(incoming.headers["content-length"] ?? 0) > bodyLimit(path, limits)) {
      raw.refuse("body_too_large", outgoing); // the client keeps its body
      return;
    }
    awaitingContinue.add(incoming);
    serve(incoming, outgoing);
  });
  return { http, answering };
}

/** Binds. Rejects with the error of Node, such as `EADDRINUSE`. */
export function listen({ http }: Listener, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", reject);
    http.listen({ host, port }, () => {
      http.off("error", reject);
      resolve();
    });
  });
}

/** Lets the last answers leave, then cuts every connection: Node keeps one that never sent a request. */
export async function closeListener({ http, answering }: Listener): Promise<void> {
  const closed = new Promise((resolve) => http.close(resolve));
  const flushed = [...answering].map((outgoing) => once(outgoing, "close"));
  await atMost(FLUSH_MS, Promise.all(flushed));
  http.closeAllConnections();
  await closed;
}

/** Node's codes of errors that are not simply malformed bytes. */
const CODES: ReadonlyMap<string | undefined, ErrorCode> = new Map([
  ["HPE_HEADER_OVERFLOW", "headers_too_large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "request_timeout"],
]);

/** `answerOn`: the answer whose turn it is on a socket. Once it has begun, nothing else may be written there. */
function createRawAnswers(
  random: (bytes: number) => Uint8Array,
  answerOn: (socket: Duplex) => ServerResponse | undefined,
) {
  const nextId = createRequestIds(random);

  function compose(code: ErrorCode) {
    const requestId = nextId();
    const document = problemDocument(code, { requestId });
    const body = JSON.stringify(document);
    const headers = {
      ...baseHeaders(requestId, null),
      "Content-Type": PROBLEM_TYPE,
      "Content-Length": Buffer.byteLength(body),
      Connection: "close",
    };
    return { status: document.status, headers, body };
  }

  function refuse(code: ErrorCode, outgoing: ServerResponse): void {
    const { status, headers, body } = compose(code);
    outgoing.writeHead(status, headers);
    outgoing.end(body);
  }

  return {
    /**
     * For `clientError`: writes a problem document to the bare socket and closes it. A request whose body comes too slowly gets its answer
     * from who reads the body, so that the log has the same one.
     */
    clientError(error: NodeJS.ErrnoException, socket: Duplex): void {
      const answer = answerOn(socket);
      if (error.code === "ECONNRESET" || !socket.writable || answer?.headersSent) {
        socket.destroy();
        return;
      }
      const code = CODES.get(error.code) ?? "bad_header";
      const endRead = answer && bodyReads.get(answer.req);
      if (code === "request_timeout" && endRead !== undefined) {
        endRead(new ProblemError(code));
        return;
      }
      const { status, headers, body } = compose(code);
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`);
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    },
    refuse,
  };
}
