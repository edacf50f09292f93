/** A shape as JSON Schema, for documentation. Rules that JSON Schema cannot express are omitted. */
import type { JsonObject, JsonSchema } from "../json.ts";
import type { Shape } from "./shape.ts";

/** The JSON Schema (2020-12) of a shape. */
export function jsonSchemaOf(shape: Shape): JsonSchema {
  switch (shape.is) {
    case "object":
      return {
        type: "object",
        required: shape.entries.flatMap(([name, { isOptional }]) => (isOptional ? [] : [name])),
        properties: schemasOf(shape.fields),
        additionalProperties: false,
      };
    case "list":
      return {
        type: "array",
        items: jsonSchemaOf(shape.of),
        ...(shape.min > 0 && { minItems: shape.min }),
        ...(shape.max < Number.MAX_SAFE_INTEGER && { maxItems: shape.max }),
      };
    case "record":
      return { type: "object", additionalProperties: jsonSchemaOf(shape.of) };
    case "text": {
      const { min, max, pattern } = shape;
      const lengths = { type: "string", minLength: min, maxLength: max };
      return pattern === undefined ? lengths : { ...lengths, pattern: pattern.source };
    }
    case "word":
      return { enum: shape.values };
    case "number":
      return {
        type: shape.isWhole ? "integer" : "number",
        minimum: shape.min,
        maximum: shape.max,
      };
    case "nullable":
      return { anyOf: [jsonSchemaOf(shape.of), { type: "null" }] };
    case "variant":
      return { anyOf: [...Object.values(shape.shapes), shape.other].map(jsonSchemaOf) };
    case "rule":
      return shape.type === undefined ? {} : { type: shape.type };
  }
}

function schemasOf(fields: { readonly [name: string]: Shape }): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, jsonSchemaOf(field)]),
  );
}
