/**
 * Calls of tools in the current revision that ask for no progress: most calls. Each has one answer and no stream, so one server of
 * the protocol serves them all, over a transport that stays open; an instance, a `Request` and a `Response` for each cost more than
 * half of the run.
 *   P1  What is not certainly such a call, or is refused at once, is left to the library's own handler: it says what is wrong.
 *   P2  A call has an id of its own in here: all clients count from the same number.
 */
import { isObject } from "@millrace/contracts/kit";
import {
  type AuthInfo,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PerRequestHTTPServerTransport,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/server";
import { JSON_TYPE } from "../dispatch/index.ts";
import type { Exchange } from "../http/index.ts";
import type { McpSurface } from "./surface.ts";

const REVISION = "2026-07-28";
const CLASSIFICATION = { era: "modern", revision: REVISION } as const;

/** Why a call has no answer: it is none of these, or nobody waits for it any more. */
type Unanswered = "refused" | "cancelled";
type Take = (answer: JSONRPCMessage | Unanswered) => void;

/** Serves such calls of everybody. */
export class PlainCalls {
  readonly #transport = new SharedTransport({ classification: CLASSIFICATION });
  readonly #connected: Promise<void>;

  constructor(surface: McpSurface) {
    this.#connected = surface.callServer(REVISION).connect(this.#transport);
  }

  /** Answers an exchange with such a call as its body. Undefined: it has none. */
  async serve(
    exchange: Exchange,
    body: unknown,
    authInfo: AuthInfo,
  ): Promise<Response | undefined> {
    if (!isPlainCall(exchange, body)) return undefined;
    await this.#connected;
    const answer = await this.#transport.call(body, authInfo, exchange.signal);
    if (answer === "refused") return undefined;
    if (answer === "cancelled") return exchange.abandon();
    const text = JSON.stringify({ ...answer, id: body.id });
    return exchange.reply({ status: 200, headers: JSON_TYPE, body: text });
  }

  /** Cancels the calls that are at work. */
  close(): Promise<void> {
    return this.#transport.close();
  }
}

/** Of the library's transport for one exchange only the revision is used: a server takes it from no other transport. */
class SharedTransport extends PerRequestHTTPServerTransport {
  readonly #open = new Map<number, Take>();
  #lastId = 0;

  async call(
    message: JSONRPCRequest,
    authInfo: AuthInfo,
    signal: AbortSignal,
  ): Promise<JSONRPCMessage | Unanswered> {
    this.#lastId += 1;
    const id = this.#lastId;
    const leave = (): void => this.#cancel(id);
    const answer = new Promise<JSONRPCMessage | Unanswered>((take) => this.#open.set(id, take));
    this.onmessage?.({ ...message, id }, { classification: CLASSIFICATION, authInfo });
    // Handlers begin later: what is answered by now never reached one.
    if (!this.#open.has(id)) return "refused";
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave);
    try {
      return await answer;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    if ("id" in message) this.#answer(Number(message.id), message);
  }

  override async close(): Promise<void> {
    await super.close();
    for (const id of this.#open.keys()) this.#answer(id, "cancelled");
  }

  #cancel(id: number): void {
    const params = { requestId: id };
    const told = { jsonrpc: "2.0", method: "notifications/cancelled", params } as const;
    this.onmessage?.(told, { classification: CLASSIFICATION });
    this.#answer(id, "cancelled");
  }

  #answer(id: number, answer: JSONRPCMessage | Unanswered): void {
    const take = this.#open.get(id);
    this.#open.delete(id);
    take?.(answer);
  }
}

/** The body is whole, and every header says what it says. */
function isPlainCall(exchange: Exchange, body: unknown): body is JSONRPCRequest {
  if (!isObject(body) || body["method"] !== "tools/call" || !isJSONRPCRequest(body)) return false;
  const { name, arguments: args = {}, _meta: meta } = body.params ?? {};
  return (
    isObject(meta) &&
    meta[PROTOCOL_VERSION_META_KEY] === REVISION &&
    meta["progressToken"] === undefined &&
    isObject(args) &&
    exchange.header("mcp-protocol-version") === REVISION &&
    exchange.header("mcp-method") === "tools/call" &&
    exchange.header("mcp-name") === name
  );
}
