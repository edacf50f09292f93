/**
 * The protocol on two streams, one message a line.
 *   S1  Nothing but messages is written.
 *   S2  A line that is no message is answered with an error and passed over; so is one that is too long.
 *   S3  While the client does not read, nothing more is taken from it.
 */

import type { Readable, Writable } from "node:stream";
import { whenAborted } from "@millrace/contracts/kit";
import {
  INVALID_REQUEST,
  type JSONRPCMessage,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type Server,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { ProblemError } from "../errors.ts";
import { parseJson } from "../http/body.ts";
import { LONG_ID, McpSurface, namesLongId, type Party } from "./surface.ts";

export type { Party } from "./surface.ts";

/** The two ends, and when to stop. */
export interface McpStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Longest line, in bytes. */
const MAX_LINE = 1_048_576;
const LINE_FEED = 0x0a;

/**
 * Serves one client to the end of its input, or to the signal. Calls that are at work then are cancelled; resolves when they
 * have ended.
 */
export async function serveMcpStdio(party: Party, streams: McpStreams): Promise<void> {
  const { signal } = streams;
  const surface = new McpSurface();
  const transport = new LineTransport(streams);
  let server: Server | undefined;
  const handle = serveStdio(
    () => {
      server = surface.serverFor(party);
      return server;
    },
    { transport, onerror: () => undefined },
  );
  const unwatch = surface.watch(party.client, () => {
    void server?.sendToolListChanged().catch(() => undefined);
    void server?.sendResourceListChanged().catch(() => undefined);
  });
  const leave = whenAborted(signal, () => void handle.close());
  await transport.closed;
  leave();
  unwatch();
  await handle.close();
  await surface.settled();
}

class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly closed: Promise<void>;
  readonly #input: Readable;
  readonly #output: Writable;
  #end: () => void = () => undefined;
  #isOver = false;
  #line: Buffer[] = [];
  #length = 0;

  constructor({ input, output }: McpStreams) {
    this.#input = input;
    this.#output = output;
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async start(): Promise<void> {
    const end = (): void => void this.close();
    this.#input.on("data", (chunk: Buffer) => this.#take(chunk));
    for (const name of ["end", "close", "error"]) this.#input.once(name, end);
    this.#output.once("error", end);
    this.#output.on("drain", () => this.#input.resume());
    if (this.#input.readableEnded || this.#input.destroyed) end();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isOver) throw new Error("the connection is closed");
    if (!this.#output.write(serializeMessage(message))) this.#input.pause();
  }

  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#input.removeAllListeners("data");
    this.#input.pause();
    this.onclose?.();
    this.#end();
  }

  #take(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      this.#keep(chunk.subarray(from, at));
      this.#finish();
      from = at + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  /** Adds to the line; of one that is too long only its length is kept. */
  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > MAX_LINE) this.#line = [];
    else if (part.length > 0) this.#line.push(part);
  }

  #finish(): void {
    const bytes = Buffer.concat(this.#line);
    const length = this.#length;
    this.#line = [];
    this.#length = 0;
    if (length > MAX_LINE) {
      this.#refuse(INVALID_REQUEST, `a message has at most ${MAX_LINE} bytes`);
    } else if (bytes.toString("latin1").trim() !== "") this.#read(bytes);
  }

  #read(bytes: Buffer): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(parseJson(bytes));
    } catch (error) {
      if (ProblemError.isInstance(error)) this.#refuse(PARSE_ERROR, error.message);
      else this.#refuse(INVALID_REQUEST, "the line is no message of JSON-RPC 2.0");
      return;
    }
    if (namesLongId(message)) this.#refuse(INVALID_REQUEST, LONG_ID);
    else this.onmessage?.(message);
  }

  #refuse(code: number, message: string): void {
    if (this.#isOver) return;
    const line = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
    if (!this.#output.write(`${line}\n`)) this.#input.pause();
  }
}
