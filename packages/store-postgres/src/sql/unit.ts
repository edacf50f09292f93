/** One call of `write`, as the writer needs to know it. */
import type { Op } from "@millrace/store/sql";
import { isJudged, type Step, stepsOf } from "./steps.ts";

export interface Unit {
  readonly ops: readonly Op[];
  readonly steps: readonly Step[];
  /** Its lines are enough to know whether it was stored, and nobody has to look at a result before its COMMIT. */
  readonly isAppend: boolean;
  /** About what it takes while it waits. */
  readonly bytes: number;
}

const ROW_BYTES = 64; // estimated cost of a row besides its values

export function unitOf(ops: readonly Op[], { quiet }: { readonly quiet: boolean }): Unit {
  const steps = stepsOf(ops);
  const isAppend =
    quiet &&
    ops.some(({ lines }) => lines !== undefined) &&
    !steps.some(isJudged) &&
    !ops.some((op) => op.lines === undefined && /\bjournal\b/.test(op.sql)); // else stored lines are not as they were sent
  return { ops, steps, isAppend, bytes: bytesOf(ops) };
}

function bytesOf(ops: readonly Op[]): number {
  let bytes = 0;
  for (const op of ops) {
    if (op.lines !== undefined) {
      for (const { line } of op.lines.events) bytes += line.byteLength + ROW_BYTES;
      continue;
    }
    for (const row of op.rows) {
      bytes += ROW_BYTES;
      for (const value of row) {
        if (typeof value === "string") bytes += value.length;
        else if (value instanceof Uint8Array) bytes += value.byteLength;
      }
    }
  }
  return bytes;
}
