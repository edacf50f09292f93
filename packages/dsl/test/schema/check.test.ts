/** The JSON Schema checker. */
import type { JsonSchema } from "@millrace/contracts";
import { compileSchema } from "@millrace/dsl";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

/** Problems as `pointer message`, one a line; those of the schema when it is refused. */
function problems(schema: JsonSchema, value: unknown): string[] {
  const compiled = compileSchema(schema);
  const list = compiled.ok ? compiled.check(value) : compiled.problems;
  return list.map(({ pointer, message }) => `${pointer} ${message}`);
}

const secret = "hunter2 hunter2 hunter2";

describe("a value that breaks a rule has a problem that names types and limits, never the value", () => {
  test.each<[string, JsonSchema, unknown, string]>([
    ["type", { type: "string" }, 5, " must be string, found number"],
    ["several types", { type: ["string", "null"] }, [], " must be string or null, found array"],
    ["integer", { type: "integer" }, 1.5, " must be integer, found number"],
    ["no JSON", { type: "number" }, Number.NaN, " must be number, found NaN"],
    ["enum", { enum: ["a", 1, null] }, secret, ' must be one of "a", 1, null'],
    ["const", { const: { a: [1] } }, { a: [2] }, ' must be one of {"a":[1]}'],
    ["required", { required: ["a"] }, {}, ' needs the member "a"'],
    [
      "properties",
      { properties: { a: { type: "null" } } },
      { a: 1 },
      "/a must be null, found number",
    ],
    [
      "additionalProperties: false",
      { properties: { a: {} }, additionalProperties: false },
      { a: 1, "b/c": 2 },
      '/b~1c has no member "b/c"',
    ],
    [
      "additionalProperties",
      { additionalProperties: { type: "string" } },
      { b: 2 },
      "/b must be string, found number",
    ],
    ["items", { items: { type: "string" } }, ["a", 1], "/1 must be string, found number"],
    [
      "prefixItems",
      { prefixItems: [{ type: "string" }], items: false },
      ["a", 1],
      "/1 is not allowed",
    ],
    ["minItems", { minItems: 2 }, [1], " must have at least 2 elements"],
    ["maxItems", { maxItems: 1 }, [1, 2], " must have at most 1 elements"],
    [
      "uniqueItems",
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      " must not hold an element twice",
    ],
    ["minLength", { minLength: 2 }, "😀", " must have at least 2 characters"],
    ["maxLength", { maxLength: 2 }, "abc", " must have at most 2 characters"],
    ["pattern", { pattern: "^[a-z]+$" }, secret, " must match ^[a-z]+$"],
    ["minimum", { minimum: 1 }, 0, " must be at least 1"],
    ["maximum", { maximum: 1 }, 2, " must be at most 1"],
    ["exclusiveMinimum", { exclusiveMinimum: 0 }, 0, " must be above 0"],
    ["exclusiveMaximum", { exclusiveMaximum: 1 }, 1, " must be below 1"],
    ["multipleOf", { multipleOf: 0.1 }, 0.35, " must be a multiple of 0.1"],
    ["allOf", { allOf: [{ minimum: 1 }, { maximum: 3 }] }, 5, " must be at most 3"],
    [
      "anyOf of types",
      { anyOf: [{ type: "string" }, { type: "null" }] },
      5,
      " must be string or null, found number",
    ],
    [
      "anyOf, the closest",
      { anyOf: [{ type: "null" }, { type: "object", required: ["a"] }] },
      {},
      ' needs the member "a"',
    ],
    [
      "anyOf, none close",
      { anyOf: [{ minimum: 5 }, { maximum: 1 }] },
      3,
      " fits none of 2 alternatives",
    ],
    [
      "oneOf",
      { oneOf: [{ minimum: 1 }, { maximum: 3 }] },
      2,
      " fits several alternatives, not one",
    ],
    ["not", { not: { type: "string" } }, secret, " is of a kind that is excluded"],
    [
      "$ref",
      { $defs: { n: { type: "number" } }, items: { $ref: "#/$defs/n" } },
      ["x"],
      "/0 must be number, found string",
    ],
    [
      "$ref beside others",
      { $defs: { n: { type: "number" } }, $ref: "#/$defs/n", maximum: 1 },
      2,
      " must be at most 1",
    ],
  ])("%s", (_, schema, value, expected) => {
    expect(problems(schema, value)).toEqual([expected]);
  });
});

test.each<[string, JsonSchema, unknown]>([
  ["integers written as floats", { type: "integer" }, 1.0],
  ["decimal multiples", { multipleOf: 0.1 }, 0.3],
  ["rules of other types", { minLength: 5, minimum: 5, minItems: 5, required: ["a"] }, true],
  [
    "annotations, formats and words of nobody",
    { title: "x", format: "email", deprecated: true, "x-y": 1, hint: 2 },
    "no mail",
  ],
  ["own members only", { properties: { constructor: { type: "string" } } }, {}],
  [
    "a member __proto__",
    { properties: { ["__proto__"]: { type: "number" } } },
    JSON.parse('{"__proto__":1}'),
  ],
  ["boolean schemas", { properties: { a: true } }, { a: 1 }],
  ["zero and minus zero in enums", { enum: [0] }, -0],
  ["key order in const", { const: { a: 1, b: 2 } }, { b: 2, a: 1 }],
])("%s are fine", (_, schema, value) => {
  expect(problems(schema, value)).toEqual([]);
});

