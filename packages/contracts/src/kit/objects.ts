/** Members of data that may be anything. */
import type { Json, JsonObject } from "../json.ts";

/** True for any object that is not a list. */
export function isObject(value: Json | undefined): value is JsonObject;
export function isObject(value: unknown): value is { readonly [name: string]: unknown };
export function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A copy without the members whose value is `undefined`. */
export function present<T extends object>(record: T): T {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(record)) if (value !== undefined) copy[key] = value;
  return copy as T;
}

/** Names of the members that are there: own, and not undefined. */
export function memberNames(object: JsonObject): string[] {
  const names = Object.keys(object);
  return names.some((name) => object[name] === undefined)
    ? names.filter((name) => object[name] !== undefined)
    : names;
}
