/** Reading of data that may be anything: graphs also come from programs and models, and validation never throws. */
import { type Json, type JsonObject, MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { memberNames } from "@millrace/contracts/kit";

const ROOT = Object.prototype;
const NO_LIST: readonly Json[] = [];
const NO_OBJECT: JsonObject = {};

/** The value when it is a list, else an empty one. */
export function listOrNone(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value : NO_LIST;
}

/** The value when it is an object, else an empty one. */
export function objectOrNone(value: unknown): JsonObject {
  return isObject(value) ? value : NO_OBJECT;
}

/** The own member of a key, `undefined` when there is none; safe for `__proto__` and `constructor`. */
export function own(value: unknown, key: string): Json | undefined {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as JsonObject)[key]
    : undefined;
}

/** Whether a value is an object of the language: plain, of this realm or another. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && isPlain(value);
}

/** Whether the prototype of an object is that of plain objects: members of all others are ignored. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === ROOT || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The key that says what an object stands for: `$` an expression, `$t` a template, `$lit` one protected level. */
export type Marker = "$" | "$t" | "$lit";

/** Whether a key means something when an object has no other. */
export function isMarker(key: string | undefined): key is Marker {
  return key === "$" || key === "$t" || key === "$lit";
}

/** The marker of an object; undefined: it is data as it is. */
export function markerOf(object: JsonObject): Marker | undefined {
  const names = memberNames(object);
  const only = names.length === 1 ? names[0] : undefined;
  return isMarker(only) ? only : undefined;
}

/** Sets an own member; `__proto__` is a key like any other. */
export function setMember(object: Record<string, Json>, name: string, value: Json): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else {
    object[name] = value;
  }
}

/** Puts elements behind those of a list, however many: spread out as arguments, a hundred thousand overflow the stack. */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const element of more) list.push(element);
}

/** How many elements of a sorted list stand before the first for which a condition does not hold, in the time of a search. */
export function countBefore<T>(sorted: readonly T[], holds: (element: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(sorted[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a container holds no other. */
function isFlat(value: object): boolean {
  for (const key in value) {
    const inner = (value as { readonly [key: string]: unknown })[key];
    if (typeof inner === "object" && inner !== null) return false;
  }
  return true;
}

/** Containers of one value that are counted without asking whether they are shared. */
const MAX_UNASKED = 10_000;
/** How often the containers of a value may stand in it, on average. */
const MAX_SHARED = 16;

/**
 * How many members and elements data holds. Undefined when it is nested deeper than `MAX_JSON_DEPTH`, holds itself, or holds
 * the same parts so often that written out it would have no end (a bomb of YAML aliases): no walk may enter it.
 */
export function countMembers(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null) return 0;
  if (isFlat(value)) return Object.keys(value).length;
  let members = 0;
  let containers = 0;
  let distinct: Set<object> | undefined;
  const open: { value: object; depth: number }[] = [];
  for (let at = value, depth = 1; ; ) {
    if (depth > MAX_JSON_DEPTH) return undefined;
    containers += 1;
    if (containers > MAX_UNASKED) {
      distinct ??= new Set();
      distinct.add(at);
      if (containers > MAX_UNASKED + distinct.size * MAX_SHARED) return undefined;
    }
    for (const inner of Object.values(at)) {
      members += 1;
      if (typeof inner === "object" && inner !== null) {
        open.push({ value: inner, depth: depth + 1 });
      }
    }
    const next = open.pop();
    if (next === undefined) return members;
    ({ value: at, depth } = next);
  }
}
