/**
 * How stored events become the bytes of a stream. A line is encoded once, by the engine; here it is only copied between
 * the bytes around it, so content can never forge a frame. That too is done once for all readers of a page.
 * @see the events page, "Surfaces, byte for byte"
 */
import type { StoredEvent } from "@millrace/contracts";

/** `sse`: `POST /api/run`. `sse-id`: re-attach, each frame with its position. `ndjson`: one event a line. */
export type FrameFormat = "sse" | "sse-id" | "ndjson";

const DATA = Buffer.from("data: ");
const END = Buffer.from("\n\n");
const LINE_FEED = 0x0a;

/** A comment that keeps proxies and readers from giving up. */
export const HEARTBEAT: Uint8Array = Buffer.from(": hb\n\n");
/** The last thing on a stream that the stopping server cuts. */
export const DRAINING: Uint8Array = Buffer.from(": draining\n\n");

/** Joined writes are no longer than this, unless one frame is. */
const BATCH_BYTES = 16_384;

/** Content type of a stream. */
export function contentTypeOf(format: FrameFormat): string {
  return format === "ndjson" ? "application/x-ndjson" : "text/event-stream";
}

/** What is joined of a page so far. */
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
export function* frameChunks(
  page: readonly StoredEvent[],
  format: FrameFormat,
): Generator<Uint8Array> {
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

/** Tells a reader where it is before the first event: an id without data is kept and dispatches nothing. */
export function positionFrame(position: number): Uint8Array {
  return Buffer.from(`id: ${position}\n\n`);
}

function frameBytes({ line, seq }: StoredEvent, format: FrameFormat): number {
  if (format === "ndjson") return line.byteLength + 1;
  const id = format === "sse-id" ? idLine(seq).length : 0;
  return DATA.length + line.byteLength + id + END.length;
}

function writeFrame(chunk: Buffer, start: number, event: StoredEvent, format: FrameFormat): number {
  let at = start;
  if (format === "ndjson") {
    chunk.set(event.line, at);
    at += event.line.byteLength;
    chunk[at] = LINE_FEED;
    return at + 1;
  }
  chunk.set(DATA, at);
  at += DATA.length;
  chunk.set(event.line, at);
  at += event.line.byteLength;
  if (format === "sse-id") at += chunk.write(idLine(event.seq), at, "latin1");
  chunk.set(END, at);
  return at + END.length;
}

/** Comes after the data line and its line end; the blank line that follows dispatches the frame. */
function idLine(seq: number): string {
  return `\nid: ${seq}`;
}
