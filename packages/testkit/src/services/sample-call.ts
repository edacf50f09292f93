/** A call that a service takes, by its descriptor; what fills a hole of a path is hostile where anything goes. */
import type { Json, JsonObject, JsonSchema, ServiceOperation } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";

/** Characters that a path parameter must encode. */
const HOSTILE = "a/b?c#d e%2f..é";

/** The required arguments of an operation. */
export function sampleArgs({ params, query, headers, body }: ServiceOperation): JsonObject {
  const args = Object.assign({}, ...[params, query, headers].map(membersOf)) as JsonObject;
  if (body === undefined) return args;
  const sample = sampleOf(body.schema ?? {});
  return { ...args, ...(isObject(sample) ? sample : { body: sample }) };
}

type Shape = {
  readonly type?: unknown;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly default?: Json;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: JsonSchema };
};

function membersOf(schema: JsonSchema | undefined): JsonObject {
  const { properties = {}, required = [] } = (schema ?? {}) as Shape;
  return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
}

/** Some value that fits a schema; a text is hostile where anything goes. */
export function sampleOf(schema: JsonSchema): Json {
  const shape = schema as Shape;
  if (shape.const !== undefined) return shape.const;
  if (shape.enum !== undefined) return shape.enum[0] ?? null;
  const type = Array.isArray(shape.type) ? shape.type[0] : shape.type;
  switch (type) {
    case "integer":
    case "number":
      return shape.minimum ?? 1;
    case "boolean":
      return true;
    case "array":
      return [sampleOf(shape.items ?? {})];
    case "object":
      return membersOf(schema);
    default:
      return HOSTILE.padEnd(shape.minLength ?? 0, "x");
  }
}
