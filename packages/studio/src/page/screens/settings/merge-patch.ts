/**
 * Changes of a document as a merge patch. @see RFC 7396
 *   P1  A document with the patch of two documents applied is the second one, as far as no member is null.
 */
import type { Json, JsonObject } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { memberOf, withMember } from "../../parts/schema-form/form-value.ts";
import { isSame } from "../../parts/schema-form/shape.ts";

/** The patch that makes `after` of `before`; undefined: no change. A member that is gone is null. */
export function patchOf(before: Json, after: Json): Json | undefined {
  if (!isObject(before) || !isObject(after)) return isSame(before, after) ? undefined : after;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  let patch: JsonObject = {};
  for (const name of names) {
    const old = memberOf(before as JsonObject, name);
    const next = memberOf(after as JsonObject, name) ?? null;
    const change = old === undefined ? next : patchOf(old, next);
    if (change !== undefined) patch = withMember(patch, name, change);
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** A document with a patch applied. */
export function patched(document: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  let next: JsonObject = isObject(document) ? (document as JsonObject) : {};
  for (const [name, change] of Object.entries(patch)) {
    const old = memberOf(next, name) ?? null;
    next = withMember(next, name, change === null ? undefined : patched(old, change as Json));
  }
  return next;
}
