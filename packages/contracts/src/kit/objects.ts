/** Members of data that may be anything. */
import type { Json, JsonObject } from "../json.ts";

/** True for any object that is not a list. */
export function isObject(value: Json | undefined): value is JsonObject;
export function isObject(value: unknown): value is { readonly [name: string]: unknown };
export function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Names of the members that are there: own, and not undefined. */
export function memberNames(object: JsonObject): string[] {
  const names = Object.keys(object);
  return names.some((name) => object[name] === undefined)
    ? names.filter((name) => object[name] !== undefined)
    : names;
}
