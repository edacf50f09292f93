/**
 * Schemas of the seams: zod 4 where a person writes them, raw JSON Schema where a machine does.
 *   A zod schema is recognised by `_zod`, never by `instanceof`: several copies of zod may be loaded.
 *   zod itself is not imported here; a zod schema converts itself, with the copy that made it.
 */
import type * as z from "zod";
import type { JsonSchema } from "../json.ts";
import { frozenJson } from "./json-data.ts";

declare const TYPE: unique symbol;

/** A raw JSON Schema (2020-12) that says which TypeScript type it describes. */
export type JsonSchemaOf<T> = JsonSchema & { readonly [TYPE]?: T };

/** What a seam takes wherever it wants a schema. */
export type Schema<T> = z.ZodType<T> | JsonSchemaOf<T>;

/**
 * Gives a raw JSON Schema the type that it describes: `jsonSchema<{ city: string }>({ type: "object", … })`. The answer is a
 * frozen copy. Throws `ExtensionError` code `extension_definition_invalid` for what is not JSON or is deeper than
 * `MAX_JSON_DEPTH`.
 */
export function jsonSchema<T>(schema: JsonSchema): JsonSchemaOf<T> {
  return frozenJson(schema, "JSON schema") as JsonSchemaOf<T>;
}

/** Whether a value is a zod 4 schema, of any copy of zod. */
export function isZodSchema(value: unknown): value is z.ZodType {
  return typeof value === "object" && value !== null && "_zod" in value;
}
