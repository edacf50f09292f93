/**
 * Sends a log to one reader. The reader is a cursor, never a queue: nothing is read from the log before the reader has
 * taken what was written.
 *   S1  After the first byte there is nothing but events and comments.
 *   S2  A stream that ends in order has sent the last event of the log. One whose log goes on elsewhere, because this process
 *       stops or has lost the run, ends with the comment `: draining`.
 *   S3  When a reader leaves, the log is read no further and every timer is gone.
 *   S4  A line is encoded once, by the engine; here it is only copied between the bytes around it, once for all readers of a
 *       page, so content can never forge a frame.
 * @see the events page, "Surfaces, byte for byte"
 */
import { setImmediate } from "node:timers/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { StoredEvent } from "@millrace/contracts";
import type { ServerLimits } from "../config/limits.ts";
import { ProblemError } from "../errors.ts";
import type { TokenIdentity } from "../gate/tokens.ts";
import type { Exchange, HeaderRecord } from "../http/index.ts";
import type { Logger } from "../ports.ts";
import type { AcceptsEvent } from "../runs/index.ts";
import { createNodeSink, createWebSink, type Sink } from "./sink.ts";

/** `sse`: `POST /api/run`. `sse-id`: re-attach, each frame with its position. `ndjson`: one event a line. */
export type FrameFormat = "sse" | "sse-id" | "ndjson";

/** Why a stream is over: its log ended, its reader left or took nothing, its token is gone, the server stops. */
type StreamEnd = "ended" | "left" | "revoked" | "shutdown";

export interface StreamOptions {
  readonly format: FrameFormat;
  readonly headers?: HeaderRecord;
  /** Pages of the log; ends after its last event, stops at the signal. */
  readonly read: (signal: AbortSignal) => AsyncIterable<readonly StoredEvent[]>;
  /** Where the reader begins; sent before the first event, so that a stream that breaks earlier is resumed there. */
  readonly position?: number;
  /** Events to send; absent: all. */
  readonly accepts?: AcceptsEvent | undefined;
  readonly onEnd?: (why: StreamEnd) => void;
}

interface OpenStream {
  readonly token: TokenIdentity | null;
  close(why: "revoked" | "shutdown"): void;
}

/** Seconds after which a refused reader may try again. */
const RETRY_AFTER_S = 5;

/** The open streams of one server. */
export class EventStreams {
  readonly #open = new Set<OpenStream>();
  readonly #limits: ServerLimits;
  readonly #log: Logger;
  readonly #onStall: () => void;
  /** By the last `closeRevoked`: a request may have been let in before it, and open its stream after it. */
  #isValid: (token: TokenIdentity | null) => boolean = () => true;

