/**
 * What leaves an evaluation.
 *   R1  it is data: no function, no instance of a class, nothing deeper than the limit.
 *   R2  it is measured as it would be written out: a list that holds one object a thousand times counts it a thousand times.
 * Data that a name gave and that leaves as it came is not walked.
 */
import type { Json } from "@millrace/contracts";
import type { Span } from "../syntax/ast.ts";
import {
  BYTES_PER_ELEMENT,
  BYTES_PER_UNIT,
  type Evaluation,
  overBytes,
  overDepth,
} from "./budget.ts";
import { checkData } from "./data.ts";

/** Checks a value that was put together here; `size`: it may hold one thing many times. `depth` levels are around it. */
export function checkResult(
  ev: Evaluation,
  place: Span,
  value: Json,
  size: boolean,
  depth = 0,
): void {
  if (typeof value === "number" || typeof value === "boolean" || value === null) return;
  if (typeof value === "string") {
    if (size) write(ev, place, value.length * BYTES_PER_UNIT);
    return;
  }
  checkData(place, value);
  if (depth >= ev.limits.depth) overDepth(ev, place);
  if (Array.isArray(value)) {
    if (size) write(ev, place, value.length * BYTES_PER_ELEMENT);
    for (const element of value) checkResult(ev, place, element ?? null, size, depth + 1);
    return;
  }
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (size) write(ev, place, BYTES_PER_ELEMENT);
    const member = (value as Record<string, Json>)[key] ?? null;
    checkResult(ev, place, member, size, depth + 1);
  }
}

function write(ev: Evaluation, place: Span, bytes: number): void {
  ev.written += bytes;
  if (ev.written > ev.limits.bytes) overBytes(ev, place);
}
