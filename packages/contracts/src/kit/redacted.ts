/** Where a value shows that something was taken out of it. */
import type { Json } from "../json.ts";
import { isObject } from "./objects.ts";
import { pointerSegment } from "./pointer.ts";

/** Replacement of a secret in a text. */
export const REDACTED = "[redacted]";

/** JSON Pointers of the texts in `value` in which something reads `[redacted]`, and of members whose name does. */
export function redactedPlaces(value: Json, pointer = ""): string[] {
  if (typeof value === "string") return value.includes(REDACTED) ? [pointer] : [];
  if (Array.isArray(value)) {
    return value.flatMap((inner, at) => redactedPlaces(inner, `${pointer}/${at}`));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = pointer + pointerSegment(key);
    return key.includes(REDACTED) ? [place] : redactedPlaces((inner ?? null) as Json, place);
  });
}
