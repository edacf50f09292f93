/**
 * Any server that speaks OpenAI's Chat Completions: a gateway, a local server, another maker. It may need no key.
 * @see https://ai-sdk.dev/providers/openai-compatible-providers
 */
import type { AiContext, AiProvider } from "@millrace/contracts";
import { toWebFetch } from "@millrace/contracts/web-fetch";
import { asEmbedding, listFrom, withOptions } from "./model.ts";
import { capabilitiesOf } from "./models.ts";
import { strictness, trimmed } from "./openai.ts";
import { reasoningOptions } from "./reasoning.ts";

/** Settings of a provider of kind `openai-compatible`. */
export interface CompatibleSettings {
  readonly baseUrl: string;
  /** Whether a JSON Schema may be sent along; default false. */
  readonly supportsStructuredOutputs?: boolean;
  /** Sent with every request; no place for keys. */
  readonly headers?: { readonly [name: string]: string };
}

/** The provider under the name `id`. */
export function compatibleProvider(id: string, settings: CompatibleSettings): AiProvider {
  const { baseUrl, supportsStructuredOutputs = false, headers = {} } = settings;
  const open = async (ctx: AiContext) => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const apiKey = keyOf(ctx);
    return createOpenAICompatible({
      name: id,
      baseURL: baseUrl,
      headers,
      includeUsage: true,
      supportsStructuredOutputs,
      fetch: toWebFetch(ctx.fetch),
      ...(apiKey !== undefined && { apiKey }),
    });
  };
  return {
    id,
    capabilities: async (modelId) => ({
      ...capabilitiesOf("compatible", modelId),
      jsonSchema: supportsStructuredOutputs,
    }),
    languageModel: async (modelId, ctx) =>
      withOptions((await open(ctx)).chatModel(modelId), (call) => ({
        openaiCompatible: {
          ...reasoningOptions("compatible", modelId, call.reasoning)["openaiCompatible"],
          ...strictness(call),
        },
      })),
    embeddingModel: async (modelId, ctx) => asEmbedding((await open(ctx)).embeddingModel(modelId)),
    listModels(ctx) {
      const key = keyOf(ctx);
      const auth = key === undefined ? {} : { authorization: `Bearer ${key}` };
      return listFrom(`${trimmed(baseUrl)}/models`, { ...headers, ...auth }, ctx);
    },
  };
}

function keyOf({ credentials }: AiContext): string | undefined {
  return credentials.apiKey ?? credentials.accessToken;
}
