/** Answers below the app: to what is no HTTP request, or is refused before there is anything to route. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type ErrorCode, problemDocument } from "@millrace/contracts";
import { LINGER_MS } from "../config/index.ts";
import { baseHeaders } from "./headers.ts";
import { PROBLEM_TYPE } from "./problem.ts";
import { createRequestIds } from "./request-id.ts";

/** Node's codes of errors that are not simply malformed bytes. */
const CODES: ReadonlyMap<string | undefined, ErrorCode> = new Map([
  ["HPE_HEADER_OVERFLOW", "headers_too_large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "request_timeout"],
]);

interface RawAnswers {
  /** For `clientError`: writes a problem document to the bare socket and closes it. */
  clientError(error: NodeJS.ErrnoException, socket: Duplex): void;
  /** For `checkExpectation`: an `Expect` other than `100-continue`. */
  expectationFailed(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** For `checkContinue` with a declared length over the limit: the client keeps its body. */
  bodyTooLarge(incoming: IncomingMessage, outgoing: ServerResponse): void;
}

/** `hasAnswer`: an answer has begun on the socket, so that nothing else may be written there. */
export function createRawAnswers(
  random: (bytes: number) => Uint8Array,
  hasAnswer: (socket: Duplex) => boolean,
): RawAnswers {
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
    clientError(error, socket) {
      if (error.code === "ECONNRESET" || !socket.writable || hasAnswer(socket)) {
        socket.destroy();
        return;
      }
      const { status, headers, body } = compose(CODES.get(error.code) ?? "bad_header");
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`);
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    },
    expectationFailed: (_incoming, outgoing) => refuse("expectation_failed", outgoing),
    bodyTooLarge: (_incoming, outgoing) => refuse("body_too_large", outgoing),
  };
}
