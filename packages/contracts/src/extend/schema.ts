/**
 * Schemas of the seams: zod 4 where a person writes them, raw JSON Schema where a machine does.
 *   A zod schema is recognised by `_zod`, never by `instanceof`: several copies of zod may be loaded.
 *   zod itself is not imported here; a zod schema converts itself, with the copy that made it.
 */
import type * as z from "zod";
import type { Json, JsonObject, JsonSchema } from "../json.ts";
import { ExtensionError } from "./extension-error.ts";
import { frozenJson } from "./json-data.ts";

declare const TYPE: unique symbol;

/**
 * A raw JSON Schema (2020-12) that says which TypeScript type it describes. In a tuple: of a bare optional member compilers
 * without `exactOptionalPropertyTypes` infer `undefined`.
 */
export type JsonSchemaOf<T> = JsonSchema & { readonly [TYPE]?: readonly [T] };

/** A schema, wherever a seam takes one. */
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
              : // The type of a schema in a variable is any text; one with properties is of an object.
                S extends { readonly type: string; readonly properties: object }
                ? JsonObject
                : Json;

/**
 * Gives a raw JSON Schema the type that it describes: the one of the literal, or the one that is named, as in
 * `jsonSchema<{ city: string }>({ type: "object", … })`. The answer is a frozen copy. Throws `ExtensionError` code
 * `extension_definition_invalid` for what is not JSON or is deeper than `MAX_JSON_DEPTH`.
 */
export function jsonSchema<T = never, const S extends JsonSchema = JsonSchema>(
  schema: S,
): JsonSchemaOf<[T] extends [never] ? TypeOfSchema<S> : T> {
  const problem = foreignSchema(schema);
  if (problem !== undefined) {
    const message = `jsonSchema ${problem}`;
    throw new ExtensionError("extension_definition_invalid", message, { pointer: "" });
  }
  return frozenJson(schema, "JSON schema") as JsonSchemaOf<never>;
}

/** Whether a value is a zod 4 schema, of any copy of zod. */
export function isZodSchema(value: unknown): value is z.ZodType {
  return typeof value === "object" && value !== null && "_zod" in value;
}

/** Why a zod 4 schema cannot convert itself to JSON Schema; undefined: it can. */
export function zodProblem(schema: z.ZodType): string | undefined {
  if (typeof schema.toJSONSchema === "function") return undefined;
  const { version } = schema._zod as { version?: z.core.$ZodType["_zod"]["version"] };
  const isMini = version !== undefined && version.minor >= 2;
  return isMini
    ? `is a schema of zod/mini; zod 4.2 or newer is needed, imported from "zod", or a raw JSON Schema`
    : "needs zod 4.2 or newer, or a raw JSON Schema";
}

/** The problem of a schema of another library, or of a zod other than 4; undefined when it is no such schema. */
export function foreignSchema(value: unknown): string | undefined {
  // arktype's schemas are functions.
  if ((typeof value !== "object" && typeof value !== "function") || value === null)
    return undefined;
  if ("_zod" in value) return undefined;
  const { _def: zod3, "~standard": standard } = value as {
    readonly _def?: { readonly typeName?: unknown };
    readonly "~standard"?: { readonly vendor?: unknown };
  };
  const isZod3 = standard?.vendor === "zod" || typeof zod3?.typeName === "string";
  if (!isZod3 && typeof standard?.vendor !== "string") return undefined;
  const found = isZod3 ? "zod 3" : `${standard?.vendor}`;
  return `is a schema of ${found}; zod 4.2 or newer is needed, or a raw JSON Schema`;
}
