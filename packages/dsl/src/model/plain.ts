/** Reading of data that may be anything: graphs also come from programs and models, and validation never throws. */
import type { Json, JsonObject } from "@millrace/contracts";
import { isObject } from "../expression/values.ts";

export { isObject, memberNames as keysOf } from "../expression/values.ts";

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

/** One step of a JSON Pointer (RFC 6901), with its slash. */
export function step(key: string | number): string {
  if (typeof key === "number" || !/[~/]/.test(key)) return `/${key}`;
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
