/** Values at the border of the engine: their size, their identity, and how an error becomes a failure. */
import {
  type FlowNode,
  type Json,
  type JsonObject,
  type JsonWarning,
  toJsonValue,
  type ValueRef,
} from "@millrace/contracts";
import { canonicalJson, pointerKeys } from "@millrace/contracts/kit";
import type { Host } from "./host.ts";

/** Larger outputs leave the event and are kept beside the log. */
export const INLINE_BYTES = 65_536;

/** Bytes of a preview: which record it is, and no more, because thousands of events of large outputs may be in memory. */
const PREVIEW_BYTES = 64;

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

/** Bytes of the JSON text of `value`: exact above `INLINE_BYTES`, at most that below it. */
export function sizeOf(value: Json): number {
  const bound = boundOf(value, 0);
  if (bound <= INLINE_BYTES) return bound;
  return utf8.encode(JSON.stringify(value)).length;
}

/** An upper bound of the JSON bytes, cut off once it is beyond what fits on an event. */
function boundOf(value: Json | undefined, so: number): number {
  if (typeof value === "string") return so + value.length * 6 + 2; // \u00XX is the longest escape
  if (typeof value !== "object" || value === null) return so + 25;
  let sum = so + 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && sum <= INLINE_BYTES; i += 1)
      sum = boundOf(value[i], sum + 1);
    return sum;
  }
  for (const key in value as JsonObject) {
    const inner = (value as JsonObject)[key];
    sum += key.length * 6 + 4;
    // Written out for plain members, which most are: a call that calls itself is not compiled into its caller.
    if (typeof inner === "object" && inner !== null) sum = boundOf(inner, sum);
    else sum += typeof inner === "string" ? inner.length * 6 + 2 : 25;
    if (sum > INLINE_BYTES) return sum;
  }
  return sum;
}

/** `sha256:` over the canonical JSON text. */
export function digestOf(value: Json, host: Host): string {
  // Joined, it is one text in memory; added, it would keep its parts.
  return ["sha256:", host.sha256(utf8.encode(canonicalJson(value)))].join("");
}

/** How a large value is named on an event. The preview is copied, so that it does not keep the value alive. */
export function refOf(value: Json, host: Host): ValueRef {
  const bytes = utf8.encode(JSON.stringify(value));
  const preview = fromUtf8.decode(bytes.subarray(0, cutAt(bytes, PREVIEW_BYTES)));
  return {
    ref: digestOf(value, host),
    bytes: bytes.length,
    mediaType: "application/json",
    preview,
  };
}

/** The largest length up to `max` that does not part a character. */
function cutAt(bytes: Uint8Array, max: number): number {
  let end = Math.min(bytes.length, max);
  while (end > 0 && end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return end;
}

/** A JSON copy of what a body handed over; throws `NotJsonError`. Ordinary records, which most nodes make, take a short way. */
export function toOutput(
  value: unknown,
  warn: (warning: JsonWarning) => void = () => undefined,
): Json {
  const plain = plainCopy(value);
  if (plain !== undefined) return plain;
  const made = toJsonValue(value);
  for (const warning of made.warnings) warn(warning);
  return made.value;
}

const PLAIN_DEPTH = 16; // a cycle, too, comes to an end there
const PLAIN_VALUES = 4_096; // and here, where each level holds itself twice

/** A copy of a record that is JSON as it stands, or `undefined`: `toJsonValue` may make something of it, or says what is wrong. */
export function plainCopy(value: unknown): JsonObject | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  for (const _name in Object.prototype) return undefined; // somebody has added to every record
  valuesLeft = PLAIN_VALUES;
  copiedBytes = 0;
  copiedPort = false;
  try {
    return copyOf(value, PLAIN_DEPTH) as JsonObject | undefined;
  } catch {
    return undefined; // a property that throws: the long way says which
  }
}

/** Size bound of the last value that `plainCopy` copied, as `boundOf` counts it, so that nothing is walked twice. */
export let copiedBytes = 0;

/** Whether something in it is named `port`, as a member of an exit is. */
export let copiedPort = false;

let valuesLeft = 0;

