/** The suite of schemas: a catalog and its code allow the same values. */
import {
  defineAction,
  defineActionAdapter,
  defineExtension,
  type ExtensionDefinition,
  type JsonObject,
  jsonSchema,
  type Schema,
} from "@millrace/contracts";
import { createRandom } from "@millrace/engine/testing";
import { z } from "@millrace/test-support/definitions";
import { conformance } from "@millrace/testkit";
import { describe, expect, test } from "vitest";
import { generateValues } from "../src/schemas/generate.ts";

describe("schemas", () => {
  const text = { title: "T", summary: "S", effect: "pure" } as const;
  const typed = (fields: Schema<unknown>, output: Schema<unknown> = z.unknown()) => {
    const action = defineAction({ ...text, name: "a", fields, output, run: () => ({}) });
    return defineExtension({
      adapters: [defineActionAdapter({ id: "zoo", title: "T", actions: [action] })],
    });
  };
  const outcome = async (extension: ExtensionDefinition, fields: JsonObject = {}) => {
    const cases = conformance(extension, { fixtures: { "zoo.a": [{ fields }] } });
    const about = cases.filter(({ name }) => name.startsWith("schemas:"));
    const ends = await Promise.allSettled(about.map(({ run }) => run()));
    return ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason.message)] : []));
  };
  const pet = z.lazy(() => z.object({ name: z.string(), friends: z.array(pet) })) as z.ZodType;
  const zoo = z.object({
    kind: z.discriminatedUnion("is", [
      z.strictObject({ is: z.literal("cat"), lives: z.int().min(1).max(9) }),
      z.object({ is: z.literal("dog"), age: z.number().gt(0).lt(1).nullable() }),
    ]),
    tags: z.array(z.string().min(3).max(5)).min(1).max(2).default(["one"]),
    at: z.iso.datetime().optional(),
    who: z.email(),
    by: z.record(z.string(), z.union([z.boolean(), z.tuple([z.string(), z.number()])])),
    even: z.int().multipleOf(2),
    list: z.string().transform((value) => value.split(",")),
    trimmed: z.string().trim().min(1),
    token: z.jwt().optional(),
    odd: z.string().refine((value) => value.length % 2 === 1),
    pet,
  });

  test("of all kinds agree in catalog and code, and their values are many", async () => {
    const fields = {
      ...{ kind: { is: "cat", lives: 9 }, who: "ann@example.com", by: {}, even: 2, list: "a,b" },
      ...{ trimmed: "a", odd: "a", pet: { name: "x", friends: [] } },
    };
    expect(await outcome(typed(zoo, zoo), fields)).toEqual([]);
    const random = createRandom(1);
    const schema = zoo.toJSONSchema({ io: "input" }) as JsonObject;
    expect(generateValues(schema, { random, count: 50 })).toHaveLength(50);
  });

  test.each<[string, ExtensionDefinition, JsonObject, RegExp]>([
    [
      "that is none",
      typed(z.object({}), jsonSchema({ type: "nonsense" })),
      {},
      /output of zoo\.a: \/type/,
    ],
    ["that no catalog can say", typed(z.object({ d: z.date() })), {}, /fields of zoo\.a: .*Date/],
    [
      "whose code refuses what its catalog allows",
      typed(z.object({ to: z.string().pipe(z.email()) })),
      { to: "ann@example.com" },
      /the catalog allows .* the code says to/,
    ],
    [
      "that makes more of its value each time",
      typed(z.object({ a: z.string().transform((value) => `${value}!`) })),
      { a: "a" },
      /read twice it is something else/,
    ],
    ["that a fixture breaks", typed(z.object({ n: z.number() })), { n: "x" }, /zoo\.a: fields \/n/],
  ])("one %s is named", async (_, extension, fields, says) => {
    expect((await outcome(extension, fields)).join("\n")).toMatch(says);
  });
});
