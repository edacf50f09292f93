/** Shapes: what is found, where, and in which order. */
import {
  also,
  faultsOf,
  flag,
  type Infer,
  integer,
  jsonSchemaOf,
  list,
  must,
  nullable,
  object,
  oneOf,
  open,
  optional,
  optionals,
  optionsProblem,
  problemsOf,
  record,
  text,
  variant,
} from "@millrace/contracts/shape";
import { expect, expectTypeOf, test } from "vitest";

const item = object({ id: text("an id", { max: 4 }), ...optionals({ size: integer(1, 9), flag }) });

test("the type of a shape is inferred, read only, with optional members", () => {
  const shape = object({
    name: text("a name"),
    kind: oneOf("a", "b"),
    more: optional(list(nullable(integer(0)))),
    by: optional(variant("is", { x: object({ is: oneOf("x") }) }, object({ is: oneOf("y") }))),
  });
  expectTypeOf<Infer<typeof shape>>().toEqualTypeOf<{
    readonly name: string;
    readonly kind: "a" | "b";
    readonly more?: readonly (number | null)[];
    readonly by?: { readonly is: "x" } | { readonly is: "y" };
  }>();
});

test("missing members come first, then the members in the order of the value", () => {
  const all = object({ a: flag, items: list(item, { min: 1, unique: "id" }), map: record(flag) });
  const value = { map: { "x/y": 1 }, items: [{ id: "long name" }, { id: "i" }, { id: "i" }], z: 1 };
  expect(problemsOf(value, all)).toEqual([
    { pointer: "/a", message: "is missing" },
    { pointer: "/map/x~1y", message: "must be one of true, false" },
    { pointer: "/items/0/id", message: "must be an id, 1 to 4 characters" },
    { pointer: "/items/2/id", message: '"i" is there twice' },
    { pointer: "/z", message: "is unknown; members are a, items, map" },
  ]);
});

test("a member that is undefined is absent, and no name is inherited", () => {
  expect(problemsOf({ id: "i", size: undefined }, item)).toEqual([]);
  expect(problemsOf({ id: "i", constructor: 1 }, item)).toHaveLength(1);
  expect(problemsOf(JSON.parse('{"id":"i","__proto__":1}'), item)).toHaveLength(1);
});

test("a reader passes over what a newer writer may add", () => {
  const shape = object({ why: open("dead", "when") });
  expect(faultsOf({ why: "tired", more: 1 }, shape, false)).toEqual([]);
  expect(faultsOf({ why: "tired", more: 1 }, shape).map(({ kind }) => kind)).toEqual([
    "type",
    "unknown",
  ]);
});

test("a rule beyond a shape is looked at either way", () => {
  const shape = also(object({ a: flag }), () => [{ pointer: "/b", message: "is odd" }]);
  expect(problemsOf({ a: 1 }, shape).map(({ pointer }) => pointer)).toEqual(["/a", "/b"]);
});

test("options are told by name, unknown ones first with the one that was meant", () => {
  const shape = object(
    optionals({ maxBytes: integer(1), egress: object(optionals({ allow: list(text("a host")) })) }),
  );
  expect(optionsProblem({ maxBytes: 0, egress: { alow: [] } }, shape)).toEqual({
    message: 'unknown option "egress.alow"; did you mean "egress.allow"?',
  });
  expect(optionsProblem({ egress: { allow: 1 } }, shape)).toEqual({
    name: "egress.allow",
    message: "must be a list",
  });
  expect(optionsProblem(null, shape)).toEqual({ message: "options must be an object" });
  expect(optionsProblem({}, shape)).toBeUndefined();
});

test("a shape says itself in JSON Schema, but for what only a rule can tell", () => {
  const shape = object({
    n: integer(1, 2),
    x: must(() => true, "fine"),
    l: list(flag, { max: 3 }),
  });
  expect(jsonSchemaOf(shape)).toEqual({
    type: "object",
    required: ["n", "x", "l"],
    properties: {
      n: { type: "integer", minimum: 1, maximum: 2 },
      x: {},
      l: { type: "array", items: { enum: [true, false] }, maxItems: 3 },
    },
    additionalProperties: false,
  });
});
