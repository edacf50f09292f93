/**
 * A model server on loopback that speaks three wires: OpenAI's Chat Completions and Responses, Anthropic's Messages. It answers
 * from a script, one entry a request, and does what real ones do wrong.
 */
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { bodyOf } from "@millrace/test-support/loopback";
import { WIRES, type Wire, type WireText } from "../../../testkit/src/providers/wires.ts";

/** What one request is answered with; absent: an empty answer that ends well. */
export interface WireAnswer extends WireText {
  /** Anything but 200 ends the request at once. */
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** Body of an answer that is no stream. An object is sent in the wire's own frame for errors: `{code, message}`. */
  readonly body?: string | { readonly code?: string; readonly message?: string };
  /** What happens after the last piece of text, or after `afterEvents` events of the stream, in place of an end. */
  readonly ending?: "cut" | "silence" | "error" | "end";
  readonly afterEvents?: number;
  /** Waits without an answer. */
  readonly silence?: true;
  /** Closes the connection before an answer. */
  readonly cut?: true;
  /** Sent as they are after the first event of the stream, and again after the last piece of text. */
  readonly frames?: readonly object[];
  /** Sends the stream in pieces of this many bytes. */
  readonly split?: number;
}

export interface WireRequest {
  readonly wire: Wire;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly [name: string]: unknown };
  /** Resolves when the connection of this request is closed, by whoever. */
  readonly closed: Promise<void>;
}

export interface WireServer {
  readonly url: string;
  readonly requests: readonly WireRequest[];
  /** Sockets that are open now. */
  readonly open: () => number;
  /** Resolves when `count` requests have come. */
  arrived(count: number): Promise<void>;
  /** Resolves when no socket is open. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the server. A request past the last entry of the script is answered with 500. */
export async function startWireServer(
  script: readonly WireAnswer[] | ((request: WireRequest, index: number) => WireAnswer),
): Promise<WireServer> {
  const requests: WireRequest[] = [];
  const sockets = new Set<Socket>();
  const changes = new Set<() => void>();
  const changed = (): void => {
    for (const each of changes) each();
  };
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) {
      await new Promise<void>((resolve) => {
        const again = (): void => {
          changes.delete(again);
          resolve();
        };
        changes.add(again);
      });
    }
  };
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      changed();
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request);
    const path = request.url ?? "";
    const wire = wireOf(path);
    const { socket } = request;
    const got: WireRequest = {
      wire,
      path,
      headers: request.headers,
      body: text === "" ? {} : (JSON.parse(text) as WireRequest["body"]),
      closed: new Promise((resolve) => socket.once("close", () => resolve())),
    };
    const index = requests.push(got) - 1;
    changed();
    const entry =
      typeof script === "function"
        ? script(got, index)
        : (script[index] ?? { status: 500, body: { message: "the script is over" } });
    await play(entry, wire, response);
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    open: () => sockets.size,
    arrived: (count) => until(() => requests.length >= count),
    idle: () => until(() => sockets.size === 0),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function play(entry: WireAnswer, wire: Wire, response: ServerResponse): Promise<void> {
  const { status = 200, headers = {}, body } = entry;
  if (entry.silence === true) return;
  if (entry.cut === true) {
    response.destroy();
    return;
  }
  if (status !== 200 || body !== undefined) {
    const isText = typeof body === "string";
    const type = isText ? "text/html" : "application/json";
    response.writeHead(status, { "content-type": type, ...headers });
    response.end(isText ? body : JSON.stringify(WIRES[wire].error(body ?? {})));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", ...headers });
  const events = WIRES[wire].stream(entry);
  const { ending, text = [] } = entry;
  const untilText =
    1 + events.findLastIndex((event) => text.some((piece) => isDelta(event, piece)));
  const plain = ending === undefined ? events : events.slice(0, entry.afterEvents ?? untilText);
  const more = (entry.frames ?? []).map((frame) => `data: ${JSON.stringify(frame)}\n\n`);
  const at = Math.max(1, untilText);
  const sent = [...plain.slice(0, 1), ...more, ...plain.slice(1, at), ...more, ...plain.slice(at)];
  await write(response, sent.join(""), entry.split);
  if (ending === "silence") return;
  if (ending === "cut") response.destroy();
  else if (ending === "error") response.end(WIRES[wire].errorEvent);
  else response.end();
}

/** Whether an event is the delta of a piece of text, and not a whole item that repeats it. */
function isDelta(event: string, piece: string): boolean {
  return event.includes(JSON.stringify(piece)) && event.includes("delta");
}

async function write(
  response: ServerResponse,
  text: string,
  split: number | undefined,
): Promise<void> {
  if (text === "") {
    response.flushHeaders();
    return;
  }
  const bytes = Buffer.from(text);
  const size = split ?? bytes.length;
  for (let at = 0; at < bytes.length; at += size) {
    await new Promise((resolve) => response.write(bytes.subarray(at, at + size), resolve));
  }
}

function wireOf(path: string): Wire {
  if (path.endsWith("/chat/completions")) return "chat";
  return path.endsWith("/messages") ? "messages" : "responses";
}
