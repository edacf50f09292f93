/**
 * Calls of tools over HTTP, of both eras. One server of the protocol for each era serves them all, over a transport that stays open:
 * the library's own handler makes an instance, a `Request` and a `Response` for each message, which cost more than half of the run.
 *   T1  What is not certainly such a call, or is refused at once, is left to the library's handler: it says what is wrong.
 *   T2  A call has an id of its own in here: all clients count from the same number.
 *   T3  The answer is JSON; it is a stream where there is progress to tell before it, or where it takes long, and a stream is free.
 *   T4  A slow reader costs little memory: progress is left out while it is behind.
 */
import { isObject, whenAborted } from "@millrace/contracts/kit";
import {
  type AuthInfo,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PerRequestHTTPServerTransport,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  type TransportSendOptions,
} from "@modelcontextprotocol/server";
import { JSON_TYPE } from "../dispatch/index.ts";
import type { Exchange } from "../http/index.ts";
import type { EventStreams } from "../streams/index.ts";
import type { McpSurface } from "./surface.ts";

const REVISION = "2026-07-28";
const MODERN = { era: "modern", revision: REVISION } as const;
const LEGACY = { era: "legacy" } as const;
const STREAM_TYPE = { "Content-Type": "text/event-stream" };
const HEADERS = { ...STREAM_TYPE, "Cache-Control": "no-cache, no-transform" };
const HEARTBEAT = Buffer.from(": hb\n\n");
const PROGRESS = "notifications/progress";
/** Frames that wait for a reader before it is told of no more progress. */
const MAX_WAITING = 256;

/** Takes what a call has to say: news, at last the answer. Undefined: it is cancelled, and has none. */
type Take = (message: JSONRPCMessage | undefined) => void;

export class ToolCalls {
  readonly #eras: Readonly<Record<"modern" | "legacy", Promise<SharedTransport>>>;
  readonly #streams: EventStreams;
  readonly #heartbeatMs: number;