function copyOf(value: unknown, depth: number): Json | undefined {
  switch (typeof value) {
    case "string":
      copiedBytes += value.length * 6 + 2;
      return isClean(value) ? value : undefined;
    case "boolean":
      copiedBytes += 25;
      return value;
    case "number":
      copiedBytes += 25;
      return Number.isFinite(value) && value !== 0 ? value : zeroOf(value);
    case "object":
      break;
    default:
      return undefined;
  }
  if (value === null) {
    copiedBytes += 25;
    return null;
  }
  if (depth === 0) return undefined;
  copiedBytes += 2;
  if (Array.isArray(value)) return listCopy(value, depth);
  // biome-ignore lint/suspicious/noProto: `Object.getPrototypeOf` leaves compiled code; an own `__proto__` is refused below
  if ((value as { __proto__?: unknown }).__proto__ !== Object.prototype) return undefined;
  return recordCopy(value as { readonly [key: string]: unknown }, depth);
}

function recordCopy(record: { readonly [key: string]: unknown }, depth: number): Json | undefined {
  let copy: { [key: string]: Json } | null = null;
  for (const key in record) {
    valuesLeft -= 1;
    if (valuesLeft < 0 || key === "__proto__" || !isClean(key)) return undefined;
    if (key === "port") copiedPort = true;
    const inner = record[key];
    if (copy === null) copy = {};
    copiedBytes += key.length * 6 + 4;
    // Written out for plain members, which most are: a call that calls itself is not compiled into its caller.
    if (typeof inner === "string") {
      if (!isClean(inner)) return undefined;
      copiedBytes += inner.length * 6 + 2;
      copy[key] = inner;
    } else if (typeof inner === "number") {
      if (!Number.isFinite(inner)) return undefined;
      copiedBytes += 25;
      copy[key] = inner === 0 ? 0 : inner;
    } else {
      const made = copyOf(inner, depth - 1);
      if (made === undefined) return undefined;
      copy[key] = made;
    }
  }
  return copy ?? new Empty();
}

/** A plain object without members and without room for any: what effects answer with is kept in their events. A literal has room for four. */
function empty(this: JsonObject): void {}
empty.prototype = Object.prototype;
const Empty = empty as unknown as new () => JsonObject;

function listCopy(list: readonly unknown[], depth: number): Json | undefined {
  valuesLeft -= list.length;
  if (valuesLeft < 0) return undefined;
  const copy: Json[] = [];
  for (let i = 0; i < list.length; i += 1) {
    const inner = copyOf(list[i], depth - 1);
    if (inner === undefined) return undefined;
    copiedBytes += 1;
    copy.push(inner);
  }
  return copy;
}

/** Zero without its sign; what is not finite is no JSON. */
function zeroOf(value: number): number | undefined {
  return value === 0 ? 0 : undefined;
}

const SURROGATE = /[\ud800-\udfff]/;

/** Whether a text has no half of a character; what cannot tell says no where there is a whole one of two halves. */
function isClean(text: string & { isWellFormed?(): boolean }): boolean {
  return text.isWellFormed === undefined ? !SURROGATE.test(text) : text.isWellFormed();
}

/** Freezes a JSON value through and through. */
export function deepFreeze(value: Json): Json {
  const stack: unknown[] = [value];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next !== "object" || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    stack.push(...Object.values(next).filter((inner) => inner !== undefined));
  }
  return value;
}

/** The value at a JSON Pointer (RFC 6901); undefined where there is none. Members of prototypes do not count. */
export function valueAt(root: Json, pointer: string): Json | undefined {
  let value: Json | undefined = root;
  for (const key of pointerKeys(pointer)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(key)) return undefined;
    value = (value as { readonly [key: string]: Json | undefined })[key];
  }
  return value;
}

/** Whether a value is an answer that is still to come. Whatever has a `then` is taken for a promise, as `await` does. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return typeof (value as { readonly then?: unknown }).then === "function";
}

/** The members of a node that shape its result: fields, body, and two members of the policy. */
export function workOf({ fields, body, policy }: FlowNode): JsonObject {
  return {
    fields: fields as JsonObject,
    ...(body !== undefined && { body: body as unknown as Json }),
    ...(policy?.onError !== undefined && { onError: policy.onError }),
    ...(policy?.retry?.if !== undefined && { if: policy.retry.if }),
  };
}
