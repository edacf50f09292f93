/**
 * Where the bytes of a stream go: the raw response of Node, or the body of a fetch `Response`. A writer waits until the
 * reader has taken what was written, so a slow reader costs no memory.
 */
import type { ServerResponse } from "node:http";
import { LINGER_MS } from "../config/limits.ts";

/** One reader of one stream. */
export interface Sink {
  /** Resolves when more may be written, or when the reader has left. */
  write(bytes: Uint8Array): Promise<void> | undefined;
  /** Writes unless the reader is behind; for heartbeats, which may be left out. */
  poke(bytes: Uint8Array): void;
  /** Ends the stream; what is written afterwards is dropped. */
  end(): void;
  /** Aborted when the reader has left before the end, or was thrown out. */
  readonly left: AbortSignal;
  /** Bytes written so far. */
  readonly bytes: number;
  /** When the last byte was written, by `performance.now()`. */
  readonly wroteAt: number;
}

/** How long a reader may take nothing before it is thrown out. */
interface Patience {
  readonly stallMs: number;
  readonly onStall: () => void;
}

/** A sink over a raw response whose headers are written. */
export function createNodeSink(outgoing: ServerResponse, options: Patience): Sink {
  const leaving = new AbortController();
  let bytes = 0;
  let wroteAt = performance.now();
  let waiting: (() => void) | undefined;
  const release = () => {
    const resolve = waiting;
    waiting = undefined;
    resolve?.();
  };
  outgoing.on("drain", () => {
    outgoing.setTimeout(0);
    release();
  });
  // Node's socket timeout counts progress inside a large write too, so a reader that is merely slow stays.
  outgoing.on("timeout", () => {
    options.onStall();
    outgoing.destroy();
  });
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) leaving.abort();
    release();
  });
  // A client may leave while its run is being started: then there is no `close` left to wait for.
  if (outgoing.destroyed) leaving.abort();
  const count = (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    wroteAt = performance.now();
  };
  return {
    left: leaving.signal,
    get bytes() {
      return bytes;
    },
    get wroteAt() {
      return wroteAt;
    },
    write(chunk) {
      if (outgoing.destroyed || outgoing.writableEnded) return undefined;
      count(chunk);
      if (outgoing.write(chunk)) return undefined;
      outgoing.setTimeout(options.stallMs);
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
    poke(chunk) {
      if (outgoing.destroyed || outgoing.writableEnded || waiting !== undefined) return;
      count(chunk);
      outgoing.write(chunk);
    },
    end() {
      if (outgoing.destroyed || outgoing.writableEnded) return;
      outgoing.end();
      release();
      // A reader that takes nothing would keep the socket for ever.
      outgoing.setTimeout(Math.max(options.stallMs, LINGER_MS));
    },
  };
}

/** A sink that is the body of a fetch `Response`; its reader leaves by cancelling it, or by aborting the request. */
export function createWebSink(
  signal: AbortSignal,
  options: Patience,
): { readonly sink: Sink; readonly body: ReadableStream<Uint8Array> } {
  const leaving = new AbortController();
  let bytes = 0;
  let wroteAt = performance.now();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let waiting: (() => void) | undefined;
  const release = () => {
    const resolve = waiting;
    waiting = undefined;
    resolve?.();
  };
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
    pull: release,
    cancel: () => leave(),
  });
  let ended = false;
  function leave(reason?: Error): void {
    signal.removeEventListener("abort", onAbort);
    if (ended || leaving.signal.aborted) return;
    // An adapter over Node cancels the body of a client that has left in this turn, and would print an error that comes before.
    if (reason !== undefined) setImmediate(() => controller?.error(reason));
    leaving.abort();
    release();
  }
  const onAbort = () => leave(new Error("the request was aborted"));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  const push = (chunk: Uint8Array) => {
    if (ended || leaving.signal.aborted) return;
    bytes += chunk.byteLength;
    wroteAt = performance.now();
    controller?.enqueue(new Uint8Array(chunk)); // a copy: who reads a body may keep, change or transfer its buffers
  };
  const sink: Sink = {
    left: leaving.signal,
    get bytes() {
      return bytes;
    },
    get wroteAt() {
      return wroteAt;
    },
    write(chunk) {
      push(chunk);
      if (ended || leaving.signal.aborted || (controller?.desiredSize ?? 0) > 0) return undefined;
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          options.onStall();
          leave(new Error("the reader took nothing"));
        }, options.stallMs);
        waiting = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
    poke(chunk) {
      if (waiting === undefined) push(chunk);
    },
    end() {
      signal.removeEventListener("abort", onAbort);
      if (ended || leaving.signal.aborted) return;
      ended = true;
      controller?.close();
      release();
    },
  };
  return { sink, body };
}