  constructor(
    surface: McpSurface,
    streams: EventStreams,
    { heartbeatMs }: { heartbeatMs: number },
  ) {
    this.#eras = {
      modern: connect(surface, new SharedTransport(MODERN), [REVISION]),
      legacy: connect(surface, new SharedTransport(LEGACY)),
    };
    this.#streams = streams;
    this.#heartbeatMs = heartbeatMs;
  }

  /** Answers an exchange with such a call as its body. Undefined: it has none. */
  async serve(
    exchange: Exchange,
    body: unknown,
    authInfo: AuthInfo,
  ): Promise<Response | undefined> {
    if (!isCall(body)) return undefined;
    const isModern = isModernCall(exchange, body);
    if (!isModern && !isLegacyCall(exchange, body)) return undefined;
    const transport = await this.#eras[isModern ? "modern" : "legacy"];
    return new Promise((resolve) => {
      const stop = new AbortController();
      const onLeave = (): void => stop.abort();
      let sink: ReadableStreamDefaultController<Uint8Array> | undefined;
      let isCut = false;
      const write = (frame: Uint8Array): void => {
        if (sink === undefined) {
          const start = (controller: typeof sink): void => {
            sink = controller;
          };
          const cancel = (): void => {
            isCut = true;
          };
          const stream = new ReadableStream({ start, cancel }, { highWaterMark: MAX_WAITING });
          resolve(this.#streams.relay(exchange, { headers: HEADERS, body: stream }, stop));
        }
        if (!isCut && !stop.signal.aborted) sink?.enqueue(frame);
      };
      /** False: a call that is no stream yet stays none, as so many are open as may be. */
      const mayStream = (): boolean => sink !== undefined || !this.#streams.isFull;
      const beat = setInterval(() => mayStream() && write(HEARTBEAT), this.#heartbeatMs);
      const end = (): void => {
        clearInterval(beat);
        exchange.signal.removeEventListener("abort", onLeave);
      };
      const take: Take = (message) => {
        if (message !== undefined && "method" in message) {
          const isBehind = !mayStream() || (sink?.desiredSize ?? 1) <= 0;
          if (!isBehind || message.method !== PROGRESS) write(frameOf(message));
          return;
        }
        end();
        const answer = message && { ...message, id: body.id };
        if (sink !== undefined) {
          if (answer !== undefined) write(frameOf(answer as JSONRPCMessage));
          if (!isCut) sink.close();
        } else if (answer === undefined) resolve(exchange.abandon());
        else {
          const text = JSON.stringify(answer);
          resolve(exchange.reply({ status: 200, headers: JSON_TYPE, body: text }));
        }
      };
      exchange.signal.addEventListener("abort", onLeave);
      if (exchange.signal.aborted) onLeave();
      if (transport.begin(body, authInfo, { signal: stop.signal, take })) return;
      end();
      resolve(undefined);
    });
  }

  async close(): Promise<void> {
    for (const transport of Object.values(this.#eras)) await (await transport).close();
  }
}

async function connect(
  surface: McpSurface,
  transport: SharedTransport,
  revisions?: string[],
): Promise<SharedTransport> {
  await surface.callServer(revisions).connect(transport);
  return transport;
}

function frameOf(message: JSONRPCMessage): Uint8Array {
  return Buffer.from(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

/** Of the library's transport for one exchange only the revision is used: a server takes it from no other transport. */
class SharedTransport extends PerRequestHTTPServerTransport {
  readonly #open = new Map<number, Take>();
  readonly #classification: typeof MODERN | typeof LEGACY;
  #lastId = 0;

  constructor(classification: typeof MODERN | typeof LEGACY) {
    super({ classification });
    this.#classification = classification;
  }

  /** False: the call is refused at once. */
  begin(
    message: JSONRPCRequest,
    authInfo: AuthInfo,
    { signal, take }: { readonly signal: AbortSignal; readonly take: Take },
  ): boolean {
    this.#lastId += 1;
    const id = this.#lastId;
    const classification = this.#classification;
    this.#open.set(id, () => undefined);
    this.onmessage?.({ ...message, id }, { classification, authInfo });
    // Handlers begin later: what is answered by now never reached one.
    if (!this.#open.has(id)) return false;
    this.#open.set(id, take);
    const cancel = (): void => {
      const params = { requestId: id };
      const told = { jsonrpc: "2.0", method: "notifications/cancelled", params } as const;
      this.onmessage?.(told, { classification });
      this.#answer(id, undefined);
    };
    whenAborted(signal, cancel);
    return true;
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!("method" in message)) this.#answer(Number(message.id), message);
    else this.#open.get(Number(options?.relatedRequestId))?.(message);
  }

  override async close(): Promise<void> {
    await super.close();
    for (const id of this.#open.keys()) this.#answer(id, undefined);
  }

  #answer(id: number, answer: JSONRPCMessage | undefined): void {
    const take = this.#open.get(id);
    this.#open.delete(id);
    take?.(answer);
  }
}

function isCall(body: unknown): body is JSONRPCRequest {
  if (!isObject(body) || body["method"] !== "tools/call" || !isJSONRPCRequest(body)) return false;
  const { name, arguments: args = {}, _meta: meta = {} } = body.params ?? {};
  return typeof name === "string" && isObject(args) && isObject(meta);
}

/** Every header says what the body says. */
function isModernCall(exchange: Exchange, { params }: JSONRPCRequest): boolean {
  return (
    params?._meta?.[PROTOCOL_VERSION_META_KEY] === REVISION &&
    exchange.header("mcp-protocol-version") === REVISION &&
    exchange.header("mcp-method") === "tools/call" &&
    exchange.header("mcp-name") === params["name"]
  );
}

function isLegacyCall(exchange: Exchange, { params }: JSONRPCRequest): boolean {
  const accept = exchange.header("accept") ?? "";
  const revision = exchange.header("mcp-protocol-version");
  return (
    params?._meta?.[PROTOCOL_VERSION_META_KEY] === undefined &&
    (revision === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(revision)) &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream")
  );
}
