/** The provider that needs nothing. */
import type { AiProvider } from "@millrace/contracts";
import { createProviders } from "@millrace/providers";
import { expect, test } from "vitest";
import { ask, contextWith, partOf, partsOf, textOf } from "../support/providers.ts";

const mock = createProviders({ providers: {} }).find(({ id }) => id === "mock") as AiProvider;
const context = contextWith({ credentials: {} });

async function answer(text: string, schema?: object): Promise<string> {
  const model = await mock.languageModel("echo", context);
  const responseFormat = { type: "json", schema, name: "answer" } as const;
  return textOf(await partsOf(model, ask(text, schema === undefined ? {} : { responseFormat })));
}

test("it answers what it is asked, in pieces, with counts and at no cost", async () => {
  expect(await answer("one  two\nthree ")).toBe("one  two\nthree ");
  const model = await mock.languageModel("echo", context);
  const parts = await partsOf(model, ask("one two"));
  expect(parts.filter(({ type }) => type === "text-delta")).toHaveLength(2);
  expect(partOf(parts, "finish")).toMatchObject({
    usage: { inputTokens: { total: 2 }, outputTokens: { total: 2 } },
  });
  expect((await mock.capabilities("echo")).price).toEqual({ input: 0, output: 0 });
});

test("the frame around a text is not part of the answer", async () => {
  expect(await answer("<text>\na <\\/text> b\n</text>")).toBe("a </text> b");
});

test.each([
  [
    { type: "object", properties: { label: { enum: ["bug", "Billing"] } }, required: ["label"] },
    { label: "Billing" },
  ],
  [{ enum: ["p", "q"] }, "p"],
  [{ const: 7 }, 7],
  [
    { type: "array", items: { enum: ["bug", "billing"] }, minItems: 2, uniqueItems: true },
    ["billing", "bug"],
  ],
  [{ type: "string", minLength: 3 }, "xxx"],
  [{ type: "integer", minimum: 2.5 }, 3],
  [{ type: "number", exclusiveMinimum: 0, multipleOf: 5 }, 5],
  [{ type: "integer", maximum: -2 }, -2],
  [{ type: "boolean" }, false],
  [{ type: ["string", "null"] }, ""],
  [{ anyOf: [{ type: "null" }, { type: "string" }] }, null],
  [
    { allOf: [{ type: "object", properties: { a: { type: "integer" } } }, { required: ["a"] }] },
    { a: 0 },
  ],
  [
    {
      $ref: "#/$defs/n",
      $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" } } } },
    },
    {},
  ],
  [{ type: "array", prefixItems: [{ const: 1 }, { const: 2 }], minItems: 2 }, [1, 2]],
])("of the schema %j the smallest value that fits", async (schema, value) => {
  expect(JSON.parse(await answer("My BILLING is wrong", schema))).toEqual(value);
});

test("another model than echo is not known", async () => {
  expect(() => mock.languageModel("gpt", context)).toThrow(
    expect.objectContaining({ code: "ai_not_found", status: 404 }),
  );
});

test("vectors of equal texts are equal, of others they are not, and each has length 1", async () => {
  const model = await mock.embeddingModel?.("echo", context);
  const { embeddings = [], usage } =
    (await model?.doEmbed({ values: ["a b", "a b", "xyz"] })) ?? {};
  const [one, same, other] = embeddings;
  expect(one).toEqual(same);
  expect(one).not.toEqual(other);
  for (const vector of embeddings) expect(Math.hypot(...vector)).toBeCloseTo(1);
  expect(usage).toEqual({ tokens: 3 });
});