  constructor(limits: ServerLimits, log: Logger, onStall: () => void) {
    this.#limits = limits;
    this.#log = log;
    this.#onStall = onStall;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Closes streams whose token, or its absence, is no longer valid, now and when they open; their runs go on. */
  closeRevoked(isValid: (token: TokenIdentity | null) => boolean): void {
    this.#isValid = isValid;
    for (const stream of this.#open) if (!isValid(stream.token)) stream.close("revoked");
  }

  /** Ends every stream with the comment `: draining`. */
  closeAll(): void {
    for (const stream of this.#open) stream.close("shutdown");
  }

  /** No further stream may be opened. */
  get isFull(): boolean {
    return this.#open.size >= this.#limits.maxStreams;
  }

  /** Throws `too_many_streams` when no further stream may be opened. */
  checkCapacity(): void {
    if (this.isFull) {
      throw new ProblemError("too_many_streams", {
        headers: { "Retry-After": `${RETRY_AFTER_S}` },
      });
    }
  }

  /** Answers an exchange with a stream; headers go out at once. */
  answer(exchange: Exchange, options: StreamOptions): Response {
    const headers = exchange.headers({
      "Content-Type": options.format === "ndjson" ? "application/x-ndjson" : "text/event-stream",
      "Cache-Control": "no-cache, no-transform",
      "X-Accel-Buffering": "no",
      ...options.headers,
    });
    const { sink, response } = this.#begin(exchange, headers);
    this.#run(exchange, options, sink);
    return response;
  }

  #begin(exchange: Exchange, headers: HeaderRecord): { sink: Sink; response: Response } {
    const patience = {
      stallMs: this.#limits.stallMs,
      onStall: () => {
        this.#onStall();
        this.#log.warn({ requestId: exchange.requestId }, "stream.stalled");
      },
    };
    if (exchange.node === null) {
      const { sink, body } = createWebSink(exchange.signal, patience);
      const response = new Response(body, { headers: headers as Record<string, string> });
      return { sink, response };
    }
    const { outgoing } = exchange.node;
    outgoing.shouldKeepAlive = false; // the socket closes after the last event
    const { socket } = outgoing;
    socket?.cork(); // what is written in this turn goes with them
    process.nextTick(() => socket?.uncork()); // also when the head cannot be written
    outgoing.writeHead(200, headers);
    outgoing.flushHeaders();
    return { sink: createNodeSink(outgoing, patience), response: RESPONSE_ALREADY_SENT };
  }

  /**
   * Answers an exchange with bytes that something else makes. `stop` is aborted when its reader has left, its token is no longer
   * valid, or the server stops.
   */
  relay(
    exchange: Exchange,
    {
      headers: more,
      body,
    }: { readonly headers: HeaderRecord; readonly body: ReadableStream<Uint8Array> },
    stop: AbortController,
  ): Response {
    const headers = exchange.headers({ "X-Accel-Buffering": "no", ...more });
    const { sink, response } = this.#begin(exchange, headers);
    const stream: OpenStream = {
      token: exchange.token,
      close() {
        stop.abort();
        sink.end();
      },
    };
    this.#open.add(stream);
    sink.onLeft(() => stop.abort());
    if (!this.#isValid(stream.token)) stream.close("revoked");
    void (async () => {
      try {
        for await (const chunk of body) await sink.write(chunk);
      } catch (error) {
        if (!stop.signal.aborted)
          this.#log.error({ requestId: exchange.requestId, err: error }, "stream.failed");
      } finally {
        this.#open.delete(stream);
        sink.end();
        exchange.finished(200, sink.bytes, true);
      }
    })();
    return response;
  }

  #run(exchange: Exchange, options: StreamOptions, sink: Sink): void {
    const stop = new AbortController();
    let why: StreamEnd = "ended";
    const close = (reason: StreamEnd) => {
      if (stop.signal.aborted) return;
      why = reason;
      stop.abort();
      sink.end();
    };
    const stream: OpenStream = {
      token: exchange.token,
      close: (reason) => {
        if (reason === "shutdown" && options.format !== "ndjson") sink.poke(DRAINING);
        close(reason);
      },
    };
    sink.onLeft(() => close("left"));
    const stopHeartbeat =
      options.format === "ndjson" ? () => {} : startHeartbeat(sink, this.#limits.heartbeatMs);
    this.#open.add(stream);
    const finish = () => {
      stopHeartbeat();
      this.#open.delete(stream);
      sink.onLeft(null);
      sink.end();
      exchange.finished(200, sink.bytes, true);
      options.onEnd?.(why);
    };
    const ended = (isWhole: boolean) => {
      if (!isWhole) stream.close("shutdown");
      finish();
    };
    if (!this.#isValid(stream.token)) stream.close("revoked");
    send(options, sink, stop.signal).then(ended, (error: unknown) => {
      this.#log.error({ requestId: exchange.requestId, err: error }, "stream.failed");
      finish();
    });
  }
}

/** Answers whether the last event of a log was sent. */
async function send(options: StreamOptions, sink: Sink, signal: AbortSignal): Promise<boolean> {
  const { accepts, format, position } = options;
  let isWhole = false;
  // An id without data is kept and dispatches nothing.
  if (position !== undefined) await sink.write(Buffer.from(`id: ${position}\n\n`));
  for await (const page of options.read(signal)) {
    const events = accepts === undefined ? page : page.filter(accepts);
    let hasWaited = false;
    for (const chunk of frameChunks(events, format)) {
      if (signal.aborted) return false;
      const taken = sink.write(chunk);
      if (taken === undefined) continue;
      await taken;
      hasWaited = true;
    }
    // A reader of few events may pass over a long log without ever waiting for its socket.
    if (accepts !== undefined && !hasWaited) await setImmediate();
    if (signal.aborted) return false;
    isWhole = page.at(-1)?.kind === "summary";
  }
  return isWhole;
}

/** Writes a comment after `everyMs` without a byte. One timer, re-armed when it fires and not at each write. */
function startHeartbeat(sink: Sink, everyMs: number): () => void {
  let timer = setTimeout(beat, everyMs);
  function beat() {
    const quietMs = performance.now() - sink.wroteAt;
    if (quietMs >= everyMs - 1) sink.poke(HEARTBEAT); // a timer of Node may fire a millisecond early
    timer = setTimeout(beat, quietMs >= everyMs - 1 ? everyMs : everyMs - quietMs);
  }
  return () => clearTimeout(timer);
}

const DATA = Buffer.from("data: ");
const END = Buffer.from("\n\n");
/** Comes after the data line and before a position; the blank line that follows dispatches the frame. */
const ID = Buffer.from("\nid: ");
const LINE_FEED = 0x0a;
const ZERO = 0x30;

/** A comment that keeps proxies and readers from giving up. */
const HEARTBEAT = Buffer.from(": hb\n\n");
/** The last thing on a stream that the stopping server cuts. */
const DRAINING = Buffer.from(": draining\n\n");

/** Joined writes are no longer than this, unless one frame is. */
const BATCH_BYTES = 16_384;

/** The part of a page that has been joined so far. */
interface Joined {
  readonly chunks: Uint8Array[];
  /** How many of the events are in them. */
  events: number;
}

/** By page, for as long as a reader is on it or a log remembers it. */
const joinedPages: Readonly<Record<FrameFormat, WeakMap<readonly StoredEvent[], Joined>>> = {
  sse: new WeakMap(),
  "sse-id": new WeakMap(),
  ndjson: new WeakMap(),
};

/** Yields the frames of a page, joined into chunks: once for a page, so all of its readers are given the same bytes. */
function* frameChunks(page: readonly StoredEvent[], format: FrameFormat): Generator<Uint8Array> {
  let joined = joinedPages[format].get(page);
  if (joined === undefined) {
    joined = { chunks: [], events: 0 };
    joinedPages[format].set(page, joined);
  }
  for (let i = 0; i < joined.chunks.length || joined.events < page.length; i += 1) {
    yield joined.chunks[i] ?? joinNext(joined, page, format);
  }
}

/** Adds the next chunk. */
function joinNext(joined: Joined, page: readonly StoredEvent[], format: FrameFormat): Uint8Array {
  const start = joined.events;
  let end = start;
  let bytes = 0;
  while (end < page.length) {
    const size = frameBytes(page[end] as StoredEvent, format);
    if (bytes > 0 && bytes + size > BATCH_BYTES) break;
    bytes += size;
    end += 1;
  }
  const chunk = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (let i = start; i < end; i += 1) at = writeFrame(chunk, at, page[i] as StoredEvent, format);
  joined.chunks.push(chunk);
  joined.events = end;
  return chunk;
}

function frameBytes({ line, seq }: StoredEvent, format: FrameFormat): number {
  if (format === "ndjson") return line.byteLength + 1;
  const id = format === "sse-id" ? ID.length + digitsOf(seq) : 0;
  return DATA.length + line.byteLength + id + END.length;
}

function writeFrame(chunk: Buffer, start: number, event: StoredEvent, format: FrameFormat): number {
  let at = start;
  if (format !== "ndjson") at = writeBytes(chunk, at, DATA);
  chunk.set(event.line, at);
  at += event.line.byteLength;
  if (format === "ndjson") {
    chunk[at] = LINE_FEED;
    return at + 1;
  }
  if (format === "sse-id") at = writeCount(chunk, writeBytes(chunk, at, ID), event.seq);
  return writeBytes(chunk, at, END);
}

/** For a few bytes less than a call of `set` takes. */
function writeBytes(chunk: Buffer, start: number, bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; i += 1) chunk[start + i] = bytes[i] as number;
  return start + bytes.length;
}

function digitsOf(count: number): number {
  let digits = 1;
  for (let least = 10; count >= least; least *= 10) digits += 1;
  return digits;
}

/** In decimal, without a text of its own. */
function writeCount(chunk: Buffer, start: number, count: number): number {
  const end = start + digitsOf(count);
  let rest = count;
  for (let at = end - 1; at >= start; at -= 1) {
    chunk[at] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  return end;
}
