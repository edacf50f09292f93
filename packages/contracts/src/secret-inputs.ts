/** Inputs that nobody but the run may read: those that their schema calls `writeOnly` or of the format `password`. */

import type { Json, JsonObject, JsonSchema } from "./json.ts";
import { isObject } from "./kit/objects.ts";
import { pointerKey } from "./kit/pointer.ts";
import type { FlowInput } from "./schemas/graph.ts";

const HIDDEN = "[redacted]";

/**
 * The inputs with `[redacted]` in the place of every secret value, at any depth of their schemas; the same object when there
 * is none. `found` gets the text of each secret value.
 */
export function hideSecretInputs(
  declared: readonly FlowInput[],
  inputs: JsonObject,
  found: (secret: string) => void = () => undefined,
): JsonObject {
  let hidden = inputs;
  for (const { name, schema } of declared) {
    const value = inputs[name];
    if (schema === undefined || value === undefined) continue;
    const shown = hide(value, [schema], { root: schema, found });
    if (shown !== value) hidden = { ...hidden, [name]: shown };
  }
  return hidden;
}

interface Place {
  readonly root: JsonSchema;
  found(secret: string): void;
}

/** `value` as all of `schemas` together show it. */
function hide(value: Json, schemas: readonly (Json | undefined)[], place: Place): Json {
  const all = withParts(schemas, place.root);
  if (value === null || all.size === 0) return value;
  if ([...all].some(({ writeOnly, format }) => writeOnly === true || format === "password")) {
    tell(value, place.found);
    return HIDDEN;
  }
  if (Array.isArray(value)) {
    const shown = value.map((item, at) => {
      const own = [...all].map(({ prefixItems, items }) =>
        Array.isArray(prefixItems) && at < prefixItems.length ? prefixItems[at] : items,
      );
      return hide(item, own, place);
    });
    return shown.some((item, at) => item !== value[at]) ? shown : value;
  }
  if (!isObject(value)) return value;
  let shown = value;
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const own = [...all].map(({ properties, additionalProperties }) =>
      isObject(properties) && Object.hasOwn(properties, key)
        ? properties[key]
        : additionalProperties,
    );
    const clean = hide(inner, own, place);
    if (clean !== inner) shown = { ...shown, [key]: clean };
  }
  return shown;
}

/** The schemas with all that hold for the same value: alternatives, and what they refer to. Each is looked at once. */
function withParts(schemas: readonly (Json | undefined)[], root: JsonSchema): Set<JsonObject> {
  const all = new Set(schemas.filter((schema) => isObject(schema)));
  for (const { anyOf, oneOf, allOf, $ref } of all) {
    for (const list of [anyOf, oneOf, allOf]) {
      if (Array.isArray(list))
        for (const part of list) if (isObject(part)) all.add(part as JsonObject);
    }
    const [, step] = /^#\/\$defs\/([^/]+)$/.exec(String($ref)) ?? [];
    const { $defs } = root;
    const target = step !== undefined && isObject($defs) ? $defs[pointerKey(step)] : undefined;
    if (isObject(target)) all.add(target);
  }
  return all;
}

/** Every text and number of a secret value, without the names of members. */
function tell(value: Json, found: (secret: string) => void): void {
  if (typeof value === "string" || typeof value === "number") found(String(value));
  else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) if (inner !== undefined) tell(inner, found);
  }
}
