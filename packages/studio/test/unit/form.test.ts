import type { FlowInput, Json, JsonObject } from "@millrace/contracts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkForm, checkInputs } from "../../src/page/parts/schema-form/check-form.ts";
import {
  jsonText,
  memberOf,
  moved,
  numberText,
  readJson,
  readNumber,
  unread,
  unreadPlaces,
  withMember,
} from "../../src/page/parts/schema-form/form-value.ts";
import { canShow, isSecret, shapeOf, startValue } from "../../src/page/parts/schema-form/shape.ts";
import { patched, patchOf } from "../../src/page/screens/settings/merge-patch.ts";

// There is no -0 in it: its text is that of 0.
const json = fc
  .json({ maxDepth: 4 })
  .map((text) => JSON.parse(JSON.stringify(JSON.parse(text))) as Json);
const object = fc.dictionary(fc.string(), json) as fc.Arbitrary<JsonObject>;

test("the JSON text of a value is read as the value", () => {
  void fc.assert(
    fc.property(json, (value) => {
      expect(readJson(jsonText(value))).toEqual(value);
    }),
  );
  expect(readJson(" \n ")).toBeUndefined();
});

test("the text of a number is read as the number, and nothing else is", () => {
  void fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(readNumber(numberText(value))).toBe(value === 0 ? 0 : value);
    }),
  );
  expect(readNumber("")).toBeUndefined();
  for (const text of ["1e", "0x10", "01", "1,5", "NaN", "1e999", "9007199254740993"]) {
    expect(readNumber(text)).toBe(text);
  }
});

test("a member that is set is there, and no other one has changed", () => {
  const name = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor"));
  void fc.assert(
    fc.property(object, name, json, (before, member, value) => {
      const after = withMember(before, member, value);
      expect(memberOf(after, member)).toEqual(value);
      const without = withMember(after, member, undefined);
      expect(Object.hasOwn(without, member)).toBe(false);
      expect(without).toEqual(withMember(before, member, undefined));
      expect(Object.getPrototypeOf(after)).toBe(Object.prototype);
    }),
  );
});

test("an item that was moved there and back leaves the list as it was", () => {
  void fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 1 }), fc.nat(), fc.nat(), (list, a, b) => {
      const [from, to] = [a % list.length, b % list.length];
      expect(moved(moved(list, from, to), to, from)).toEqual(list);
    }),
  );
});

test("a patch of two documents makes the one from the other", () => {
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.integer()));
  const { document } = fc.letrec<{ document: JsonObject; member: Json }>((tie) => ({
    member: fc.oneof({ depthSize: "small" }, leaf, tie("document")),
    document: fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), tie("member")),
  }));
  void fc.assert(
    fc.property(document, document, (before, after) => {
      const patch = patchOf(before, after);
      expect(patch === undefined ? before : patched(before, patch)).toEqual(after);
    }),
  );
});

test("a text that is not JSON keeps a value from being sent, at its place", () => {
  const value = { a: [1, unread("{")] };
  expect(unreadPlaces(value)).toEqual(["/a/1"]);
  expect(checkForm({ type: "object" }, value)).toEqual([
    { pointer: "/a/1", message: "is not JSON" },
  ]);
  const rules = { properties: { a: { items: { type: "integer" } } } } as const;
  expect(checkForm(rules, value)).toHaveLength(1);
});

test("a member that is missing is told at its own place", () => {
  const schema = { type: "object", required: ["a/b", 'q"q'] };
  expect(checkForm(schema, {})).toEqual([
    { pointer: "/a~1b", message: "is required" },
    { pointer: '/q"q', message: "is required" },
  ]);
});

test("rules that only a server knows do not keep the others from being checked", () => {
  const schema = {
    type: "object",
    properties: {
      names: { type: "object", propertyNames: { maxLength: 3 } },
      count: { type: "integer" },
    },
  };
  expect(checkForm(schema, { names: { long: 1 }, count: "x" })).toEqual([
    { pointer: "/count", message: "must be integer, found string" },
  ]);
});

test("inputs are needed unless they have a default, and fit their schemas", () => {
  const declared: readonly FlowInput[] = [
    { name: "a", schema: { type: "integer" } },
    { name: "b", schema: { type: "string" }, default: "x" },
  ];
  expect(checkInputs(declared, { a: 1 })).toEqual([]);
  expect(checkInputs(declared, { a: "1", c: 2 })).toEqual([
    { pointer: "/a", message: "must be integer, found string" },
    { pointer: "/c", message: "is not an input of this flow" },
  ]);
  expect(checkInputs(declared, {})).toEqual([{ pointer: "/a", message: "is required" }]);
});

test("references and both ways to allow null lead to the control of the type", () => {
  const root = { $defs: { day: { type: "string", format: "date" } } };
  const shape = { control: "date", isNullable: true };
  expect(shapeOf({ anyOf: [{ $ref: "#/$defs/day" }, { type: "null" }] }, root)).toMatchObject(
    shape,
  );
  expect(shapeOf({ type: ["null", "string"], format: "date" }, {})).toMatchObject(shape);
  for (const schema of [{}, { $ref: "#/$defs/gone" }, { type: "object" }, { oneOf: [] }, true]) {
    expect(shapeOf(schema, root).control).toBe("json");
  }
});

test("secrets are hidden, whatever their type, and known as such through references", () => {
  const root = { $defs: { key: { type: "string", writeOnly: true } } };
  expect(shapeOf({ $ref: "#/$defs/key" }, root).control).toBe("secret");
  expect(shapeOf({ type: ["string", "null"], format: "password" }, {}).control).toBe("secret");
  for (const type of ["number", "boolean", "array", "object"]) {
    const shape = shapeOf({ type, writeOnly: true, properties: {} }, {});
    expect([shape.control, isSecret(shape.schema)]).toEqual(["json", true]);
  }
});

test("a schema that refers to itself is followed as far as its value goes", () => {
  const root = {
    type: "object",
    properties: { next: { $ref: "#" } },
    required: ["next"],
  };
  expect(shapeOf(root, root).control).toBe("object");
  expect(JSON.stringify(startValue(root, root)).length).toBeLessThan(200);
  expect(shapeOf({ $ref: "#" }, { $ref: "#" }).control).toBe("json");
});

test("a value that a control cannot show as it is, is shown as JSON", () => {
  const text = shapeOf({ type: "string" }, {});
  expect([canShow(text, "a\nb"), canShow(text, "a\rb"), canShow(text, 1)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(canShow(shapeOf({ type: "object", properties: {} }, {}), unread("{"))).toBe(false);
  const choice = shapeOf({ enum: ["a", { b: 1 }] }, {});
  expect([canShow(choice, { b: 1 }), canShow(choice, "c")]).toEqual([true, false]);
});
