/**
 * What one evaluation may spend. All holes of one value share one `Evaluation`.
 *   B1  work is paid for before it is done, or after one linear pass over what is there: no call can do more than the budget
 *       allows but for that.
 *   B2  what a piece without branch and loop takes whatever the data is paid at once, where it begins.
 *   B3  what is paid bounds the time that it takes, whatever the data: nothing here is worse than linear in its steps.
 */

import { type Json, MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { ExpressionError, type ExpressionErrorCode } from "../errors.ts";
import type { Span } from "../syntax/ast.ts";

/** Limits of one evaluation. */
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
/** Cost of an element of a list in `bytes`. */
export const BYTES_PER_ELEMENT = 16;
/** Cost of a UTF-16 unit of a text in `bytes`. */
export const BYTES_PER_UNIT = 2;

/** Values by root name; undefined is an unknown name, null an absent one. */
export interface Scope {
  get(root: string): Json | undefined;
}

/** Values by place, as `roots` lists their names; undefined is an unknown name, null an absent one. */
export type Slots = readonly (Json | undefined)[];

/** The state of one evaluation. */
export interface Evaluation {
  steps: number;
  bytes: number;
  /** Bytes of the result, counted as if written out. */
  written: number;
  nowEpoch: number;
  /** It serves an evaluation now. */
  busy: boolean;
  /** Where names are asked for; null while nothing is evaluated by name. */
  scope: Scope | null;
  /** Values of roots and of macro variables. */
  slots: (Json | undefined)[];
  limits: ExpressionLimits;
  /** Values that calls keep for later calls, by kind and name. */
  kept: Map<string, unknown> | undefined;
}

/**
 * What a call makes for later calls of the same evaluation. It is made, and paid for, in each evaluation anew, so that what is
 * left of a budget never depends on other evaluations.
 */
export function kept<T>(ev: Evaluation, key: string, make: () => T): T {
  ev.kept ??= new Map();
  const known = ev.kept.get(key) as T | undefined;
  const value = known ?? make();
  if (known === undefined) ev.kept.set(key, value);
  return value;
}

/** Limits with the defaults filled in and nothing above what may be raised. */
export function resolveLimits(limits: Partial<ExpressionLimits> = {}): ExpressionLimits {
  if (Object.keys(limits).length === 0) return DEFAULT_EXPRESSION_LIMITS;
  const { steps, bytes, depth } = DEFAULT_EXPRESSION_LIMITS;
  return {
    steps: atMost(limits.steps ?? steps, steps * MAX_RAISE),
    bytes: atMost(limits.bytes ?? bytes, bytes * MAX_RAISE),
    depth: atMost(limits.depth ?? depth, depth),
  };
}

/** A limit that is no number limits: it is the most there is. */
function atMost(limit: number, most: number): number {
  return Number.isNaN(limit) ? most : Math.min(limit, most);
}

/** Ends the evaluation with an error at a place. */
export function fail(place: Span, code: ExpressionErrorCode, message: string): never {
  throw new ExpressionError(code, message, place.start, place.end - place.start);
}

/** Ends the evaluation: a value is of a type that is not taken at a place. */
export function wrongType(place: Span, message: string): never {
  fail(place, "type_mismatch", message);
}

/** Ends the evaluation: an argument has the type that is taken, but not a value. */
export function badArgument(place: Span, message: string): never {
  fail(place, "bad_argument", message);
}

/** Pays steps. */
export function spend(ev: Evaluation, place: Span, steps: number): void {
  if (lacks(ev, steps)) overSteps(ev, place);
}

/** Takes steps; whether there were too few. So short that engines of JavaScript inline it wherever it is called. */
export function lacks(ev: Evaluation, steps: number): boolean {
  const left = ev.steps - steps;
  ev.steps = left;
  return left < 0;
}

/** Ends the evaluation for want of steps. */
export function overSteps(ev: Evaluation, place: Span): never {
  fail(place, "budget_exceeded", `the evaluation takes more than ${ev.limits.steps} steps`);
}

/** Pays for reading text of `length` UTF-16 units. */
export function handleText(ev: Evaluation, place: Span, length: number): void {
  if (length >= 64) spend(ev, place, length >> 6);
}

/** Pays for text about to be produced. */
export function produceText(ev: Evaluation, place: Span, length: number): void {
  handleText(ev, place, length);
  takeBytes(ev, place, length * BYTES_PER_UNIT);
}

/** Pays for list elements or object entries about to be produced. */
export function produceElements(ev: Evaluation, place: Span, count: number): void {
  spend(ev, place, count);
  takeBytes(ev, place, count * BYTES_PER_ELEMENT);
}

/** Ends the evaluation because of nesting. */
export function overDepth(ev: Evaluation, place: Span): never {
  fail(place, "budget_exceeded", `data is nested deeper than ${ev.limits.depth} levels`);
}

function takeBytes(ev: Evaluation, place: Span, bytes: number): void {
  ev.bytes -= bytes;
  if (ev.bytes < 0) overBytes(ev, place);
}

/** Ends the evaluation because of what it produces. */
export function overBytes(ev: Evaluation, place: Span): never {
  fail(place, "budget_exceeded", `the evaluation produces more than ${ev.limits.bytes} bytes`);
}
