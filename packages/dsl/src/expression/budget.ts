/**
 * What one evaluation may spend. All holes of one value share one `Evaluation`.
 *   B1  work is paid for before it is done, so no single call can do more than the budget allows.
 *   B2  what leaves is measured as it would be written out: a list that holds one object a thousand times counts it a
 *       thousand times.
 */
import { type Json, MAX_JSON_DEPTH } from "@millrace/contracts";
import { ExpressionError, type ExpressionErrorCode } from "../errors.ts";

/** What one evaluation may spend at most. */
export interface ExpressionLimits {
  /** One per tree node visited, element produced or compared, and 64 UTF-16 units of text handled. */
  readonly steps: number;
  /** Text (2 a UTF-16 unit) and elements (16 each) produced. */
  readonly bytes: number;
  /** Nesting of produced data. */
  readonly depth: number;
}

/** Enough to go through thousands of items; spent within a few milliseconds, which no thread notices. */
export const DEFAULT_EXPRESSION_LIMITS: ExpressionLimits = {
  steps: 100_000,
  bytes: 16 * 1024 * 1024,
  depth: MAX_JSON_DEPTH,
};

/** An operator may raise steps and bytes this far: more belongs into a node, which can be cancelled. */
const MAX_RAISE = 10;
const BYTES_PER_ELEMENT = 16;
const BYTES_PER_UNIT = 2;

/** A stretch of the expression's source, in UTF-16 units. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** Values by root name; undefined is an unknown name, null an absent one. */
export interface Scope {
  get(root: string): Json | undefined;
}

/** The state of one evaluation. */
export class Evaluation {
  steps: number;
  bytes: number;
  /** Bytes of the result, counted as if written out. */
  written = 0;
  readonly limits: ExpressionLimits;
  readonly scope: Scope;
  readonly nowEpoch: number;
  /** Values of roots (read once) and of macro variables. */
  readonly slots: (Json | undefined)[] = [];

  constructor(limits: ExpressionLimits, scope: Scope, nowEpoch: number) {
    this.steps = limits.steps;
    this.bytes = limits.bytes;
    this.limits = limits;
    this.scope = scope;
    this.nowEpoch = nowEpoch;
  }
}

/** Limits with the defaults filled in and nothing above what may be raised. */
export function resolveLimits(limits: Partial<ExpressionLimits> = {}): ExpressionLimits {
  const { steps, bytes, depth } = DEFAULT_EXPRESSION_LIMITS;
  return {
    steps: Math.min(limits.steps ?? steps, steps * MAX_RAISE),
    bytes: Math.min(limits.bytes ?? bytes, bytes * MAX_RAISE),
    depth: Math.min(limits.depth ?? depth, depth),
  };
}

/** Ends the evaluation with an error at a place. */
export function fail(place: Place, code: ExpressionErrorCode, message: string): never {
  throw new ExpressionError(code, message, place.start, place.end - place.start);
}

/** Pays steps. */
export function spend(run: Evaluation, place: Place, steps: number): void {
  run.steps -= steps;
  if (run.steps < 0) overSteps(run, place);
}

/** Ends the evaluation for want of steps. */
export function overSteps(run: Evaluation, place: Place): never {
  fail(place, "budget_exceeded", `the evaluation takes more than ${run.limits.steps} steps`);
}

/** Pays for reading text of `length` UTF-16 units. */
export function handleText(run: Evaluation, place: Place, length: number): void {
  if (length >= 64) spend(run, place, length >> 6);
}

/** Pays for text about to be produced. */
export function produceText(run: Evaluation, place: Place, length: number): void {
  handleText(run, place, length);
  takeBytes(run, place, length * BYTES_PER_UNIT);
}

/** Pays for list elements or object entries about to be produced. */
export function produceElements(run: Evaluation, place: Place, count: number): void {
  spend(run, place, count);
  takeBytes(run, place, count * BYTES_PER_ELEMENT);
}

/** Checks that a result is no deeper than allowed and, when it may hold one thing many times, no larger when written out. */
export function checkResult(
  run: Evaluation,
  place: Place,
  value: Json,
  options: { size: boolean; depth?: number },
): void {
  if (typeof value !== "object" || value === null) return;
  measure(run, place, value, options.size, options.depth ?? 0);
}

function measure(run: Evaluation, place: Place, value: Json, size: boolean, depth: number): void {
  if (typeof value !== "object" || value === null) {
    if (size && typeof value === "string") write(run, place, value.length * BYTES_PER_UNIT);
    return;
  }
  if (depth >= run.limits.depth) overDepth(run, place);
  if (Array.isArray(value)) {
    if (size) write(run, place, value.length * BYTES_PER_ELEMENT);
    for (const element of value) measure(run, place, element, size, depth + 1);
    return;
  }
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (size) write(run, place, BYTES_PER_ELEMENT);
    measure(run, place, (value as Record<string, Json>)[key] as Json, size, depth + 1);
  }
}

/** Ends the evaluation because of nesting. */
export function overDepth(run: Evaluation, place: Place): never {
  fail(place, "budget_exceeded", `data is nested deeper than ${run.limits.depth} levels`);
}

function write(run: Evaluation, place: Place, bytes: number): void {
  run.written += bytes;
  if (run.written > run.limits.bytes) overBytes(run, place);
}

function takeBytes(run: Evaluation, place: Place, bytes: number): void {
  run.bytes -= bytes;
  if (run.bytes < 0) overBytes(run, place);
}

function overBytes(run: Evaluation, place: Place): never {
  fail(place, "budget_exceeded", `the evaluation produces more than ${run.limits.bytes} bytes`);
}
