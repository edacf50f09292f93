/** `createRegistry` takes the schemas of packs as they are; they are checked here, once, instead of at every start. */
import { defineNodeType } from "@millrace/contracts";
import { compileSchema } from "@millrace/dsl";
import { createRegistry } from "@millrace/engine";
import { STANDARD_TYPES } from "@millrace/test-support/flows";
import { expect, test } from "vitest";

test("every schema of a core type can be checked", () => {
  const entries = createRegistry([STANDARD_TYPES]).entries();
  expect(entries.length).toBeGreaterThan(15);
  for (const { type, fields, output } of entries) {
    for (const schema of [fields, output]) {
      expect(compileSchema(schema), type).toMatchObject({ ok: true });
    }
  }
});

test("every one-word type of core is one that `defineNodeType` knows as core's", () => {
  const fields = { type: "object" };
  const rest = { title: "T", summary: "S", fields, output: {}, run: async () => null };
  for (const { type } of createRegistry([STANDARD_TYPES]).entries()) {
    expect(defineNodeType({ ...rest, type, effect: "pure" }).type).toBe(type);
  }
});
