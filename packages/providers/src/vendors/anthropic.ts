/**
 * Anthropic's Messages interface.
 * @see https://ai-sdk.dev/providers/ai-sdk-providers/anthropic
 */
import type { AiContext, AiProvider } from "@millrace/contracts";
import { toWebFetch } from "@millrace/contracts/web-fetch";
import { listFrom, requireKey, withOptions } from "./model.ts";
import { capabilitiesOf } from "./models.ts";
import { trimmed } from "./openai.ts";
import { reasoningOptions } from "./reasoning.ts";

const BASE_URL = "https://api.anthropic.com/v1";
const VERSION = "2023-06-01"; // of the interface; the package sends the same

/** Settings of the provider `anthropic`. */
export interface AnthropicSettings {
  /** Default Anthropic's own. */
  readonly baseUrl?: string;
}

/** The provider under the name `id`. An access token goes as bearer token, a key as `x-api-key`. */
export function anthropicProvider(
  id: string,
  { baseUrl = BASE_URL }: AnthropicSettings,
): AiProvider {
  return {
    id,
    capabilities: async (modelId) => capabilitiesOf("anthropic", modelId),
    async languageModel(modelId, ctx) {
      const key = requireKey(ctx, id);
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      const provider = createAnthropic({
        ...(isToken(ctx) ? { authToken: key } : { apiKey: key }),
        baseURL: baseUrl,
        fetch: toWebFetch(ctx.fetch),
      });
      return withOptions(provider.messages(modelId), ({ reasoning }) =>
        reasoningOptions("anthropic", modelId, reasoning),
      );
    },
    listModels(ctx) {
      const key = requireKey(ctx, id);
      const headers: { readonly [name: string]: string } = isToken(ctx)
        ? { authorization: `Bearer ${key}` }
        : { "x-api-key": key };
      const url = `${trimmed(baseUrl)}/models?limit=1000`;
      return listFrom(url, { ...headers, "anthropic-version": VERSION }, ctx);
    },
  };
}

function isToken({ credentials }: AiContext): boolean {
  return credentials.apiKey === undefined;
}
