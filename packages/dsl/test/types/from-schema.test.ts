import { describeType, type FlowType, typeFromSchema } from "@millrace/dsl";
import { expect, test } from "vitest";

/** A type as short text: `{a: string|null, …}` is open, `[int]` a list. */
function show(type: FlowType): string {
  switch (type.kind) {
    case "union":
      return type.types.map(show).sort().join("|") || "never";
    case "list":
      return `[${show(type.items)}]`;
    case "object": {
      const props = [...type.props].map(([name, prop]) => `${name}: ${show(prop)}`);
      return `{${[...props, ...(type.open ? ["…"] : [])].join(", ")}}`;
    }
    case "string":
      return type.values?.map((text) => JSON.stringify(text)).join("|") ?? "string";
    case "bool":
      return String(type.value ?? "bool");
    default:
      return type.kind;
  }
}

const closed = (properties: object, required: string[] = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

test.each([
  ["nothing said", {}, "any"],
  ["null", { type: "null" }, "null"],
  ["boolean", { type: "boolean" }, "bool"],
  ["integer", { type: "integer" }, "int"],
  ["number", { type: "number" }, "number"],
  ["string with a format", { type: "string", format: "date-time" }, "string"],
  ["several types", { type: ["string", "null"] }, "null|string"],
  ["integer and number are number", { type: ["integer", "number"] }, "number"],
  ["an unknown type", { type: "date" }, "any"],
  ["a list", { type: "array", items: { type: "integer" } }, "[int]"],
  ["a list of anything", { type: "array" }, "[any]"],
  [
    "a tuple",
    { type: "array", prefixItems: [{ type: "integer" }, { type: "string" }], items: false },
    "[int|string]",
  ],
  [
    "a tuple with a rest",
    { type: "array", prefixItems: [{ type: "integer" }], items: { type: "null" } },
    "[int|null]",
  ],
  ["an object", { type: "object" }, "{…}"],
  [
    "what is not required is null too",
    closed({ a: { type: "string" }, b: { type: "integer" } }, ["b"]),
    "{a: null|string, b: int}",
  ],
  ["an open object", { type: "object", properties: { a: {} } }, "{a: any, …}"],
  [
    "additional properties of a type",
    { type: "object", additionalProperties: { type: "string" } },
    "{…}",
  ],
  ["pattern properties leave it open", { ...closed({}), patternProperties: { "^x": {} } }, "{…}"],
  ["an enum of texts", { enum: ["a", "b"] }, '"a"|"b"'],
  [
    "an enum of anything",
    { enum: ["a", 1, 1.5, null, true, [], {}] },
    '"a"|[any]|null|number|true|{…}',
  ],
  ["a const", { const: "x" }, '"x"'],
  ["anyOf", { anyOf: [{ type: "string" }, { type: "null" }] }, "null|string"],
  ["oneOf", { oneOf: [{ type: "integer" }, { type: "boolean" }] }, "bool|int"],
  ["anyOf with something unknown", { anyOf: [{ type: "string" }, { minLength: 1 }] }, "any"],
  [
    "a type beside anyOf",
    { ...closed({ a: {} }, ["a"]), anyOf: [{ required: ["a"] }] },
    "{a: any}",
  ],
  [
    "allOf of objects",
    {
      allOf: [closed({ a: { type: "string" } }, ["a"]), closed({ b: { type: "integer" } }, ["b"])],
    },
    "{a: string, b: int}",
  ],
  [
    "allOf beside properties takes the narrower type",
    {
      type: "object",
      properties: { a: { type: "number" } },
      allOf: [{ type: "object", properties: { a: { type: "integer" } }, required: ["a"] }],
    },
    "{a: int, …}",
  ],
  ["allOf of something else", { type: "string", allOf: [{ minLength: 1 }] }, "string"],
  ["a local reference", { $ref: "#/$defs/t", $defs: { t: { type: "string" } } }, "string"],
  [
    "a reference with an escaped pointer",
    { $ref: "#/$defs/a~1b%20c", $defs: { "a/b c": { type: "null" } } },
    "null",
  ],
  ["a reference to nowhere", { $ref: "#/$defs/x" }, "any"],
  ["a reference through a prototype", { $ref: "#/constructor" }, "any"],
  ["a remote reference", { $ref: "https://example.com/schema" }, "any"],
  ["a named anchor", { $ref: "#x", $defs: { t: { $anchor: "x", type: "string" } } }, "any"],
  ["never", { type: "array", items: false }, "[never]"],
])("%s", (_name, schema, expected) => {
  expect(show(typeFromSchema(schema as never))).toBe(expected);
});

test("a schema that refers to itself is followed for 32 levels, then it is any", () => {
  let type = typeFromSchema({
    type: "object",
    properties: { next: { $ref: "#" }, left: { $ref: "#" } },
    required: ["next", "left"],
  });
  let levels = 0;
  while (type.kind === "object") {
    type = type.props.get("next") as FlowType;
    levels += 1;
  }
  expect([levels, type.kind]).toEqual([33, "any"]);
});

test("a reference that means only itself is any", () => {
  expect(show(typeFromSchema({ $ref: "#" }))).toBe("any");
});

test("a schema of any nesting is read without overflow", () => {
  let schema: object = {};
  for (let i = 0; i < 5_000; i += 1) schema = { type: "array", items: schema };
  expect(typeFromSchema(schema as never).kind).toBe("list");
});

test("a property called __proto__ is a property", () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}',
  );
  expect(show(typeFromSchema(schema))).toBe("{__proto__: string, …}");
});

test.each([
  [{ type: "string" }, "string"],
  [{ enum: ["a"] }, "string"],
  [{ type: ["string", "null"] }, "string or null"],
  [{ type: "array", items: { type: "integer" } }, "list of int"],
  [{ type: "array", items: { type: ["integer", "null"] } }, "list"],
  [{ type: "object" }, "object"],
  [{}, "any"],
])("the type of %j is described as %s", (schema, text) => {
  expect(describeType(typeFromSchema(schema as never))).toBe(text);
});