test("a recursive schema checks data to its end", () => {
  const tree: JsonSchema = {
    $defs: {
      tree: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, children: { items: { $ref: "#/$defs/tree" } } },
      },
    },
    $ref: "#/$defs/tree",
  };
  const value = { name: "a", children: [{ name: "b", children: [{}] }] };
  expect(problems(tree, value)).toEqual(['/children/0/children/0 needs the member "name"']);
});

describe("a schema is refused", () => {
  test.each<[string, JsonSchema, string]>([
    [
      "assertions outside of the subset",
      { properties: { a: { minProperties: 1 } } },
      "/properties/a/minProperties `minProperties` is not supported",
    ],
    ["conditions", { if: {}, else: {} }, "/if `if` is not supported"],
    [
      "unknown types",
      { type: "text" },
      "/type must be one or several of null boolean object array number integer string",
    ],
    ["bad keyword values", { minLength: -1 }, "/minLength must be a whole number from 0"],
    ["schemas that are none", { items: 5 }, "/items must be an object, true or false"],
    ["references to nothing", { $ref: "#/$defs/nope" }, "/$ref refers to nothing"],
    [
      "references elsewhere",
      { $ref: "https://schema.example/a" },
      "/$ref must be `#` or start with `#/$defs/`",
    ],
    [
      "references in a circle",
      { $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" },
      " a `$ref` leads back to itself",
    ],
    [
      "patterns that need backtracking",
      { pattern: "(a)\\1" },
      "/pattern pattern is refused: no backreference",
    ],
  ])("for %s", (_, schema, expected) => {
    expect(problems(schema, null)).toContain(expected);
  });

  test("for more than 64 KiB", () => {
    expect(problems({ enum: ["x".repeat(65_536)] }, null)).toEqual([
      " longer than 65536 characters",
    ]);
  });

  test("for more than 32 levels", () => {
    let schema: JsonSchema = {};
    for (let i = 0; i < 32; i += 1) schema = { items: schema };
    expect(problems(schema, null)[0]).toMatch(/schemas nested deeper than 32 levels$/);
  });
});

test("all problems are listed, up to a hundred", () => {
  const values = Array.from({ length: 5000 }, () => "x");
  expect(problems({ items: { type: "number" } }, values)).toHaveLength(100);
});

test("a large list is checked to its end", () => {
  const values: unknown[] = Array.from({ length: 200_000 }, (_, i) => i);
  values.push("x");
  expect(problems({ items: { type: "number" } }, values)).toEqual([
    "/200000 must be number, found string",
  ]);
});

test("alternatives in alternatives end at the bound of checks", () => {
  const $defs: { [name: string]: JsonSchema } = { d0: { type: "string" } };
  for (let i = 1; i <= 20; i += 1) {
    const inner = { $ref: `#/$defs/d${i - 1}` };
    $defs[`d${i}`] = { anyOf: [inner, inner] };
  }
  expect(problems({ $defs, $ref: "#/$defs/d20" }, 5)).toEqual([
    " needs too many checks; simplify the schema",
  ]);
});

test("data nested deeper than 200 levels is a problem, not an overflow", () => {
  let value: unknown = 1;
  for (let i = 0; i < 100_000; i += 1) value = [value];
  expect(problems({ items: { type: "array" } }, value)).toEqual([" nested deeper than 200 levels"]);
});

test("the value is not changed and the schema may be frozen", () => {
  const value = Object.freeze({ a: Object.freeze([1]) });
  const schema = Object.freeze({
    properties: Object.freeze({ a: Object.freeze({ minItems: 1 }) }),
  });
  expect(problems(schema as JsonSchema, value)).toEqual([]);
});

describe("a record of plain members has the problems that it has as part of more rules", () => {
  const plain = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.integer(),
    fc.constantFrom(0.5, -0, Number.NaN, null, true, undefined, [], {}, { a: 1 }),
  );
  const names = fc.constantFrom("a", "b", "c", "__proto__");
  const types = fc.constantFrom("string", "number", "integer", "boolean", "null", "object");
  const part = fc.oneof(
    fc.constant({}),
    types.map((type) => ({ type })),
    fc.tuple(types, types).map((type) => ({ type: [...new Set(type)] })),
    fc.constant({ type: "number", minimum: 1 }),
  );
  const schemas = fc.record(
    {
      type: fc.constant("object"),
      properties: fc.dictionary(names, part),
      required: fc.uniqueArray(names),
      additionalProperties: fc.oneof(fc.boolean(), part),
    },
    { requiredKeys: ["type"] },
  );
  const values = fc.oneof(fc.dictionary(names, plain), plain);

  test("for any schema and value", () => {
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        const among = { allOf: [schema as JsonSchema] };
        expect(problems(schema as JsonSchema, value)).toEqual(problems(among, value));
      }),
      { numRuns: 2_000 },
    );
  });
});
