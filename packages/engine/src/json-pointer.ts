/** The value that a JSON Pointer leads to; `undefined` when there is none. @see RFC 6901 */

import type { Json } from "@millrace/contracts";
import { pointerKeys } from "@millrace/contracts/kit";

export function valueAt(root: Json, pointer: string): Json | undefined {
  let value: Json | undefined = root;
  for (const key of pointerKeys(pointer)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(key)) return undefined;
    value = (value as { readonly [key: string]: Json | undefined })[key];
  }
  return value;
}
