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
  /** Calls `listener` once when the reader has left before the end, or was thrown out, at once if it has; null: nobody. */
  onLeft(listener: (() => void) | null): void;
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

/** The place that the bytes of a sink go to. */
interface Target {
  /** Nothing more is taken. */
  isOver(): boolean;
  /** Sends a chunk. True: another one may follow at once. */
  send(chunk: Uint8Array): boolean;
  /** Begins, or ends, the time in which the reader must take something. */
  watch(isWaiting: boolean): void;
  end(): void;
}

/** A sink over a target; `release` lets its writer go on, `leave` says that the reader has left. */
function createSink(target: Target): { sink: Sink; release(): void; leave(): void } {
  let hasLeft = false;
  let onLeft: (() => void) | null = null;
  let bytes = 0;
  let wroteAt = performance.now();
  let waiting: (() => void) | undefined;
  const release = () => {
    if (waiting === undefined) return;
    target.watch(false);
    const resolve = waiting;
    waiting = undefined;
    resolve();
  };
  const push = (chunk: Uint8Array): boolean => {
    bytes += chunk.byteLength;
    wroteAt = performance.now();
    return target.send(chunk);
  };
  const sink: Sink = {
    onLeft(listener) {
      onLeft = listener;
      if (hasLeft) listener?.();
    },
    get bytes() {
      return bytes;
    },
    get wroteAt() {
      return wroteAt;
    },
    write(chunk) {
      if (target.isOver() || push(chunk)) return undefined;
      target.watch(true);
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
    poke(chunk) {
      if (!target.isOver() && waiting === undefined) push(chunk);
    },
    end() {
      if (target.isOver()) return;
      release();
      target.end();
    },
  };
  const leave = () => {
    if (!hasLeft) {
      hasLeft = true;
      onLeft?.();
    }
    release();
  };
  return { sink, release, leave };
}

/** A sink over a raw response whose headers are written. */
export function createNodeSink(outgoing: ServerResponse, { stallMs, onStall }: Patience): Sink {
  const { sink, release, leave } = createSink({
    isOver: () => outgoing.destroyed || outgoing.writableEnded,
    send: (chunk) => outgoing.write(chunk),
    // Node's socket timeout counts progress inside a large write too, so a reader that is merely slow stays.
    watch: (isWaiting) => void outgoing.setTimeout(isWaiting ? stallMs : 0),
    end() {
      outgoing.end();
      // A reader that takes nothing would keep the socket for ever.
      outgoing.setTimeout(Math.max(stallMs, LINGER_MS));
    },
  });
  outgoing.on("drain", release);
  outgoing.on("timeout", () => {
    onStall();
    outgoing.destroy();
  });
  outgoing.once("close", () => (outgoing.writableFinished ? release() : leave()));
  // A client may leave while its run is being started: then there is no `close` left to wait for.
  if (outgoing.destroyed) leave();
  return sink;
}

/** A sink that is the body of a fetch `Response`; its reader leaves by cancelling it, or by aborting the request. */
export function createWebSink(
  signal: AbortSignal,
  { stallMs, onStall }: Patience,
): { readonly sink: Sink; readonly body: ReadableStream<Uint8Array> } {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const { sink, release, leave } = createSink({
    isOver: () => isOver,
    send(chunk) {
      controller?.enqueue(new Uint8Array(chunk)); // a copy: readers of a body may keep, change or transfer its buffers
      return (controller?.desiredSize ?? 0) > 0;
    },
    watch(isWaiting) {
      clearTimeout(timer);
      if (!isWaiting) return;
      timer = setTimeout(() => {
        onStall();
        stop(new Error("the reader took nothing"));
      }, stallMs);
    },
    end() {
      stop();
      controller?.close();
    },
  });
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
    pull: release,
    cancel: () => {
      if (isOver) return;
      stop();
      leave();
    },
  });
  function stop(reason?: Error): void {
    signal.removeEventListener("abort", onAbort);
    isOver = true;
    if (reason === undefined) return;
    // An adapter over Node cancels the body of a client that has left in this turn, and would print an error that comes before.
    setImmediate(() => controller?.error(reason));
    leave();
  }
  const onAbort = () => {
    if (!isOver) stop(new Error("the request was aborted"));
  };
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  return { sink, body };
}
