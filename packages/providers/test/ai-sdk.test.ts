/** The guide's recipe for makers with a package of the AI SDK: its model as it is, behind the network of the node. */
import { createOpenAICompatible, type OpenAICompatibleProvider } from "@ai-sdk/openai-compatible";
import { type AiModel, type AiProvider, NodeError } from "@millrace/contracts";
import { toWebFetch } from "@millrace/contracts/web-fetch";
import { describe, expectTypeOf, test } from "vitest";
import { providerConformance } from "../../testkit/src/providers/conformance.ts";

type LanguageModelV3 = ReturnType<OpenAICompatibleProvider["languageModel"]>;

test("a LanguageModelV3 is an AiModel, and what lacks a stream is none", () => {
  expectTypeOf<LanguageModelV3>().toExtend<AiModel>();
  expectTypeOf<(id: string) => LanguageModelV3>().toExtend<AiProvider["languageModel"]>();
  expectTypeOf<Omit<LanguageModelV3, "doStream">>().not.toExtend<AiModel>();
  type V2 = Omit<LanguageModelV3, "specificationVersion"> & { specificationVersion: "v2" };
  expectTypeOf<V2>().not.toExtend<AiModel>();
});

const recipe: AiProvider = {
  id: "vendor",
  capabilities: async () => ({ tools: true, jsonSchema: false }),
  languageModel(modelId, { credentials: { apiKey }, fetch }) {
    if (apiKey === undefined) throw new NodeError("credentials_missing", "vendor has no key");
    const vendor = createOpenAICompatible({
      name: "vendor",
      baseURL: "https://api.vendor.example/v1",
      apiKey,
      includeUsage: true,
      fetch: toWebFetch(fetch),
    });
    return vendor.languageModel(modelId);
  },
};

describe("the recipe", () => {
  const setup = { provider: recipe, modelId: "m", wire: "chat" } as const;
  for (const each of providerConformance(setup)) test(each.name, () => each.run());
});
