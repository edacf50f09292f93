/** Reading of data that may be anything: graphs also come from programs and models, and validation never throws. */
import type { Json, JsonObject } from "@millrace/contracts";

const NO_LIST: readonly Json[] = [];
const NO_OBJECT: JsonObject = {};

/** Whether a value is an object with keys (no list, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

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

/** The own keys that have a value. */
export function keysOf(value: JsonObject): string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined);
}

/** One step of a JSON Pointer (RFC 6901), with its slash. */
export function step(key: string | number): string {
  return typeof key === "number" || !/[~/]/.test(key)
    ? `/${key}`
    : `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
