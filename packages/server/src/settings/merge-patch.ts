/** JSON Merge Patch. @see RFC 7396 */
import type { Json, JsonObject } from "@millrace/contracts";

/** The target with the patch applied: null removes a member, an object goes into the one that is there, all else replaces. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else if (value !== undefined) merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged); // defines members: no name of a prototype is special
}

/** Whether a value is an object of JSON. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
