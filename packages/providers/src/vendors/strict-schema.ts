/**
 * Whether a JSON Schema obeys the rules of OpenAI's strict mode; one that does not is sent all the same, unstrict, and
 * checked by the engine as any other.
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
import { isObject } from "@millrace/contracts/kit";

/** Keywords that strict mode accepts. The vendor answers any other with 400. */
const KEYWORDS: ReadonlySet<string> = new Set([
  "$schema",
  "$defs",
  "$ref",
  "title",
  "description",
  "type",
  "enum",
  "const",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "minItems",
  "maxItems",
  "anyOf",
  "pattern",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
]);

const MAX_LEVELS = 10;
const MAX_PROPERTIES = 5_000;

/** True when the root is an object, every object is closed and requires all its properties, and no other keyword is used. */
export function isStrictSchema(schema: unknown): boolean {
  if (!isObject(schema) || schema["type"] !== "object" || schema["anyOf"] !== undefined)
    return false;
  const count = { properties: 0 };
  return isStrict(schema, 1, count) && count.properties <= MAX_PROPERTIES;
}

function isStrict(schema: unknown, level: number, count: { properties: number }): boolean {
  if (!isObject(schema) || level > MAX_LEVELS) return false;
  if (Object.keys(schema).some((keyword) => !KEYWORDS.has(keyword))) return false;
  const { items, anyOf, $defs, properties } = schema;
  const types = [schema["type"]].flat();
  const inner = (each: unknown): boolean => isStrict(each, level + 1, count);
  if (types.includes("object") || properties !== undefined) {
    const named = isObject(properties) ? properties : {};
    const names = Object.keys(named);
    const required = Array.isArray(schema["required"]) ? schema["required"] : [];
    count.properties += names.length;
    if (schema["additionalProperties"] !== false) return false;
    if (!names.every((name) => required.includes(name))) return false;
    if (!Object.values(named).every(inner)) return false;
  }
  if (items !== undefined && !inner(items)) return false;
  if (anyOf !== undefined && !(Array.isArray(anyOf) && anyOf.every(inner))) return false;
  return Object.values(isObject($defs) ? $defs : {}).every((each) => isStrict(each, 2, count));
}
