/** Schemas with values that fit them, and some that do not. */
import type { Json, JsonSchema } from "@millrace/contracts";
import * as fc from "fast-check";

/** A schema, and a value for a form of it. */
export interface SchemaAndValue {
  readonly schema: JsonSchema;
  readonly value: Json;
}

/** Any JSON value. There is no -0 in it: its text is that of 0. */
export function anyJson(maxDepth: number): fc.Arbitrary<Json> {
  return fc.json({ maxDepth }).map((text) => JSON.parse(JSON.stringify(JSON.parse(text))) as Json);
}

const name = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom("__proto__", "constructor", "a/b", "~", "", "with blanks", "a.b", "\u202e"),
);

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("two\nlines", "carriage\rreturn", "x".repeat(250), "<b>", "\ud800", "\0"),
);

const scalar: fc.Arbitrary<SchemaAndValue> = fc.oneof(
  text.map((value) => ({ schema: { type: "string" }, value })),
  text.map((value) => ({ schema: { type: "string", writeOnly: true }, value })),
  fc
    .constantFrom("2026-02-28", "", "2026-02-30", "soon")
    .map((value) => ({ schema: { type: "string", format: "date" }, value })),
  fc.webUrl().map((value) => ({ schema: { type: "string", format: "uri" }, value })),
  fc.maxSafeInteger().map((value) => ({ schema: { type: "integer" }, value })),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((value) => ({ schema: { type: "number" }, value: value === 0 ? 0 : value })),
  fc.boolean().map((value) => ({ schema: { type: "boolean", default: true }, value })),
  fc
    .uniqueArray(anyJson(1), {
      minLength: 1,
      maxLength: 12,
      selector: JSON.stringify,
    })
    .chain((values) =>
      fc
        .constantFrom(...values)
        .map((value) => ({ schema: { enum: values }, value }) as SchemaAndValue),
    ),
  anyJson(2).map(
    (value) => ({ schema: { anyOf: [{ type: "string" }, {}] }, value }) as SchemaAndValue,
  ),
);

/** A schema of any depth up to three, with a value; one in eight values is that of another schema. */
export function schemaAndValue(depth: number = 3): fc.Arbitrary<SchemaAndValue> {
  if (depth === 0) return scalar;
  const inner = schemaAndValue(depth - 1);
  const list = fc.tuple(inner, fc.nat({ max: 3 })).map(([item, count]) => ({
    schema: { type: "array", items: item.schema },
    value: Array.from({ length: count }, () => item.value),
  }));
  const object = fc
    .uniqueArray(fc.tuple(name, inner, fc.boolean()), { maxLength: 4, selector: ([key]) => key })
    .map((members) => ({
      schema: {
        type: "object",
        properties: Object.fromEntries(members.map(([key, { schema }]) => [key, schema])),
        required: members.flatMap(([key, , isSet]) => (isSet ? [key] : [])),
      },
      value: Object.fromEntries(
        members.flatMap(([key, { value }, isSet]) => (isSet ? [[key, value] as const] : [])),
      ),
    }));
  const nullable = fc.tuple(inner, fc.boolean()).map(([{ schema, value }, isNull]) => ({
    schema: { anyOf: [schema, { type: "null" }] },
    value: isNull ? null : value,
  }));
  const fitting = fc.oneof(
    { weight: 3, arbitrary: object },
    { weight: 1, arbitrary: list },
    { weight: 1, arbitrary: nullable },
    { weight: 1, arbitrary: scalar },
  );
  const misfit = fc.tuple(fitting, anyJson(2)).map(([{ schema }, value]) => ({ schema, value }));
  return fc.oneof({ weight: 7, arbitrary: fitting }, { weight: 1, arbitrary: misfit });
}
