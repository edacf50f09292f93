/**
 * Google's Generative Language interface (Gemini).
 * @see https://ai-sdk.dev/providers/ai-sdk-providers/google-generative-ai
 */
import type { AiContext, AiProvider } from "@millrace/contracts";
import { toWebFetch } from "@millrace/contracts/web-fetch";
import { asEmbedding, listFrom, requireKey, withOptions } from "./model.ts";
import { capabilitiesOf } from "./models.ts";
import { trimmed } from "./openai.ts";
import { reasoningOptions } from "./reasoning.ts";

const BASE_URL = "https://generativelanguage.googleapis.com/v1beta";

/** Settings of the provider `google`. */
export interface GoogleSettings {
  /** Default Google's own. */
  readonly baseUrl?: string;
}

/** The provider under the name `id`. An access token goes as bearer token, a key as `x-goog-api-key`. */
export function googleProvider(id: string, { baseUrl = BASE_URL }: GoogleSettings): AiProvider {
  const open = async (ctx: AiContext) => {
    const { headers } = authorized(ctx, id);
    const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
    return createGoogleGenerativeAI({
      // The package has no way to say "no key"; it is replaced where the request leaves.
      apiKey: requireKey(ctx, id),
      baseURL: baseUrl,
      fetch: toWebFetch(ctx.fetch, {
        headers(all) {
          all.delete("x-goog-api-key");
          for (const [name, value] of Object.entries(headers)) all.set(name, value);
        },
      }),
    });
  };
  return {
    id,
    capabilities: async (modelId) => capabilitiesOf("google", modelId),
    languageModel: async (modelId, ctx) =>
      withOptions((await open(ctx)).chat(modelId), ({ reasoning }) =>
        reasoningOptions("google", modelId, reasoning),
      ),
    embeddingModel: async (modelId, ctx) => asEmbedding((await open(ctx)).embeddingModel(modelId)),
    async listModels(ctx) {
      const { headers } = authorized(ctx, id);
      return listFrom(`${trimmed(baseUrl)}/models?pageSize=1000`, headers, ctx);
    },
  };
}

function authorized(
  ctx: AiContext,
  id: string,
): { readonly headers: { readonly [name: string]: string } } {
  const key = requireKey(ctx, id);
  return ctx.credentials.apiKey === undefined
    ? { headers: { authorization: `Bearer ${key}` } }
    : { headers: { "x-goog-api-key": key } };
}
