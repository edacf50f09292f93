/**
 * Units of one turn, up to 50 of them, as one message to the writer thread: a list of plain values, and one block of memory with the
 * lines of all of them, which the thread takes over. A hundred runs that go on together cost it two messages, not a hundred copies.
 *   - `texts`: the statements and kinds of events that the thread has not seen yet; each is known by its number from then on.
 *   - `words`: for each unit `id sync bytes records quiet`, the number of its operations, then these:
 *     `LINES run epoch after count at`, `EXEC text`, or `statement need get`, the number of rows, the number of columns, and the values.
 *   - `block`: from `at` on, for each line its time, its kind and where it ends (three doubles), then the bytes of all.
 * The thread reads it in `units.js`.
 */
import type { EncodedEvent } from "@millrace/contracts";
import type { Lines, SqlValue } from "../sql/port.ts";
import type { PackedOp, Posted, UnitOp } from "./unit.ts";

export interface PackedUnits {
  readonly texts: readonly string[];
  readonly words: readonly SqlValue[];
  readonly block: ArrayBuffer;
}

/** Codes in place of the number of a statement. */
const LINES = -1;
const EXEC = -2;

/** Doubles of a line beside its bytes. */
const HEAD = 3;
const HEAD_BYTES = HEAD * 8;

/** Bytes that lines take in a block, which keeps the next ones aligned. */
export function bytesOfLines({ events }: Lines): number {
  let size = events.length * HEAD_BYTES;
  for (const { line } of events) size += line.byteLength;
  return Math.ceil(size / 8) * 8;
}

/** The messages of one writer. */
export function createPacker(): (units: readonly Posted[]) => PackedUnits {
  const numbers = new Map<string, number>();
  return (units) => {
    const texts: string[] = [];
    const words: SqlValue[] = [];
    let size = 0;
    for (const { ops } of units) {
      for (const { lines } of ops) if (lines !== undefined) size += bytesOfLines(lines);
    }
    const block = new ArrayBuffer(size);
    let at = 0;
    const numberOf = (text: string): number => {
      let number = numbers.get(text);
      if (number === undefined) {
        number = numbers.size;
        numbers.set(text, number);
        texts.push(text);
      }
      return number;
    };
    for (const { id, sync, bytes, records, quiet, ops } of units) {
      words.push(id, sync ? 1 : 0, bytes, records, quiet ? 1 : 0, ops.length);
      for (const op of ops) {
        if (op.lines !== undefined) {
          const { run, epoch, after, events } = op.lines;
          packLines(events, { block, at, numberOf });
          words.push(LINES, run, epoch, after, events.length, at);
          at += bytesOfLines(op.lines);
        } else if ("exec" in op) words.push(EXEC, op.exec);
        else {
          const { need = null, get = false, rows } = op;
          words.push(numberOf(op.sql), need, get ? 1 : 0, rows.length, rows[0]?.length ?? 0);
          for (const row of rows) words.push(...row);
        }
      }
    }
    return { texts, words, block };
  };
}

/** The operations of a unit that stays in this thread. */
export function packedOps(ops: readonly UnitOp[]): readonly PackedOp[] {
  return ops.map((op) => {
    if (op.lines === undefined) return op;
    const { run, epoch, after, events } = op.lines;
    const kinds: string[] = [];
    const block = new ArrayBuffer(bytesOfLines(op.lines));
    packLines(events, { block, at: 0, numberOf: (kind) => kinds.push(kind) - 1 });
    return { lines: { run, epoch, after, count: events.length, kinds, block, at: 0 } };
  });
}

interface Place {
  readonly block: ArrayBuffer;
  readonly at: number;
  readonly numberOf: (kind: string) => number;
}

/** Writes lines into a block. Their bytes are copied, because other readers share them. */
function packLines(events: readonly EncodedEvent[], { block, at, numberOf }: Place): void {
  const heads = new Float64Array(block, at, events.length * HEAD);
  const bytes = new Uint8Array(block, at + events.length * HEAD_BYTES);
  let end = 0;
  let head = 0;
  for (const { kind, line, event } of events) {
    bytes.set(line, end);
    end += line.byteLength;
    heads[head] = event.ts;
    heads[head + 1] = numberOf(kind);
    heads[head + 2] = end;
    head += HEAD;
  }
}
