/**
 * The values of the language: kinds, equality, order, members, text, and what may leave an evaluation.
 *   V1  only own properties of plain data are ever read.
 *   V2  walks over data pay for each element and stop at the depth limit, so shared or endless data cannot hang them.
 *   V3  a result is data: no function, no instance of a class, nothing deeper than the limit. It is measured as it would be
 *       written out: a list that holds one object a thousand times counts it a thousand times.
 * Data that a name gave and that leaves as it came is not walked.
 */

import type { Json, JsonObject } from "@millrace/contracts";
import { memberNames } from "@millrace/contracts/kit";
import { isObject, isPlain } from "../data.ts";
import type { Span } from "../syntax/ast.ts";
import {
  BYTES_PER_ELEMENT,
  BYTES_PER_UNIT,
  type Evaluation,
  fail,
  handleText,
  overBytes,
  overDepth,
  overSteps,
  produceText,
  spend,
  wrongType,
} from "./budget.ts";

/** Kinds as bits, so that a set of them is one number. `Kind.any` holds all. */
export const Kind = {
  null: 1,
  bool: 2,
  number: 4,
  string: 8,
  list: 16,
  object: 32,
  any: 63,
} as const;

/** The kind of a value as one bit; 0 for what is not JSON. */
export function kindOf(value: unknown): number {
  if (typeof value === "string") return Kind.string;
  if (typeof value === "number") return Kind.number;
  if (typeof value === "object") return kindOfObject(value);
  return typeof value === "boolean" ? Kind.bool : 0;
}

function kindOfObject(value: object | null): number {
  if (value === null) return Kind.null;
  if (Array.isArray(value)) return Kind.list;
  return isPlain(value) ? Kind.object : 0;
}

/** The kind of a value as `type()` names it; in words for what is not JSON. */
export function kindName(value: unknown): string {
  return kindsText(kindOf(value)) || "what is no data";
}

/** A set of kinds in words: `string, list or object`. */
export function kindsText(kinds: number): string {
  const names = Object.entries(Kind)
    .filter(([name, bit]) => name !== "any" && (kinds & bit) !== 0)
    .map(([name]) => name);
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** Ends the evaluation when a value is nothing that JSON can hold: a function, an instance of a class. */
export function checkData(place: Span, value: unknown): void {
  if (kindOf(value) === 0) wrongType(place, `found ${kindName(value)}`);
}

/** An own member; null when there is none. */
export function memberOf(object: JsonObject, name: string): Json {
  return Object.hasOwn(object, name) ? (object[name] ?? null) : null;
}

/** Equality by value, key order ignored; different kinds are unequal. */
export function equals(ev: Evaluation, place: Span, a: Json, b: Json): boolean {
  if (typeof a === "object" && typeof b === "object" && a !== null && b !== null) {
    return a === b || sameData(ev, place, a, b, 0);
  }
  if (typeof a === "string" && typeof b === "string") {
    handleText(ev, place, Math.min(a.length, b.length));
  }
  return a === b;
}

/** Where a list first has an element equal to a value, or -1; each comparison is paid for. */
export function listIndex(ev: Evaluation, place: Span, list: readonly Json[], value: Json): number {
  let at = 0;
  for (const element of list) {
    if (--ev.steps < 0) overSteps(ev, place);
    if (equals(ev, place, element ?? null, value)) return at;
    at += 1;
  }
  return -1;
}

function sameData(
  ev: Evaluation,
  place: Span,
  a: readonly Json[] | JsonObject,
  b: readonly Json[] | JsonObject,
  depth: number,
): boolean {
  if (depth >= ev.limits.depth) overDepth(ev, place);
  const same = (x: Json, y: Json): boolean => {
    spend(ev, place, 1);
    if (typeof x === "object" && typeof y === "object" && x !== null && y !== null) {
      return x === y || sameData(ev, place, x, y, depth + 1);
    }
    return equals(ev, place, x, y);
  };
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((element, i) => same(element ?? null, b[i] ?? null));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = memberNames(a);
  const { length } = memberNames(b);
  // Names are counted without a comparison, but not for nothing.
  spend(ev, place, (names.length + length) >> 3);
  if (names.length !== length) return false;
  return names.every((name) => {
    const value = Object.hasOwn(b, name) ? b[name] : undefined;
    return value !== undefined && same(a[name] as Json, value);
  });
}

/** Order by code point: negative, zero or positive. UTF-16 order differs from it where a pair meets U+E000 and above. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const inPair = i > 0 && (isLow(x) || isLow(y)) && isHigh(a.charCodeAt(i - 1));
    const at = inPair ? i - 1 : i;
    return (a.codePointAt(at) as number) - (b.codePointAt(at) as number);
  }
  return a.length - b.length;
}

/** A value as text, as in a template: text as it is, numbers as ECMAScript prints them, data as compact JSON. */
export function toText(ev: Evaluation, place: Span, value: Json): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null) return toJson(ev, place, value, 0);
  checkData(place, value);
  return String(value);
}

/** A value as JSON text. */
export function toJson(ev: Evaluation, place: Span, value: Json, indent: number): string {
  payForJson(ev, place, value, indent, 0);
  const text = JSON.stringify(value, undefined, indent);
  produceText(ev, place, text.length);
  return text;
}

function payForJson(ev: Evaluation, place: Span, value: Json, indent: number, depth: number): void {
  spend(ev, place, 1);
  if (typeof value === "string") handleText(ev, place, value.length);
  checkData(place, value);
  if (typeof value !== "object" || value === null) return;
  if (depth >= ev.limits.depth) overDepth(ev, place);
  for (const key of Object.keys(value)) {
    handleText(ev, place, key.length + indent * (depth + 1));
    payForJson(ev, place, (value as JsonObject)[key] ?? null, indent, depth + 1);
  }
}

/** A numeric result; what is not finite ends the evaluation, and there is no negative zero. */
export function finite(place: Span, value: number): number {
  if (!Number.isFinite(value)) fail(place, "number_range", "the result is not a finite number");
  return value + 0;
}

/** How many code points a text has. */
export function codePointCount(text: string): number {
  let count = text.length;
  for (let i = 0; i + 1 < text.length; i += 1) {
    if (startsPair(text, i)) {
      count -= 1;
      i += 1;
    }
  }
  return count;
}

/** Index in UTF-16 units of the code point at `position`, at most the length. */
export function codePointOffset(text: string, position: number): number {
  let at = 0;
  for (let n = 0; n < position && at < text.length; n += 1) at += startsPair(text, at) ? 2 : 1;
  return at;
}

/** Whether every surrogate of a text is half of a pair, so that the text has a UTF-8 form. */
export function isWellFormed(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (!isHigh(unit) && !isLow(unit)) continue;
    if (!startsPair(text, i)) return false;
    i += 1;
  }
  return true;
}

function startsPair(text: string, at: number): boolean {
  return isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1));
}

function isHigh(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}

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
    for (const element of value) {
      if (typeof element !== "number") checkResult(ev, place, element ?? null, size, depth + 1);
    }
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
