/**
 * Units of one turn, as one message to the writer thread: their numbers and lines in one block of memory, which is transferred to it, and
 * their texts and values as lists. Numbers in a list would cost both threads four times as much.
 *   - `texts`: the statements, codes and kinds of events that the thread has not seen yet; each is known by its number from then on.
 *   - `values`: those of all rows, in order.
 *   - `block`: how many numbers there are, the numbers, and the bytes of all lines. The numbers are for each unit `id sync bytes records
 *     quiet` and how many operations it has, then these: `LINES run epoch after`, how many events, and for each of them its time, its
 *     kind and where its line ends; `EXEC text`; or `statement need get`, how many rows and how many columns.
 * The thread reads it in `units.js`.
 */
import type { Lines, SqlValue } from "../sql/port.ts";
import type { Posted } from "./unit.ts";

export interface PackedUnits {
  readonly texts: readonly string[];
  readonly values: readonly SqlValue[];
  readonly block: ArrayBuffer;
}

/** Codes in place of the number of a statement. */
const LINES = -1;
const EXEC = -2;

/** Numbers of a unit, of SQL text, of any other operation, and of an event. */
const OF_UNIT = 6;
const OF_EXEC = 2;
const OF_OP = 5;
const OF_EVENT = 3;

/** Bytes of lines, with their numbers. */
export function bytesOfLines({ events }: Lines): number {
  let size = events.length * OF_EVENT * 8;
  for (const { line } of events) size += line.byteLength;
  return size;
}

/** The messages of one writer. */
export function createPacker(): (units: readonly Posted[]) => PackedUnits {
  const known = new Map<string, number>();
  return (units) => {
    const texts: string[] = [];
    const values: SqlValue[] = [];
    const numberOf = (text: string): number => {
      let number = known.get(text);
      if (number === undefined) {
        number = known.size;
        known.set(text, number);
        texts.push(text);
      }
      return number;
    };
    let count = 1;
    let size = 0;
    for (const { ops } of units) {
      count += OF_UNIT;
      for (const op of ops) {
        count += "exec" in op ? OF_EXEC : OF_OP;
        const { lines } = op;
        if (lines === undefined) continue;
        count += OF_EVENT * lines.events.length;
        for (const { line } of lines.events) size += line.byteLength;
      }
    }
    const block = new ArrayBuffer(count * 8 + size);
    const numbers = new Float64Array(block, 0, count);
    const bytes = new Uint8Array(block, count * 8);
    let at = 0;
    let end = 0;
    const put = (number: number): void => {
      numbers[at] = number;
      at += 1;
    };
    put(count);
    for (const { id, sync, bytes: weight, records, quiet, ops } of units) {
      put(id);
      put(sync ? 1 : 0);
      put(weight);
      put(records);
      put(quiet ? 1 : 0);
      put(ops.length);
      for (const op of ops) {
        if (op.lines !== undefined) {
          const { run, epoch, after, events } = op.lines;
          put(LINES);
          put(run);
          put(epoch);
          put(after);
          put(events.length);
          for (const { kind, line, event } of events) {
            bytes.set(line, end); // a copy, because other readers share it
            end += line.byteLength;
            put(event.ts);
            put(numberOf(kind));
            put(end);
          }
        } else if ("exec" in op) {
          put(EXEC);
          put(numberOf(op.exec));
        } else {
          put(numberOf(op.sql));
          put(op.need === undefined ? -1 : numberOf(op.need));
          put(op.get === true ? 1 : 0);
          put(op.rows.length);
          put(op.rows[0]?.length ?? 0);
          for (const row of op.rows) values.push(...row);
        }
      }
    }
    return { texts, values, block };
  };
}
