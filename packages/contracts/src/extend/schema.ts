/**
 * Schemas of the seams: zod 4 where a person writes them, raw JSON Schema where a machine does.
 *   A zod schema is recognised by `_zod`, never by `instanceof`: several copies of zod may be loaded.
 *   zod itself is not imported here; a zod schema converts itself, with the copy that made it.
 */
import type * as z from "zod";
import type { Json, JsonObject, JsonSchema } from "../json.ts";
import { frozenJson } from "./json-data.ts";

declare const TYPE: unique symbol;

/**
 * A raw JSON Schema (2020-12) that says which TypeScript type it describes. In a tuple: of a bare optional member compilers
 * without `exactOptionalPropertyTypes` infer `undefined`.
 */
export type JsonSchemaOf<T> = JsonSchema & { readonly [TYPE]?: readonly [T] };

/** What a seam takes wherever it wants a schema. */
export type Schema<T> = z.ZodType<T> | JsonSchemaOf<T>;

/** Names of types in a schema, and what they are here. */
interface TypesByName {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type ObjectOf<P, R> = {
  [K in keyof P as K extends R ? K : never]: TypeOfSchema<P[K]>;
} & { [K in keyof P as K extends R ? never : K]?: TypeOfSchema<P[K]> };

/** The type that a literal schema describes: objects, lists, `const`, `enum`, `anyOf` and plain types; anything else is JSON. */
export type TypeOfSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] }
      ? TypeOfSchema<A>
      : S extends { readonly type: "object"; readonly properties: infer P }
        ? ObjectOf<P, S extends { readonly required: readonly (infer R)[] } ? R : never>
        : S extends { readonly type: "object" }
          ? JsonObject
          : S extends { readonly type: "array"; readonly items: infer I }
            ? TypeOfSchema<I>[]
            : S extends { readonly type: keyof TypesByName }
              ? TypesByName[S["type"]]
              : Json;

/**
 * Gives a raw JSON Schema the type that it describes: the one of the literal, or the one that is named, as in
 * `jsonSchema<{ city: string }>({ type: "object", … })`. The answer is a frozen copy. Throws `ExtensionError` code
 * `extension_definition_invalid` for what is not JSON or is deeper than `MAX_JSON_DEPTH`.
 */
export function jsonSchema<T = never, const S extends JsonSchema = JsonSchema>(
  schema: S,
): JsonSchemaOf<[T] extends [never] ? TypeOfSchema<S> : T> {
  return frozenJson(schema, "JSON schema") as JsonSchemaOf<never>;
}

/** Whether a value is a zod 4 schema, of any copy of zod. */
export function isZodSchema(value: unknown): value is z.ZodType {
  return typeof value === "object" && value !== null && "_zod" in value;
}
