import { type FlowInput, hideSecretInputs, type Json } from "@millrace/contracts";
import { expect, test } from "vitest";

const secret = { type: "string", writeOnly: true };

function hidden(schema: FlowInput["schema"], value: Json): [Json | undefined, string[]] {
  const found: string[] = [];
  const declared = [{ name: "x", ...(schema !== undefined && { schema }) }];
  return [hideSecretInputs(declared, { x: value }, (text) => found.push(text))["x"], found];
}

test.each<[string, FlowInput["schema"], Json, Json, string[]]>([
  ["a text that is writeOnly", secret, "pin", "[redacted]", ["pin"]],
  ["a password", { type: "string", format: "password" }, "pin", "[redacted]", ["pin"]],
  ["a number", { type: "integer", writeOnly: true }, 471_147, "[redacted]", ["471147"]],
  ["a whole object", { writeOnly: true }, { a: "one", b: ["two"] }, "[redacted]", ["one", "two"]],
  [
    "a member of an object in a list",
    { type: "array", items: { properties: { pin: secret, name: { type: "string" } } } },
    [{ pin: "p", name: "n" }, { name: "m" }],
    [{ pin: "[redacted]", name: "n" }, { name: "m" }],
    ["p"],
  ],
  [
    "an item by its place",
    { prefixItems: [{}, secret], items: {} },
    [1, "p"],
    [1, "[redacted]"],
    ["p"],
  ],
  ["any other member", { additionalProperties: secret }, { a: "p" }, { a: "[redacted]" }, ["p"]],
  ["one of several schemas", { anyOf: [{ type: "null" }, secret] }, "p", "[redacted]", ["p"]],
  ["a definition", { $ref: "#/$defs/pin", $defs: { pin: secret } }, "p", "[redacted]", ["p"]],
  ["null", secret, null, null, []],
])("%s", (_name, schema, value, shown, found) => {
  expect(hidden(schema, value)).toEqual([shown, found]);
});

test("inputs without secrets are the same object, also under a schema that refers to itself", () => {
  const tree = {
    $ref: "#/$defs/t",
    $defs: { t: { anyOf: [{ $ref: "#/$defs/t" }, { items: { $ref: "#/$defs/t" } }] } },
  };
  const inputs = { x: [[["deep"]]], other: 1 };
  expect(hideSecretInputs([{ name: "x", schema: tree }, { name: "other" }], inputs)).toBe(inputs);
});

test("a secret is hidden in the other inputs, too, however it is written there", () => {
  const declared = [{ name: "key", schema: secret }, { name: "other" }, { name: "plain" }];
  const key = "a/long secret";
  const other = [`x?k=${encodeURIComponent(key)}`, { [key]: btoa(key), n: 5 }, null, true];
  expect(hideSecretInputs(declared, { key, other, plain: "text" })).toEqual({
    key: "[redacted]",
    other: [
      "x?k=[redacted]",
      { "[redacted]": expect.stringMatching(/^\[redacted\]/), n: 5 },
      null,
      true,
    ],
    plain: "text",
  });
  const pin = { type: "integer", writeOnly: true };
  const numbers = { pin: 471_147, again: 471_147, longer: 4_711_470 };
  const shown = hideSecretInputs([{ name: "pin", schema: pin }], numbers);
  expect(shown).toEqual({ pin: "[redacted]", again: "[redacted]", longer: 4_711_470 });
});
