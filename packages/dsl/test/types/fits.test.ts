import { type FlowType, fits, typeFromSchema } from "@millrace/dsl";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

/** A type, written as its schema. */
const T = (schema: object): FlowType => typeFromSchema(schema as never);
const any = T({});
const nul = T({ type: "null" });
const bool = T({ type: "boolean" });
const int = T({ type: "integer" });
const number = T({ type: "number" });
const string = T({ type: "string" });
const words = (...values: string[]) => T({ enum: values });
const list = (items: object) => T({ type: "array", items });
const object = (properties: object, required: string[] = [], closed = true) =>
  T({ type: "object", properties, required, additionalProperties: !closed });

describe("fits", () => {
  test.each([
    ["any into anything", any, string, "maybe"],
    ["anything into any", string, any, "yes"],
    ["any into any", any, any, "yes"],
    ["a type into itself", bool, bool, "yes"],
    ["int into number", int, number, "yes"],
    ["number into int", number, int, "maybe"],
    ["string into int", string, int, "no"],
    ["null into string", nul, string, "no"],
    ["a union that may be", T({ type: ["string", "null"] }), string, "maybe"],
    [
      "a union into a wider one",
      T({ type: ["string", "null"] }),
      T({ type: ["null", "string", "boolean"] }),
      "yes",
    ],
    [
      "a union with nothing in common",
      T({ type: ["string", "null"] }),
      T({ type: ["integer", "boolean"] }),
      "no",
    ],
    ["a word into a set that has it", words("a"), words("a", "b"), "yes"],
    ["words into a set that has some", words("a", "c"), words("a", "b"), "maybe"],
    ["words into a set that has none", words("x"), words("a", "b"), "no"],
    ["any text into a set", string, words("a"), "maybe"],
    ["a word into text", words("a"), string, "yes"],
    ["true into bool", T({ const: true }), bool, "yes"],
    ["true into false", T({ const: true }), T({ const: false }), "no"],
    ["lists by their items", list({ type: "integer" }), list({ type: "number" }), "yes"],
    [
      "lists of other items may be empty",
      list({ type: "integer" }),
      list({ type: "string" }),
      "maybe",
    ],
    ["a list into an object", list({}), object({}), "no"],
    [
      "an object with what is needed",
      object({ a: { type: "integer" }, b: {} }, ["a", "b"]),
      object({ a: { type: "number" } }, ["a"], false),
      "yes",
    ],
    [
      "a closed object that lacks what is needed",
      object({}),
      object({ a: { type: "string" } }, ["a"]),
      "no",
    ],
    [
      "an open object that may have it",
      object({}, [], false),
      object({ a: { type: "string" } }, ["a"], false),
      "maybe",
    ],
    ["an absent member that is not needed", object({}), object({ a: { type: "string" } }), "yes"],
    [
      "a member of another type",
      object({ a: { type: "string" } }, ["a"]),
      object({ a: { type: "integer" } }, ["a"]),
      "no",
    ],
    [
      "a member too many for a closed object",
      object({ b: { type: "string" } }, ["b"]),
      object({}),
      "no",
    ],
    ["a member that may be too many", object({ b: { type: "string" } }), object({}), "maybe"],
    ["an open object into a closed one", object({}, [], false), object({}), "maybe"],
  ] as const)("%s", (_name, from, to, expected) => {
    expect(fits(from, to)).toBe(expected);
  });

  test("every type fits itself, and `any` admits all", () => {
    const schemas = fc.constantFrom(
      any,
      nul,
      bool,
      int,
      number,
      string,
      words("a", "b"),
      list({}),
      list({ type: "string" }),
      object({ a: {} }),
    );
    fc.assert(
      fc.property(schemas, schemas, (a, b) => {
        expect(fits(a, a)).toBe("yes");
        expect(fits(a, any)).toBe("yes");
        expect(fits(a, b) === "no").toBe(fits(b, a) === "no");
      }),
    );
  });

  test("schemas that share their parts exponentially often are compared within bounds", () => {
    const $defs: Record<string, object> = { d0: { type: "string" } };
    for (let i = 1; i <= 30; i += 1) {
      const part = { $ref: `#/$defs/d${i - 1}` };
      $defs[`d${i}`] = { type: "object", properties: { a: part, b: part }, required: ["a", "b"] };
    }
    const one = T({ $ref: "#/$defs/d30", $defs });
    const other = T({ $ref: "#/$defs/d30", $defs });
    expect(fits(one, other)).toBe("maybe");
  });
});
