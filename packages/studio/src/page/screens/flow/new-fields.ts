/** First fields of a new node: the first example of its type, and placeholders of the right type. */
import type { CatalogEntry, FieldValue, Json } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import type { NewField } from "../../../worker/protocol.ts";

/** Fields that a new node of a type has: those that it needs, else those of its example. */
export function newFields({ fields, examples }: CatalogEntry): readonly NewField[] {
  const listed = fields["required"];
  const required = Array.isArray(listed) ? listed.map(String) : [];
  const properties = isObject(fields["properties"]) ? fields["properties"] : {};
  const example = examples[0]?.["fields"];
  const shown = isObject(example) ? example : {};
  const names = required.length > 0 ? required : Object.keys(shown);
  return names.map((name) => {
    const value = Object.hasOwn(shown, name) ? (shown[name] as FieldValue) : undefined;
    const isNeeded = required.includes(name);
    return {
      name,
      ...(value !== undefined && { example: value }),
      ...(isNeeded && { placeholder: placeholderOf(properties[name]) as FieldValue }),
    };
  });
}

/** Deepest alternative that is looked into. */
const MAX_DEPTH = 4;

/** The simplest value of a schema. */
function placeholderOf(schema: unknown, depth = 0): Json {
  if (!isObject(schema) || depth > MAX_DEPTH) return null;
  const { type, enum: choices, const: only, default: standard, anyOf, oneOf } = schema;
  if (standard !== undefined) return standard as Json;
  if (only !== undefined) return only as Json;
  if (Array.isArray(choices)) return (choices[0] ?? null) as Json;
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) return placeholderOf(alternatives[0], depth + 1);
  const [first] = Array.isArray(type) ? type.filter((each) => each !== "null") : [type];
  switch (first) {
    case "string":
      return schema["format"] === "uri" ? "https://example.com" : "";
    case "number":
    case "integer":
      return typeof schema["minimum"] === "number" ? schema["minimum"] : 0;
    case "boolean":
      return false;
    case "array":
      return [];
    case "object":
      return {};
    case "null":
      return null;
    default: // any value will do
      return "";
  }
}
