/**
 * OpenAI through its Responses or its Chat Completions interface. Nothing of a call is stored there (`store: false`),
 * whatever the flow says.
 * @see https://ai-sdk.dev/providers/ai-sdk-providers/openai
 */
import type { AiCall, AiContext, AiProvider, AiProviderOptions } from "@millrace/contracts";
import { toWebFetch } from "@millrace/contracts/web-fetch";
import { asEmbedding, listFrom, requireKey, withOptions } from "./model.ts";
import { capabilitiesOf, type Vendor } from "./models.ts";
import { reasoningOptions } from "./reasoning.ts";
import { isStrictSchema } from "./strict-schema.ts";

const BASE_URL = "https://api.openai.com/v1";

/** Settings of the provider `openai`. */
export interface OpenAiSettings {
  /** Default `responses`. */
  readonly api?: "responses" | "chat";
  /** Default OpenAI's own. */
  readonly baseUrl?: string;
}

/** The provider under the name `id`. */
export function openaiProvider(id: string, settings: OpenAiSettings): AiProvider {
  const { api = "responses", baseUrl = BASE_URL } = settings;
  const vendor: Vendor = api === "chat" ? "openai-chat" : "openai-responses";
  const open = async (ctx: AiContext) => {
    const apiKey = requireKey(ctx, id);
    const { createOpenAI } = await import("@ai-sdk/openai");
    // A package that is given no address or key would look for them in the environment.
    return createOpenAI({ apiKey, baseURL: baseUrl, fetch: toWebFetch(ctx.fetch) });
  };
  return {
    id,
    capabilities: async (modelId) => capabilitiesOf(vendor, modelId),
    async languageModel(modelId, ctx) {
      const provider = await open(ctx);
      const model = api === "chat" ? provider.chat(modelId) : provider.responses(modelId);
      return withOptions(model, (call) => ({
        openai: {
          ...reasoningOptions(vendor, modelId, call.reasoning)["openai"],
          ...(api === "responses" && { store: false }),
          ...strictness(call),
        },
      }));
    },
    embeddingModel: async (modelId, ctx) => asEmbedding((await open(ctx)).embeddingModel(modelId)),
    listModels: (ctx) =>
      listFrom(
        `${trimmed(baseUrl)}/models`,
        { authorization: `Bearer ${requireKey(ctx, id)}` },
        ctx,
      ),
  };
}

/** The strict mode of a schema that obeys its rules; any other schema would be answered with 400. */
export function strictness({ responseFormat }: AiCall): AiProviderOptions[string] {
  return responseFormat?.type === "json" && responseFormat.schema !== undefined
    ? { strictJsonSchema: isStrictSchema(responseFormat.schema) }
    : {};
}

/** A base URL without the slash at its end. */
export function trimmed(url: string): string {
  return url.replace(/\/+$/, "");
}
