/**
 * The lines of one append as one block of memory, which the writer thread takes over: a hundred events cost it one message,
 * not a hundred copies. Layout: for each line its time and where it ends (two doubles), then the bytes of all.
 */
import type { EncodedEvent } from "@millrace/contracts";

/** Rows of the journal from `seq` on. `kinds` are joined by a blank; `block` is as the head of this file says. */
export interface PackedLines {
  readonly run: number;
  readonly seq: number;
  readonly count: number;
  readonly kinds: string;
  readonly block: ArrayBuffer;
}

/** Bytes of the two doubles of a line. */
const HEAD_BYTES = 16;

/** Packs events that follow each other; their bytes are copied, because other readers share them. */
export function packLines(run: number, events: readonly EncodedEvent[]): PackedLines {
  const start = events.length * HEAD_BYTES;
  let size = 0;
  for (const { line } of events) size += line.byteLength;
  const block = new ArrayBuffer(start + size);
  const heads = new Float64Array(block, 0, events.length * 2);
  const bytes = new Uint8Array(block, start);
  let kinds = "";
  let end = 0;
  let at = 0;
  for (const { kind, line, event } of events) {
    bytes.set(line, end);
    end += line.byteLength;
    heads[at] = event.ts;
    heads[at + 1] = end;
    kinds += at === 0 ? kind : ` ${kind}`;
    at += 2;
  }
  return { run, seq: events[0]?.seq ?? 0, count: events.length, kinds, block };
}
