/** Inputs that only the run may read: those that their schema marks `writeOnly` or with the format `password`. */

import { secretForms } from "./events/secrets.ts";
import type { Json, JsonObject, JsonSchema } from "./json.ts";
import { isObject } from "./kit/objects.ts";
import { pointerKey } from "./kit/pointer.ts";
import { REDACTED as HIDDEN } from "./kit/redacted.ts";
import type { FlowInput } from "./schemas/graph.ts";

/**
 * The inputs with `[redacted]` in the place of every secret value, at any depth of their schemas, and wherever its text stands
 * in another input; the same object when there is none. `found` gets the text of each secret value.
 */
export function hideSecretInputs(
  declared: readonly FlowInput[],
  inputs: JsonObject,
  found: (secret: string) => void = () => undefined,
): JsonObject {
  let hidden = inputs;
  const secrets: string[] = [];
  const note = (secret: string) => {
    secrets.push(secret);
    found(secret);
  };
  for (const { name, schema } of declared) {
    const value = inputs[name];
    if (schema === undefined || value === undefined) continue;
    const shown = hide(value, [schema], { root: schema, found: note });
    if (shown !== value) hidden = { ...hidden, [name]: shown };
  }
  const forms = [...new Set(secrets.flatMap(secretForms))];
  if (forms.length === 0) return hidden;
  forms.sort((a, b) => b.length - a.length);
  const search = new RegExp(forms.map((form) => form.replace(SYNTAX, "\\$&")).join("|"), "g");
  return without(hidden, search) as JsonObject;
}

const SYNTAX = /[.*+?^${}()|[\]\\]/g;

/** `value` without what `search` finds, in texts, numbers and names of members. */
function without(value: Json, search: RegExp): Json {
  if (typeof value === "string") return value.replace(search, HIDDEN);
  if (typeof value === "number") {
    return String(value).replace(search, "") === "" ? HIDDEN : value;
  }
  if (Array.isArray(value)) return value.map((item) => without(item, search));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, inner]) => [
    key.replace(search, HIDDEN),
    without(inner ?? null, search),
  ]);
  return Object.fromEntries(members);
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
